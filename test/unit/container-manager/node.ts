import { applicationFactory, type Application } from '../../../src/applications/application.ts'
import { silentLog, type Log } from '../../../src/base/log.ts'
import { Tasks } from '../../../src/base/tasks.ts'
import { ContainerManager } from '../../../src/container-manager/container-manager.ts'
import { NodeContainers } from '../../../src/container-manager/node-containers.ts'
import { containerFactory, type Container } from '../../../src/containers/container.ts'
import type { ContainerEffects } from '../../../src/containers/effects.ts'
import { LocalLogHandler } from '../../../src/logs/local-log-handler.ts'
import { attemptId, type ContainerId, type NodeId } from '../../../src/protocol/ids.ts'
import { applicationId, containerId, containerIdToProto } from '../../../src/protocol/ids.ts'
import type { hadoop } from '../../../src/protocol/messages.ts'
import type { Caller } from '../../../src/protocol/rpc-caller.ts'
import type { StoredContainerStart } from '../../../src/recovery/store.ts'
import type { ContainerTokenIdentifier } from '../../../src/security/container-token.ts'
import { masterKeyToProto, type MasterKey } from '../../../src/security/master-key.ts'
import { NodeContainerTokens } from '../../../src/security/node-container-tokens.ts'
import { NodeNMTokens } from '../../../src/security/node-nm-tokens.ts'
import { RmContainerTokens, RmNMTokens } from '../../../src/security/rm-tokens.ts'
import { tokenToProto } from '../../../src/security/token.ts'
import { FakeClock } from '../../helpers/fake-clock.ts'

export const NODE_ID = 'localhost:40454' as NodeId
export const RM_IDENTIFIER = 1796121941544
export const application = applicationId(RM_IDENTIFIER, 901)
export const attempt = attemptId(application, 1)

export function container(sequence: number, app = 901, attempt = 1): ContainerId {
  return containerId({ clusterTimestamp: RM_IDENTIFIER, application: app, attempt, epoch: 0, sequence })
}

/** Records what is written; `fail` makes the writes of one kind fail, `hold` keeps all of them waiting. */
export class RecordingStore {
  readonly calls: string[] = []
  readonly starts: StoredContainerStart[] = []
  readonly applications: hadoop.yarn.ContainerManagerApplicationProto.$Properties[] = []
  fail: string | undefined
  hold: Promise<void> = Promise.resolve()

  storeApplication(id: string, record: hadoop.yarn.ContainerManagerApplicationProto.$Properties): Promise<void> {
    this.applications.push(record)
    return this.#write('application', id)
  }
  storeContainer(start: StoredContainerStart): Promise<void> {
    this.starts.push(start)
    return this.#write('container', start.containerId)
  }
  storeContainerKilled(id: string): Promise<void> {
    return this.#write('killed', id)
  }
  removeApplication(id: string): Promise<void> {
    return this.#write('removed application', id)
  }
  async #write(kind: string, id: string): Promise<void> {
    await this.hold
    if (this.fail === kind) throw new Error('No space left on device')
    this.calls.push(`${kind} ${id}`)
  }
}

/** A node that has registered, with real containers and applications over effects that do nothing. */
export class TestNode {
  readonly clock = new FakeClock(1796122500000)
  readonly store = new RecordingStore()
  readonly rm = { container: new RmContainerTokens(), nm: new RmNMTokens() }
  readonly tokens = { container: new NodeContainerTokens(this.clock, silentLog), nm: new NodeNMTokens(silentLog) }
  readonly lines: string[] = []
  readonly log: Log = {
    ...silentLog,
    info: (line: unknown) => void this.lines.push(String(line)),
    warn: (line: unknown) => void this.lines.push(`WARN ${String(line)}`),
  }
  readonly services = new Map([['mapreduce_shuffle', Buffer.from([0, 0, 0x9e, 0x72])]])
  readonly recentlyStopped = new Set<ContainerId>()
  readonly signals: string[] = []
  /** Applications that are FINISHED, and once more when they have gone. */
  readonly finished: string[] = []
  /** Log dirs that have been given to the deletion service. */
  readonly deleted: string[] = []
  readonly node: NodeContainers
  readonly manager: ContainerManager

