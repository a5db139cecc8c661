/** A ResourceManager and its nodes as a run meets them, in memory and scripted. */
import type { Connections } from '../../../../src/cli/run/run-command.ts'
import type { ContainerLogs, LogFile, Write } from '../../../../src/cli/run/node-logs.ts'
import { applicationClient } from '../../../../src/protocol/application-client.ts'
import { applicationMaster } from '../../../../src/protocol/application-master.ts'
import { containerManagement } from '../../../../src/protocol/container-management.ts'
import {
  applicationId,
  containerId,
  containerIdFromProto,
  containerIdToProto,
  nodeParts,
  type ContainerId,
  type NodeId,
} from '../../../../src/protocol/ids.ts'
import { hadoop } from '../../../../src/protocol/messages.ts'
import { JavaClass, RemoteError } from '../../../../src/protocol/remote-error.ts'
import { resourceToProto } from '../../../../src/protocol/resource.ts'
import type { Handlers, RpcCaller } from '../../../../src/protocol/rpc-caller.ts'
import type { RpcMethods } from '../../../../src/protocol/rpc-protocol.ts'

const { yarn } = hadoop
const { YarnApplicationStateProto: State, FinalApplicationStatusProto: Final } = yarn

export const APPLICATION = applicationId(1_700_000_000_000, 7)
export const NODE = 'localhost:8041' as NodeId

/** What becomes of the nth container that is started, from 1. */
export type Script = (n: number) => { exitStatus: number; beats?: number; diagnostics?: string } | { refusal: string }

export class FakeCluster implements Connections {
  readonly calls: string[] = []
  readonly asked: number[] = []
  readonly released: ContainerId[] = []
  readonly tokens: string[] = []
  readonly closed: string[] = []
  submitted: hadoop.yarn.ApplicationSubmissionContextProto.$Properties | undefined
  killedWith: string | undefined
  finishedWith: hadoop.yarn.FinishApplicationMasterRequestProto.$Properties | undefined
  readonly launched: hadoop.yarn.ContainerLaunchContextProto.$Properties[] = []
  script: Script = () => ({ exitStatus: 0 })
  maximum = { memoryMb: 8192, vcores: 4 }
  nodes = 1
  /** How many containers an allocate call brings at most, beside those too many. */
  perBeat = 10
  surplus = 0
  state = State.SUBMITTED as hadoop.yarn.YarnApplicationStateProto
  diagnostics = ''
  /** Called before each call is answered; throws what the call shall fail with. */
  before: (method: string, nth: number) => void = () => {}
  /** Sent once with the next allocate answer. */
  nextToken: string | undefined
  /** Ends that the cluster brings about by itself, with the next allocate answer. */
  readonly ends: hadoop.yarn.ContainerStatusProto.$Properties[] = []

  #isRegistered = false
  #responseId = 0
  #wanted = 0
  #sequence = 1
  #started = 0
  #killCalls = 0
  #finishCalls = 0
  readonly #pending: { id: ContainerId; beats: number; exitStatus: number; diagnostics: string }[] = []
  readonly #counts = new Map<string, number>()

  client(): RpcCaller<typeof applicationClient.methods> {
    return this.#caller('client', applicationClient.methods, {
      getNewApplication: () => ({
        applicationId: { id: 7, clusterTimestamp: 1_700_000_000_000 },
        maximumCapability: resourceToProto(this.maximum),
      }),
      submitApplication: ({ applicationSubmissionContext }) => {
        this.submitted = applicationSubmissionContext ?? {}
        return {}
      },
      getApplicationReport: () => ({ applicationReport: this.#report() }),
      forceKillApplication: ({ diagnostics }) => {
        this.killedWith = diagnostics ?? ''
        this.state = State.KILLED
        return { isKillCompleted: ++this.#killCalls > 1 }
      },
    })
  }

  scheduler(token: { identifier: Buffer }): RpcCaller<typeof applicationMaster.methods> {
    this.tokens.push(token.identifier.toString())
    return this.#caller(`scheduler ${token.identifier.toString()}`, applicationMaster.methods, {
      registerApplicationMaster: () => {
        this.register()
        return {}
      },
      allocate: (request) => this.#allocate(request),
      finishApplicationMaster: (request) => {
        this.finishedWith = request
        this.state = State.FINISHED
        return { isUnregistered: ++this.#finishCalls > 1 }
      },
    })
  }

