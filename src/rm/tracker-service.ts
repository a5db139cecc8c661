import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import {
  applicationIdFromProto,
  applicationIdToProto,
  containerIdToProto,
  nodeIdFromProto,
  nodeParts,
  type NodeId,
} from '../protocol/ids.ts'
import { hadoop, toNumber } from '../protocol/messages.ts'
import { resourceFromProto, resourceText, type Resource } from '../protocol/resource.ts'
import type { resourceTracker } from '../protocol/resource-tracker.ts'
import type { Caller, Handlers } from '../protocol/rpc-caller.ts'
import { masterKeyToProto, type MasterKey } from '../security/master-key.ts'
import type { RmContainerTokens, RmNMTokens } from '../security/rm-tokens.ts'
import { fitsIn } from './amounts.ts'
import { LivenessMonitor } from './liveness.ts'
import type { ContainerReports } from './container-reports.ts'
import { RmNode, type RmNodeFields, type RmNodes } from './nodes.ts'
import { nextResponseId } from './response-id.ts'
import type { FifoScheduler } from './scheduler.ts'

type RegisterRequest = hadoop.yarn.RegisterNodeManagerRequestProto.$Properties
type RegisterResponse = hadoop.yarn.RegisterNodeManagerResponseProto.$Properties
type HeartbeatRequest = hadoop.yarn.NodeHeartbeatRequestProto.$Properties
type HeartbeatResponse = hadoop.yarn.NodeHeartbeatResponseProto.$Properties
type NodeStatus = hadoop.yarn.NodeStatusProto.$Properties

const { NodeActionProto } = hadoop.yarn

export interface TrackerServiceOptions {
  readonly nodes: RmNodes
  readonly scheduler: FifoScheduler
  readonly containerReports: ContainerReports
  readonly containerTokens: RmContainerTokens
  readonly nmTokens: RmNMTokens
  /** Told when a node has become usable or has stopped being so. */
  readonly onNodeUpdated: (node: RmNode) => void
  readonly minimumAllocation: Resource
  readonly heartbeatIntervalMs: number
  readonly nodeExpiryMs: number
  readonly hadoopVersion: string
  readonly rmIdentifier: number
  readonly clock: Clock
  readonly log: Log
}

/** NodeManagers register and heartbeat here. Source: ResourceTrackerService. */
export class TrackerService {
  readonly handlers = {
    registerNodeManager: (request, caller) => this.register(request, caller),
    nodeHeartbeat: (request) => this.heartbeat(request),
    unRegisterNodeManager: (request) => {
      const node = this.#options.nodes.findActive(nodeIdFromProto(request.nodeId))
      if (node !== undefined) this.#depart(node, 'UNREGISTERED')
      return {}
    },
  } satisfies Handlers<typeof resourceTracker.methods>
  readonly #options: TrackerServiceOptions
  readonly #liveness: LivenessMonitor<NodeId>