  constructor({ keepsContainersOnStop = false } = {}) {
    const tasks = new Tasks(silentLog)
    const done = () => Promise.resolve()
    this.node = new NodeContainers({
      signal: ({ id }, command) => void this.signals.push(`${id} ${command}`),
      onApplicationFinished: (id) => {
        this.finished.push(id)
        this.tokens.nm.applicationFinished(id)
      },
      log: this.log,
    })
    const createApplication = applicationFactory({
      localization: { initApplication: done, destroyApplication: done },
      logHandling: new LocalLogHandler({
        retainSec: 10_800,
        dirs: { readableLogDirs: ['/logs0', '/logs1'] },
        deletion: { schedule: (user, paths) => void this.deleted.push(...paths.map((path) => `${user} ${path}`)) },
        clock: this.clock,
        log: silentLog,
      }),
      store: this.store,
      tasks,
      log: silentLog,
      onApplicationStopped: () => {},
      onApplicationFinished: (application) => this.node.applicationFinished(application),
      onApplicationGone: (application: Application) => this.node.applicationGone(application),
    })
    this.manager = new ContainerManager({
      node: this.node,
      tokens: this.tokens,
      createContainer: containerFactory({
        effects: this.#effects(),
        clock: this.clock,
        log: silentLog,
        diagnosticsMaxSize: 10_000,
      }),
      createApplication,
      auxServices: { has: (name) => this.services.has(name), metaData: () => this.services },
      recentlyStopped: { isRecentlyStopped: (id) => this.recentlyStopped.has(id) },
      store: this.store,
      config: {
        sleepBeforeSigkillMs: 250,
        processKillWaitMs: 5000,
        keepsContainersOnStop,
      },
      clock: this.clock,
      log: this.log,
      auditLog: this.log,
    })
  }

  register(keys: { container: MasterKey; nm: MasterKey } = this.rmKeys()): this {
    this.manager.registered({
      nodeId: NODE_ID,
      rmIdentifier: RM_IDENTIFIER,
      containerToken: masterKeyToProto(keys.container),
      nmToken: masterKeyToProto(keys.nm),
    })
    return this
  }

  rmKeys(): { container: MasterKey; nm: MasterKey } {
    return { container: this.rm.container.keys.current, nm: this.rm.nm.keys.current }
  }

  caller(user = attempt): Caller {
    const { identifier } = this.rm.nm.createNMToken(user, NODE_ID, 'root')
    return { user, authentication: 'TOKEN', remoteAddress: '10.0.0.7', tokenIdentifier: identifier }
  }

  /** One entry of a startContainers request. */
  entry(
    id: ContainerId,
    fields: Partial<ContainerTokenIdentifier> = {},
    context: hadoop.yarn.ContainerLaunchContextProto.$Properties = { command: ['sleep 300'] },
  ): hadoop.yarn.StartContainerRequestProto.$Properties {
    const token = this.rm.container.createContainerToken({
      containerId: id,
      nodeAddress: NODE_ID,
      user: 'root',
      resource: { memoryMb: 128, vcores: 1 },
      expiryTime: this.clock.now() + 600_000,
      rmIdentifier: RM_IDENTIFIER,
      priority: 0,
      creationTime: this.clock.now(),
      logAggregationContext: undefined,
      nodeLabelExpression: '',
      containerType: 'TASK',
      executionType: 'GUARANTEED',
      version: 0,
      allocationRequestId: -1,
      allocationTags: [],
      ...fields,
    })
    return { containerLaunchContext: context, containerToken: tokenToProto(token) }
  }

  start(entries: hadoop.yarn.StartContainerRequestProto.$Properties[], caller = this.caller()) {
    return Promise.resolve(this.manager.handlers().startContainers!({ startContainerRequest: entries }, caller))
  }

  stop(ids: ContainerId[], caller = this.caller()) {
    const containerId = ids.map(containerIdToProto)
    return Promise.resolve(this.manager.handlers().stopContainers!({ containerId }, caller))
  }

  statuses(ids: ContainerId[], caller = this.caller()) {
    const containerId = ids.map(containerIdToProto)
    return Promise.resolve(this.manager.handlers().getContainerStatuses!({ containerId }, caller))
  }

  #effects(): ContainerEffects {
    const later = (action: () => void) => void Promise.resolve().then(action)
    return {
      localize: () => {},
      schedule: (c: Container) => later(() => c.send({ type: 'CONTAINER_LAUNCHED' })),
      cleanUp: (c: Container) =>
        later(() =>
          c.send({ type: 'CONTAINER_KILLED_ON_REQUEST', payload: { exitStatus: 143, diagnostics: 'killed' } }),
        ),
      release: (c: Container) => later(() => c.send({ type: 'CONTAINER_RESOURCES_CLEANEDUP' })),
      diagnosticsChanged: () => {},
      finished: (c: Container) => this.node.findApplication(c.applicationId)?.containerDone(c.id),
    }
  }
}

/** The class and message of the only failure in an answer. */
export function onlyFailure(answer: {
  failedRequests?: hadoop.yarn.ContainerExceptionMapProto.$Properties[] | null
  succeededRequests?: unknown[] | null
}): { className: string; message: string } {
  const exception = answer.failedRequests?.[0]?.exception
  const className = exception?.className ?? ''
  const message = exception?.message ?? ''
  return { className, message }
}