  readonly node: Connections['node'] = (node, token) =>
    this.#caller(`node ${node} ${token.identifier.toString()}`, containerManagement.methods, {
      startContainers: ({ startContainerRequest }) => {
        const [entry] = startContainerRequest ?? []
        const id = containerIdFromProto(yarn.ContainerIdProto.decode(entry!.containerToken!.identifier))
        const plan = this.script(++this.#started)
        this.launched.push(entry!.containerLaunchContext!)
        if ('refusal' in plan) {
          const exception = { message: plan.refusal, className: JavaClass.YARN }
          return { failedRequests: [{ containerId: containerIdToProto(id), exception }] }
        }
        this.#pending.push({
          id,
          beats: plan.beats ?? 1,
          exitStatus: plan.exitStatus,
          diagnostics: plan.diagnostics ?? '',
        })
        return { succeededRequests: [containerIdToProto(id)] }
      },
    })

  register(): void {
    this.#isRegistered = true
    this.#responseId = 0
  }

  /** A restarted ResourceManager: knows the application, but neither registration nor asks. */
  restart(): void {
    this.#isRegistered = false
    this.#wanted = 0
  }

  #report(): hadoop.yarn.ApplicationReportProto.$Properties {
    if (this.state === State.SUBMITTED) {
      this.state = State.ACCEPTED
      return { yarnApplicationState: State.SUBMITTED, diagnostics: this.diagnostics }
    }
    const status = this.state === State.KILLED ? Final.APP_KILLED : (this.finishedWith?.finalApplicationStatus ?? null)
    return {
      yarnApplicationState: this.state,
      diagnostics: this.diagnostics,
      finalApplicationStatus: status,
      ...(this.state === State.ACCEPTED && { amRmToken: tokenOf('amrm-1', 'YARN_AM_RM_TOKEN') }),
    }
  }

  #allocate(request: hadoop.yarn.AllocateRequestProto.$Properties): hadoop.yarn.AllocateResponseProto.$Properties {
    if (!this.#isRegistered) throw new RemoteError(JavaClass.APPLICATION_MASTER_NOT_REGISTERED, 'AM is not registered')
    if (request.responseId !== this.#responseId) {
      const text = `Invalid responseId: expect ${this.#responseId} but get ${request.responseId}`
      throw new RemoteError(JavaClass.INVALID_APPLICATION_MASTER_REQUEST, text)
    }
    this.#responseId++
    for (const { numContainers } of request.ask ?? []) {
      this.asked.push(numContainers ?? 0)
      this.#wanted = numContainers ?? 0
    }
    this.released.push(...(request.release ?? []).map(containerIdFromProto))
    const count = Math.min(this.#wanted, this.perBeat)
    this.#wanted -= count
    const allocatedContainers = Array.from({ length: count + (count > 0 ? this.surplus : 0) }, () => this.#container())
    if (count > 0) this.surplus = 0
    const amRmToken = this.nextToken === undefined ? null : tokenOf(this.nextToken, 'YARN_AM_RM_TOKEN')
    this.nextToken = undefined
    return {
      responseId: this.#responseId,
      allocatedContainers,
      completedContainerStatuses: [...this.ends.splice(0), ...this.#completions()],
      nmTokens: count > 0 ? [{ nodeId: nodeParts(NODE), token: tokenOf('nm-1', 'NMToken') }] : [],
      numClusterNodes: this.nodes,
      amRmToken,
    }
  }

  #container(): hadoop.yarn.ContainerProto.$Properties {
    const parts = { clusterTimestamp: 1_700_000_000_000, application: 7, attempt: 1, epoch: 0 }
    const id = containerIdToProto(containerId({ ...parts, sequence: ++this.#sequence }))
    const identifier = Buffer.from(yarn.ContainerIdProto.encode(id).finish())
    const containerToken = { identifier, password: Buffer.alloc(0), kind: 'ContainerToken', service: '' }
    return { id, nodeId: nodeParts(NODE), nodeHttpAddress: 'localhost:8042', containerToken }
  }

  #completions(): hadoop.yarn.ContainerStatusProto.$Properties[] {
    for (const pending of this.#pending) pending.beats--
    const over = this.#pending.filter(({ beats }) => beats < 0)
    this.#pending.splice(0, Infinity, ...this.#pending.filter(({ beats }) => beats >= 0))
    return over.map(({ id, exitStatus, diagnostics }) => ({
      containerId: containerIdToProto(id),
      state: yarn.ContainerStateProto.C_COMPLETE,
      exitStatus,
      diagnostics,
    }))
  }

  #caller<M extends RpcMethods>(name: string, _methods: M, handlers: Handlers<M>): RpcCaller<M> {
    const byName = handlers as Record<string, (request: unknown) => unknown>
    return {
      call: (method, request, signal) => {
        try {
          signal?.throwIfAborted()
          const nth = (this.#counts.get(method) ?? 0) + 1
          this.#counts.set(method, nth)
          this.calls.push(method)
          this.before(method, nth)
          return Promise.resolve(byName[method]!(request)) as never
        } catch (thrown) {
          return Promise.reject(thrown)
        }
      },
      close: () => void this.closed.push(name),
    }
  }
}

function tokenOf(identifier: string, kind: string): hadoop.common.TokenProto.$Properties {
  return { identifier: Buffer.from(identifier), password: Buffer.from('secret'), kind, service: '' }
}

/** Every container's files have what was put here; by the container's number in its id. */
export class FakeLogs implements ContainerLogs {
  readonly files = new Map<string, string>()
  failure: Error | undefined

  async copy(file: LogFile, offset: number, write: Write): Promise<void> {
    if (this.failure !== undefined) throw this.failure
    const contents = this.files.get(`${Number(file.container.slice(-6))} ${file.name}`) ?? ''
    if (contents.length > offset) await write(Buffer.from(contents.slice(offset)))
  }
}
