/** A ResourceManager that answers as it is told, and a node with containers that a test may set. */
import { BobbinError } from '../../../src/base/errors.ts'
import { silentLog, type Log } from '../../../src/base/log.ts'
import type { ApplicationView } from '../../../src/applications/application-view.ts'
import type { ContainerView } from '../../../src/containers/container-view.ts'
import { applicationId, containerId, nodeId } from '../../../src/protocol/ids.ts'
import type { ApplicationId, ContainerId, NodeId } from '../../../src/protocol/ids.ts'
import { hadoop } from '../../../src/protocol/messages.ts'
import type { resourceTracker } from '../../../src/protocol/resource-tracker.ts'
import type { RpcCaller } from '../../../src/protocol/rpc-caller.ts'
import type { RequestOf, ResponseOf } from '../../../src/protocol/rpc-protocol.ts'
import type {
  ManagedContainers,
  MasterKeyUpdates,
  NodeHealthView,
  Registration,
  RegistrationListener,
  ShutdownReason,
  Utilization,
} from '../../../src/node-status/managed-node.ts'
import { NodeStatusUpdater } from '../../../src/node-status/status-updater.ts'
import { FakeClock } from '../../helpers/fake-clock.ts'
import { runningContainer } from '../../helpers/running-container.ts'

export type Methods = typeof resourceTracker.methods
export type RegisterResponse = hadoop.yarn.RegisterNodeManagerResponseProto.$Properties
export type HeartbeatResponse = hadoop.yarn.NodeHeartbeatResponseProto.$Properties
export type HeartbeatRequest = hadoop.yarn.NodeHeartbeatRequestProto.$Properties
export type RegisterRequest = hadoop.yarn.RegisterNodeManagerRequestProto.$Properties

export const { NORMAL, RESYNC, SHUTDOWN } = hadoop.yarn.NodeActionProto
export const TIMESTAMP = 1_700_000_000_000
export const APP = applicationId(TIMESTAMP, 1)
export const key = (keyId: number) => ({ keyId, bytes: Buffer.from([keyId]) })

export function container(sequence: number, more: Partial<ContainerView> = {}): ContainerView {
  const id = containerId({ clusterTimestamp: TIMESTAMP, application: 1, attempt: 1, epoch: 0, sequence })
  return runningContainer(id, more)
}

export class FakeNode implements ManagedContainers {
  readonly table = new Map<ContainerId, ContainerView>()
  readonly apps = new Map<ApplicationId, ApplicationView>()
  readonly orders: string[] = []
  /** What a kill order does, besides being noted. */
  onKill: (id: ContainerId) => void = () => {}

  constructor() {
    this.setApp(APP, 'RUNNING')
  }
  get containers(): Iterable<ContainerView> {
    return this.table.values()
  }
  get applications(): Iterable<ApplicationView> {
    return this.apps.values()
  }
  put(view: ContainerView): ContainerId {
    this.table.set(view.id, view)
    return view.id
  }
  finish(id: ContainerId, exitStatus = 0): void {
    this.put({ ...this.table.get(id)!, state: 'DONE', exitStatus })
  }
  setApp(id: ApplicationId, state: ApplicationView['state']): void {
    this.apps.set(id, { id, user: 'hadoop', state, containerIds: [] })
  }
  findContainer(id: ContainerId) {
    return this.table.get(id)
  }
  findApplication(id: ApplicationId) {
    return this.apps.get(id)
  }
  forgetContainer(id: ContainerId): void {
    this.table.delete(id)
    this.orders.push(`forget ${id}`)
  }
  killContainer(id: ContainerId, exitStatus: number, diagnostics: string): void {
    this.orders.push(`kill ${id} ${exitStatus} ${diagnostics}`)
    this.onKill(id)
  }
  finishApplication(id: ApplicationId, reason: string): void {
    this.orders.push(`finish ${id} ${reason}`)
  }
  signalContainer(id: ContainerId, command: hadoop.yarn.SignalContainerCommandProto): void {
    this.orders.push(`signal ${id} ${command}`)
  }
}

type Step<R> = R | Error | Promise<R>

/** Answers each heartbeat with the next id unless the script says otherwise; remembers every request. */
export class ScriptedRm implements RpcCaller<Methods> {
  readonly registrations: RegisterRequest[] = []
  readonly heartbeats: HeartbeatRequest[] = []
  readonly unregistrations: string[] = []
  readonly registerScript: Step<RegisterResponse>[] = []
  readonly heartbeatScript: Step<HeartbeatResponse>[] = []
  unregister: () => Promise<void> = async () => {}
  isClosed = false

  async call<M extends keyof Methods>(
    method: M,
    request: RequestOf<Methods[M]>,
    signal?: AbortSignal,
  ): Promise<ResponseOf<Methods[M]>> {
    const response = await this.#untilAborted(this.#answer(method, request), signal)
    if (response instanceof Error) throw response
    return response as ResponseOf<Methods[M]>
  }

