import type { NodeId } from '../protocol/ids.ts'
import { applicationIdToProto, nodeIdToProto } from '../protocol/ids.ts'
import type { hadoop } from '../protocol/messages.ts'
import type { CompletedContainers } from './completed-containers.ts'
import type { KeepAlive } from './keep-alive.ts'
import type { NodeHealthView, Utilization } from './managed-node.ts'

type NodeStatus = hadoop.yarn.NodeStatusProto.$Properties
type ResourceUtilization = hadoop.yarn.ResourceUtilizationProto.$Properties

/** What each heartbeat and registration says of the node. Everything here is read from memory, at once. */
export interface NodeFacts {
  nodeId(): NodeId
  health(): NodeHealthView
  containersUtilization(): Utilization
  nodeUtilization(): Utilization
}

export interface NodeStatusParts {
  readonly report: NodeFacts
  readonly completed: CompletedContainers
  readonly keepAlive: KeepAlive
}

/** Without opportunistic containers Java writes zeroes, and no estimated wait time. */
const NO_OPPORTUNISTIC_CONTAINERS: hadoop.yarn.OpportunisticContainersStatusProto.$Properties = {
  runningOpportContainers: 0,
  opportMemoryUsed: 0,
  opportCoresUsed: 0,
  queuedOpportContainers: 0,
  waitQueueLength: 0,
  opportQueueCapacity: 0,
}

/** Source: NodeStatusUpdaterImpl.getNodeStatus. */
export function nodeStatus({ report, completed, keepAlive }: NodeStatusParts, responseId: number): NodeStatus {
  const health = report.health()
  return {
    nodeId: nodeIdToProto(report.nodeId()),
    responseId,
    containersStatuses: completed.statuses(),
    nodeHealthStatus: {
      isNodeHealthy: health.isHealthy,
      healthReport: health.report,
      lastHealthReportTime: health.lastReportTime,
    },
    keepAliveApplications: keepAlive.due().map(applicationIdToProto),
    containersUtilization: utilization(report.containersUtilization()),
    // Java names the GPUs' utilisation on every node, 0 where there are none.
    nodeUtilization: {
      ...utilization(report.nodeUtilization()),
      customResources: [{ key: 'yarn.io/gpu', value: 0 }],
    },
    opportunisticContainersStatus: NO_OPPORTUNISTIC_CONTAINERS,
  }
}

function utilization({ pmemMb, vmemMb, vcores }: Utilization): ResourceUtilization {
  return { pmem: pmemMb, vmem: vmemMb, cpu: vcores }
}
