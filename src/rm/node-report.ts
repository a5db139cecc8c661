import { nodeIdToProto } from '../protocol/ids.ts'
import { hadoop } from '../protocol/messages.ts'
import { resourceToProto } from '../protocol/resource.ts'
import type { RmNode, RmNodeState } from './nodes.ts'

type NodeReport = hadoop.yarn.NodeReportProto.$Properties

const { NodeStateProto, NodeUpdateTypeProto } = hadoop.yarn

export const nodeStateToProto: { readonly [S in RmNodeState]: hadoop.yarn.NodeStateProto } = {
  RUNNING: NodeStateProto.NS_RUNNING,
  UNHEALTHY: NodeStateProto.NS_UNHEALTHY,
  LOST: NodeStateProto.NS_LOST,
  REBOOTED: NodeStateProto.NS_REBOOTED,
  SHUTDOWN: NodeStateProto.NS_SHUTDOWN,
}

/** Source: ClientRMService.createNodeReports. */
export function nodeReport(node: RmNode): NodeReport {
  const count = node.containersById.size
  return {
    nodeId: nodeIdToProto(node.id),
    httpAddress: node.httpAddress,
    rackName: node.rack,
    used: resourceToProto(node.used),
    capability: resourceToProto(node.total),
    // Java leaves the zero out.
    numContainers: count === 0 ? null : count,
    nodeState: nodeStateToProto[node.state],
    healthReport: node.health.report,
    lastHealthReportTime: node.health.reportTime,
    containersUtilization: node.containersUtilization ?? null,
    nodeUtilization: node.nodeUtilization ?? null,
  }
}

/** For masters: what has become of a node. */
export function nodeUpdate(node: RmNode): NodeReport {
  const { NODE_USABLE, NODE_UNUSABLE } = NodeUpdateTypeProto
  return { ...nodeReport(node), nodeUpdateType: node.isUsable ? NODE_USABLE : NODE_UNUSABLE }
}