  #untilAborted(answer: Promise<unknown>, signal: AbortSignal | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const abort = () => reject(signal?.reason as Error)
      signal?.addEventListener('abort', abort, { once: true })
      void answer.then(resolve, reject).finally(() => signal?.removeEventListener('abort', abort))
    })
  }

  async #answer(method: string, request: unknown): Promise<unknown> {
    if (method === 'registerNodeManager') {
      this.registrations.push(request as RegisterRequest)
      return this.registerScript.shift() ?? registered()
    }
    if (method === 'nodeHeartbeat') {
      this.heartbeats.push(request as HeartbeatRequest)
      return this.heartbeatScript.shift() ?? this.next()
    }
    this.unregistrations.push(`${(request as { nodeId?: { host?: string | null } | null }).nodeId?.host}`)
    await this.unregister()
    return {}
  }

  /** A NORMAL answer to the newest heartbeat. */
  next(more: HeartbeatResponse = {}): HeartbeatResponse {
    const responseId = (this.heartbeats.at(-1)?.nodeStatus?.responseId ?? 0) + 1
    return { responseId, nodeAction: NORMAL, nextHeartBeatInterval: 1000, tokenSequenceNo: 1, ...more }
  }

  /** Container states of the heartbeat `index` (from the end when negative), as `sequence:exitStatus`. */
  statuses(index = -1): string[] {
    return (this.heartbeats.at(index)?.nodeStatus?.containersStatuses ?? []).map(
      (status) => `${String(status.containerId?.id)}:${status.exitStatus}`,
    )
  }

  close(): void {
    this.isClosed = true
  }
}

export function registered(more: RegisterResponse = {}): RegisterResponse {
  return {
    containerTokenMasterKey: key(1),
    nmTokenMasterKey: key(2),
    nodeAction: NORMAL,
    rmIdentifier: TIMESTAMP,
    rmVersion: '3.4.2',
    ...more,
  }
}

export class RecordingListener implements RegistrationListener {
  readonly events: string[] = []
  registration: Registration | undefined
  registering(): void {
    this.events.push('registering')
  }
  registered(registration: Registration): void {
    this.registration = registration
    this.events.push(`registered ${registration.rmIdentifier} ${keyIds(registration)}`)
  }
  unregistered(): void {
    this.events.push('unregistered')
  }
  masterKeys(keys: MasterKeyUpdates): void {
    this.events.push(`keys ${keyIds(keys)}`)
  }
}

const keyIds = (keys: MasterKeyUpdates) => `${keys.containerToken?.keyId}/${keys.nmToken?.keyId}`

/** Log lines as `level text`. */
export function recordingLog(lines: string[]): Log {
  const line =
    (level: string) =>
    (first: unknown, text?: unknown): void => {
      lines.push(`${level} ${typeof first === 'string' ? first : String(text)}`)
    }
  return {
    ...silentLog,
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    fatal: line('fatal'),
  }
}

export const unreachable = () => new BobbinError('ERR_RM_UNREACHABLE', 'gave up after 3 attempts')

export interface Scene {
  readonly clock: FakeClock
  readonly rm: ScriptedRm
  readonly node: FakeNode
  readonly listener: RecordingListener
  readonly lines: string[]
  readonly shutdowns: ShutdownReason[]
  readonly removedFromStore: ContainerId[]
  readonly credentials: string[]
  readonly stall: { ms: number }
  health: NodeHealthView
  readonly updater: NodeStatusUpdater
}

export interface SceneOptions {
  readonly minimumResourceManagerVersion?: string
  readonly isWorkPreserving?: boolean
  readonly isSecurityEnabled?: boolean
  readonly isLogAggregationEnabled?: boolean
  readonly recovery?: { isEnabled: boolean; isSupervised: boolean }
  readonly utilization?: Utilization
  readonly random?: number
}

export function scene(options: SceneOptions = {}): Scene {
  const clock = new FakeClock()
  const rm = new ScriptedRm()
  const node = new FakeNode()
  const listener = new RecordingListener()
  const lines: string[] = []
  const shutdowns: ShutdownReason[] = []
  const removedFromStore: ContainerId[] = []
  const credentials: string[] = []
  const stall = { ms: 0 }
  const utilization = options.utilization ?? { pmemMb: 0, vmemMb: 0, vcores: 0 }
  const id: NodeId = nodeId('localhost', 8041)
  const parts = {
    clock,
    rm,
    node,
    listener,
    lines,
    shutdowns,
    removedFromStore,
    credentials,
    stall,
    health: { isHealthy: true, report: '', lastReportTime: 5 } as NodeHealthView,
  }
  const updater = new NodeStatusUpdater({
    rm,
    node: {
      nodeId: () => id,
      health: () => parts.health,
      containersUtilization: () => utilization,
      nodeUtilization: () => utilization,
    },
    httpPort: () => 8042,
    resource: { memoryMb: 8192, vcores: 8 },
    physicalResource: { memoryMb: 24105, vcores: 2 },
    config: {
      hadoopVersion: '3.4.2',
      minimumResourceManagerVersion: options.minimumResourceManagerVersion ?? 'NONE',
      trackStoppedContainersMs: 600_000,
      livenessExpiryMs: 600_000,
      isLogAggregationEnabled: options.isLogAggregationEnabled ?? false,
      isSecurityEnabled: options.isSecurityEnabled ?? false,
      isWorkPreserving: options.isWorkPreserving ?? true,
    },
    recovery: options.recovery ?? { isEnabled: false, isSupervised: false },
    containers: node,
    store: {
      removeContainer: async (containerId) => {
        removedFromStore.push(containerId)
      },
    },
    listener,
    credentials: {
      systemCredentials: (streams) => {
        for (const [application, stream] of streams) credentials.push(`${application} ${stream.toString('hex')}`)
      },
    },
    onShutdown: (reason) => shutdowns.push(reason),
    clock,
    log: recordingLog(lines),
    random: () => options.random ?? 0.5,
    stalls: { enable: () => {}, disable: () => {}, takeMaxMs: () => stall.ms },
  })
  return Object.assign(parts, { updater })
}

/** A scene whose node is registered and has sent its first heartbeat. */
export async function started(options: SceneOptions = {}): Promise<Scene> {
  const parts = scene(options)
  await parts.updater.start(new AbortController().signal)
  await parts.clock.advance(0)
  return parts
}
