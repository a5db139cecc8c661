import { silentLog } from '../../../src/base/log.ts'
import type { applicationClient } from '../../../src/protocol/application-client.ts'
import type { applicationMaster } from '../../../src/protocol/application-master.ts'
import type { containerManagement } from '../../../src/protocol/container-management.ts'
import {
  applicationIdFromProto,
  applicationIdToProto,
  containerIdFromProto,
  containerIdToProto,
  nodeIdToProto,
  nodeId,
  type ApplicationId,
  type ContainerId,
  type NodeId,
} from '../../../src/protocol/ids.ts'
import { hadoop } from '../../../src/protocol/messages.ts'
import type { resourceTracker } from '../../../src/protocol/resource-tracker.ts'
import { resourceToProto } from '../../../src/protocol/resource.ts'
import type { RequestOf, RpcMethods } from '../../../src/protocol/rpc-protocol.ts'
import type { Caller, Handlers, RpcCaller } from '../../../src/protocol/rpc-caller.ts'
import { RmCore, type RmCoreConfig } from '../../../src/rm/core.ts'
import { decodeContainerToken } from '../../../src/security/container-token.ts'
import { readCredentials } from '../../../src/security/credentials.ts'
import type { Token } from '../../../src/security/token.ts'
import { FakeClock, settle } from '../../helpers/fake-clock.ts'

type NodeMethods = Handlers<typeof containerManagement.methods>
type StartRequest = hadoop.yarn.StartContainerRequestProto.$Properties
export type Heartbeat = hadoop.yarn.NodeHeartbeatResponseProto.$Properties
export type Status = hadoop.yarn.ContainerStatusProto.$Properties
export type Allocation = hadoop.yarn.AllocateResponseProto.$Properties

const { ContainerStateProto, NodeActionProto } = hadoop.yarn

export const config: RmCoreConfig = {
  minimumAllocation: { memoryMb: 256, vcores: 1 },
  maximumAllocation: { memoryMb: 8192, vcores: 4 },
  heartbeatIntervalMs: 1000,
  nodeExpiryMs: 600_000,
  attemptExpiryMs: 900_000,
  allocationExpiryMs: 600_000,
  maxAttempts: 2,
  globalMaxAttempts: 2,
  maxCompletedApplications: 1000,
  containerTokenRollMs: 86_400_000,
  nmTokenRollMs: 86_400_000,
  amRmTokenRollMs: 86_400_000,
}

export const WEB = 'http://rm:8088'

/** A service's handlers, each called as one caller. */
export type Bound<M extends RpcMethods, H> = {
  readonly [K in keyof H & keyof M]: (
    request: RequestOf<M[K]>,
  ) => H[K] extends (...parameters: never[]) => infer Answer ? Answer : never
}

function bind<M extends RpcMethods, H extends object>(handlers: H, caller: Caller): Bound<M, H> {
  const bound = Object.entries(handlers).map(([name, handler]: [string, (...parameters: unknown[]) => unknown]) => [
    name,
    (request: unknown) => handler(request, caller),
  ])
  return Object.fromEntries(bound) as Bound<M, H>
}

export function simple(user: string): Caller {
  return { user, authentication: 'SIMPLE', remoteAddress: '127.0.0.1', tokenIdentifier: undefined }
}

/** A ResourceManager without ports, on a clock that stands still, whose nodes answer as the test says. */
export class Rig {
  readonly clock: FakeClock
  readonly core: RmCore
  /** What nodes were told to start and stop. */
  readonly started: StartRequest[] = []
  readonly stopped: ContainerId[] = []
  /** How nodes answer startContainers; replaced by tests of failures. */
  onStart: (request: StartRequest) => hadoop.yarn.StartContainersResponseProto.$Properties | Promise<never> = () => ({})

  /** @param nowMs start time, which ids begin with */
  constructor(changes: Partial<RmCoreConfig> = {}, nowMs?: number) {
    this.clock = new FakeClock(nowMs)
    this.core = new RmCore({
      config: { ...config, ...changes },
      hadoopVersion: '3.4.2',
      webUrl: () => WEB,
      connect: () => this.#node(),
      clock: this.clock,
      log: silentLog,
    })
    this.core.start()
  }

  client(user = 'alice'): Bound<typeof applicationClient.methods, RmCore['client']['handlers']> {
    return bind(this.core.client.handlers, simple(user))
  }

  get tracker(): Bound<typeof resourceTracker.methods, RmCore['tracker']['handlers']> {
    return bind(this.core.tracker.handlers, simple('yarn'))
  }

  master(attempt: string, token?: Token): Bound<typeof applicationMaster.methods, RmCore['master']['handlers']> {
    const caller: Caller = {
      user: attempt,
      authentication: 'TOKEN',
      remoteAddress: '127.0.0.1',
      tokenIdentifier: token?.identifier,
    }
    return bind(this.core.master.handlers, caller)
  }

  newId(): ApplicationId {
    return applicationIdFromProto(this.client().getNewApplication({}).applicationId)
  }

