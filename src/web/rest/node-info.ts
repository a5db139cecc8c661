import { nodeParts } from '../../protocol/ids.ts'
import type { NodeView } from '../views.ts'

const MB = 2 ** 20

/** `/ws/v1/node`, `/ws/v1/node/info`. Fields and their order: NodeInfo. */
export function nodeInfo(node: NodeView): object {
  const { resource, health, hadoopVersion } = node
  const buildVersion = `${hadoopVersion} (Bobbin ${node.productVersion})`
  return {
    nodeInfo: {
      healthReport: health.report,
      totalVmemAllocatedContainersMB: vmemMb(resource.memoryMb, node.vmemPmemRatio),
      totalPmemAllocatedContainersMB: resource.memoryMb,
      totalVCoresAllocatedContainers: resource.vcores,
      vmemCheckEnabled: node.isVmemCheckEnabled,
      pmemCheckEnabled: node.isPmemCheckEnabled,
      lastNodeUpdateTime: health.lastReportTime,
      resourceTypes: ['memory-mb (unit=Mi)', 'vcores', ...otherTypes(node)].join(', '),
      nodeHealthy: health.isHealthy,
      nodeManagerVersion: hadoopVersion,
      nodeManagerBuildVersion: buildVersion,
      nodeManagerVersionBuiltOn: 'Unknown',
      hadoopVersion,
      hadoopBuildVersion: buildVersion,
      hadoopVersionBuiltOn: 'Unknown',
      id: node.nodeId,
      nodeHostName: nodeParts(node.nodeId).host,
      nmStartupTime: node.startTime,
    },
  }
}

/** Java multiplies as a 32-bit float: ContainersMonitorImpl.setAllocatedResourcesForContainers. */
function vmemMb(memoryMb: number, ratio: number): number {
  return Math.floor(Math.fround(Math.fround(ratio) * Math.fround(memoryMb * MB)) / MB)
}

function otherTypes({ resource }: NodeView): string[] {
  return Object.entries(resource.others ?? {}).map(([name, { units }]) =>
    units === '' ? name : `${name} (unit=${units})`,
  )
}