  constructor(options: TrackerServiceOptions) {
    this.#options = options
    const { nodeExpiryMs, nodes, clock } = options
    this.#liveness = new LivenessMonitor<NodeId>({
      expiryMs: nodeExpiryMs,
      clock,
      onExpired: (id) => {
        const node = nodes.findActive(id)
        if (node !== undefined) this.#depart(node, 'EXPIRED')
      },
    })
  }

  start(): void {
    this.#liveness.start()
  }

  stop(): void {
    this.#liveness.stop()
  }

  register(request: RegisterRequest, caller: Caller): RegisterResponse {
    const { nodes, nmTokens, scheduler, containerTokens, hadoopVersion, rmIdentifier, log } = this.#options
    const id = nodeIdFromProto(request.nodeId)
    const total = resourceFromProto(request.resource)
    const refusal = this.#refusal(id, total)
    if (refusal !== undefined) {
      log.warn(refusal)
      return { nodeAction: NodeActionProto.SHUTDOWN, diagnosticsMessage: refusal }
    }
    const fields: RmNodeFields = {
      id,
      httpPort: request.httpPort ?? 0,
      total,
      physical: resourceFromProto(request.physicalResource),
      version: request.nmVersion ?? '',
      remoteAddress: caller.remoteAddress,
    }
    nmTokens.nodeRegistered(id)
    const known = nodes.findActive(id)
    if (known === undefined) this.#add(fields, request)
    else this.#reconnect(known, fields, request)
    this.#liveness.watch(id)
    log.info(
      `NodeManager from node ${id}(httpPort: ${fields.httpPort}) registered with capability: ${resourceText(total)}`,
    )
    scheduler.schedule()
    return {
      containerTokenMasterKey: masterKeyToProto(containerTokens.keys.current),
      nmTokenMasterKey: masterKeyToProto(nmTokens.keys.current),
      nodeAction: NodeActionProto.NORMAL,
      rmIdentifier,
      rmVersion: hadoopVersion,
    }
  }

  heartbeat(request: HeartbeatRequest): HeartbeatResponse {
    const status = request.nodeStatus ?? {}
    const id = nodeIdFromProto(status.nodeId)
    const node = this.#options.nodes.findActive(id)
    if (node === undefined) return this.#resync(`Node not found resyncing ${id}`)
    this.#liveness.ping(id)
    const responseId = status.responseId ?? 0
    if (nextResponseId(responseId) === node.responseId && node.lastResponse !== undefined) {
      this.#options.log.info(`Received duplicate heartbeat from node ${id} responseId=${responseId}`)
      return node.lastResponse
    }
    if (responseId !== node.responseId) {
      const text = `Too far behind rm response id:${node.responseId} nm response id:${responseId}`
      this.#depart(node, 'TOO_FAR_BEHIND')
      return this.#resync(text)
    }
    // As in Java: what this heartbeat brings shows in the next answer.
    const response = this.#response(node, request)
    this.#process(node, status)
    if (node.isUsable) this.#options.scheduler.schedule()
    return response
  }

  #refusal(id: NodeId, total: Resource): string | undefined {
    const { minimumAllocation: minimum } = this.#options
    if (fitsIn(minimum, total)) return undefined
    // Two blanks, as Hadoop writes it.
    return (
      `NodeManager from  ${nodeParts(id).host} doesn't satisfy minimum allocations, Sending SHUTDOWN signal to the ` +
      `NodeManager. Node capabilities are ${resourceText(total)}; minimums are ${minimum.memoryMb}mb and ` +
      `${minimum.vcores} vcores`
    )
  }

  #add(fields: RmNodeFields, request: RegisterRequest): void {
    const { nodes, containerReports, log } = this.#options
    // What ran on a node that was given up on is over for its masters.
    const isReturning = nodes.isInactive(fields.id)
    const node = new RmNode(fields, log)
    nodes.add(node)
    this.#takeHealth(node, request.nodeStatus ?? {})
    this.#takeApplications(node, request)
    if (!isReturning) containerReports.registered(node, request.containerStatuses ?? [])
    if (node.isUsable) this.#options.onNodeUpdated(node)
  }

  /** The node has restarted or was told to register again, before it was given up on. */
  #reconnect(node: RmNode, fields: RmNodeFields, request: RegisterRequest): void {
    const hasApplications = (request.runningApplications ?? []).length > 0
    // Without an application nothing can run there any more.
    if (!hasApplications) this.#options.scheduler.nodeUnusable(node)
    node.reconnect(fields)
    this.#takeHealth(node, request.nodeStatus ?? {})
    this.#takeApplications(node, request)
    if (hasApplications) this.#options.containerReports.registered(node, request.containerStatuses ?? [])
  }

  #takeApplications(node: RmNode, request: RegisterRequest): void {
    const ids = (request.runningApplications ?? []).map((proto) => applicationIdFromProto(proto))
    for (const id of ids) if (!this.#options.containerReports.isGoingOn(id)) node.orders.applicationsToCleanup.add(id)
  }

  #process(node: RmNode, status: NodeStatus): void {
    node.containersUtilization = status.containersUtilization ?? undefined
    node.nodeUtilization = status.nodeUtilization ?? undefined
    this.#takeHealth(node, status)
    this.#options.containerReports.reported(node, status.containersStatuses ?? [])
  }

  #takeHealth(node: RmNode, status: NodeStatus): void {
    const health = status.nodeHealthStatus
    const wasUsable = node.isUsable
    node.reportHealth({
      isHealthy: health?.isNodeHealthy ?? true,
      report: health?.healthReport ?? '',
      reportTime: toNumber(health?.lastHealthReportTime, this.#options.clock.now()),
    })
    if (wasUsable && !node.isUsable) this.#options.scheduler.nodeUnusable(node)
    if (wasUsable !== node.isUsable) this.#options.onNodeUpdated(node)
  }

  /** The node takes part no more, until it registers again. */
  #depart(node: RmNode, why: Parameters<RmNode['depart']>[0]): void {
    const wasUsable = node.isUsable
    this.#liveness.forget(node.id)
    node.depart(why)
    this.#options.nodes.retire(node)
    if (wasUsable) this.#options.onNodeUpdated(node)
    this.#options.scheduler.nodeUnusable(node)
  }

  #resync(text: string): HeartbeatResponse {
    this.#options.log.info(text)
    return { nodeAction: NodeActionProto.RESYNC, diagnosticsMessage: text }
  }

  #response(node: RmNode, request: HeartbeatRequest): HeartbeatResponse {
    const { containerTokens, nmTokens, heartbeatIntervalMs } = this.#options
    const { containersToCleanup, applicationsToCleanup, containersToForget, signals } = node.orders
    node.responseId = nextResponseId(node.responseId)
    const response: HeartbeatResponse = {
      responseId: node.responseId,
      containerTokenMasterKey: unknownKey(containerTokens.keys.next, request.lastKnownContainerTokenMasterKey),
      nmTokenMasterKey: unknownKey(nmTokens.keys.next, request.lastKnownNmTokenMasterKey),
      nodeAction: NodeActionProto.NORMAL,
      containersToCleanup: [...containersToCleanup].map(containerIdToProto),
      applicationsToCleanup: [...applicationsToCleanup].map(applicationIdToProto),
      nextHeartBeatInterval: heartbeatIntervalMs,
      containersToBeRemovedFromNm: [...containersToForget].map(containerIdToProto),
      containersToSignal: signals.splice(0),
    }
    for (const id of containersToForget) node.completedIds.delete(id)
    containersToCleanup.clear()
    applicationsToCleanup.clear()
    containersToForget.clear()
    node.lastResponse = response
    return response
  }
}

function unknownKey(
  next: MasterKey | undefined,
  known: hadoop.yarn.MasterKeyProto.$Properties | null | undefined,
): hadoop.yarn.MasterKeyProto.$Properties | null {
  if (next === undefined || known?.keyId === next.keyId) return null
  return masterKeyToProto(next)
}