  submit(
    context: hadoop.yarn.ApplicationSubmissionContextProto.$Properties = {},
    user = 'alice',
    id: ApplicationId = this.newId(),
  ): ApplicationId {
    this.client(user).submitApplication({
      applicationSubmissionContext: {
        applicationId: applicationIdToProto(id),
        applicationName: 'test',
        amContainerSpec: { command: ['master'] },
        amContainerResourceRequest: [
          { resourceName: '*', capability: resourceToProto({ memoryMb: 512, vcores: 1 }), numContainers: 1 },
        ],
        ...context,
      },
    })
    return id
  }

  report(id: ApplicationId, user = 'alice'): hadoop.yarn.ApplicationReportProto.$Properties {
    return this.client(user).getApplicationReport({ applicationId: applicationIdToProto(id) }).applicationReport ?? {}
  }

  stateOf(id: ApplicationId): string | undefined {
    return hadoop.yarn.YarnApplicationStateProto[this.report(id).yarnApplicationState ?? 0]
  }

  addNode(host = 'node1', memoryMb = 8192, vcores = 8): FakeNode {
    const node = new FakeNode(this, nodeId(host, 1234), { memoryMb, vcores })
    node.register()
    return node
  }

  /** The AMRM tokens that masters were started with. */
  get masterTokens(): Token[] {
    return this.started.flatMap(({ containerLaunchContext }) => {
      const token = readCredentials(Buffer.from(containerLaunchContext?.tokens ?? [])).tokens.get('')
      return token === undefined ? [] : [token]
    })
  }

  /** That of the last one. */
  get masterToken(): Token {
    const token = this.masterTokens.at(-1)
    if (token === undefined) throw new Error('no master was started with a token')
    return token
  }

  /** The container that was last told to be started. */
  get lastStarted(): ContainerId {
    const token = this.started.at(-1)?.containerToken
    return decodeContainerToken(Buffer.from(token?.identifier ?? [])).containerId
  }

  /** Lets calls to nodes come to their end. */
  async settle(): Promise<void> {
    await settle()
  }

  #node(): RpcCaller<typeof containerManagement.methods> {
    const methods: NodeMethods = {
      startContainers: (request) => {
        const [first] = request.startContainerRequest ?? []
        if (first === undefined) throw new Error('nothing to start')
        this.started.push(first)
        return this.onStart(first)
      },
      stopContainers: (request) => {
        this.stopped.push(...(request.containerId ?? []).map(containerIdFromProto))
        return {}
      },
    }
    return {
      call: async (method, request) => {
        const handler = methods[method] as (request: unknown) => Promise<never>
        return handler(request)
      },
      close: () => {},
    }
  }
}

/** A NodeManager as its messages show it. */
export class FakeNode {
  responseId = 0
  /** What it reports as running. */
  readonly running = new Set<ContainerId>()
  #completed: Status[] = []
  readonly #rig: Rig
  readonly id: NodeId
  readonly #size: { memoryMb: number; vcores: number }

  constructor(rig: Rig, id: NodeId, size: { memoryMb: number; vcores: number }) {
    this.#rig = rig
    this.id = id
    this.#size = size
  }

  register(
    more: hadoop.yarn.RegisterNodeManagerRequestProto.$Properties = {},
  ): hadoop.yarn.RegisterNodeManagerResponseProto.$Properties {
    const response = this.#rig.tracker.registerNodeManager({
      nodeId: nodeIdToProto(this.id),
      httpPort: 8042,
      resource: resourceToProto(this.#size),
      nmVersion: '3.4.2',
      ...more,
    })
    if (response.nodeAction === NodeActionProto.NORMAL) this.responseId = 0
    return response
  }

  heartbeat(
    more: hadoop.yarn.NodeStatusProto.$Properties = {},
    keys: hadoop.yarn.NodeHeartbeatRequestProto.$Properties = {},
  ): Heartbeat {
    const running = [...this.running].map((id) => ({
      containerId: containerIdToProto(id),
      state: ContainerStateProto.C_RUNNING,
    }))
    const response = this.#rig.tracker.nodeHeartbeat({
      ...keys,
      nodeStatus: {
        nodeId: nodeIdToProto(this.id),
        responseId: this.responseId,
        containersStatuses: [...running, ...this.#completed],
        containersUtilization: { pmem: 109, vmem: 3057, cpu: 0.25 },
        nodeUtilization: { pmem: 2696, vmem: 2696, cpu: 1.5, customResources: [{ key: 'yarn.io/gpu', value: 0 }] },
        ...more,
      },
    })
    this.#completed = []
    this.responseId = response.responseId ?? this.responseId
    return response
  }

  complete(id: ContainerId, exitStatus = 0, diagnostics = ''): void {
    this.running.delete(id)
    this.#completed.push({
      containerId: containerIdToProto(id),
      state: ContainerStateProto.C_COMPLETE,
      exitStatus,
      diagnostics,
    })
  }
}
