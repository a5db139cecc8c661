/** JSON of /ws/v1/cluster. Source: RMWebServices and its dao classes; field order as theirs. */
import { hadoop } from '../protocol/messages.ts'
import type { Resource } from '../protocol/resource.ts'
import { minus, NOTHING } from './amounts.ts'
import type { RmApplication } from './application.ts'
import { diagnosticsOf, logsUrl, percentOfCluster, secondsUsed, shownState, trackingUrl } from './application-report.ts'
import type { Applications } from './applications.ts'
import type { RmAttempt } from './attempt.ts'
import type { RmNode, RmNodes } from './nodes.ts'
import type { FifoScheduler } from './scheduler.ts'

export interface RestContext {
  readonly clusterTimestamp: number
  readonly hadoopVersion: string
  /** `http://<rm web>` */
  readonly webUrl: string
  readonly now: number
  readonly applications: Applications
  readonly scheduler: FifoScheduler
  readonly nodes: RmNodes
}

/** What a resource type may grow to: 2^63 − 1, which JSON numbers of JavaScript only come near to. */
const NO_MAXIMUM = Number(9223372036854775807n)

export function clusterInfo({ clusterTimestamp, hadoopVersion }: RestContext): object {
  return {
    clusterInfo: {
      id: clusterTimestamp,
      startedOn: clusterTimestamp,
      state: 'STARTED',
      haState: 'ACTIVE',
      rmStateStoreName: 'memory',
      resourceManagerVersion: hadoopVersion,
      resourceManagerBuildVersion: `${hadoopVersion}, embedded in Bobbin`,
      hadoopVersion,
      hadoopBuildVersion: `${hadoopVersion}, embedded in Bobbin`,
      haZooKeeperConnectionState: 'ResourceManager HA is not enabled.',
    },
  }
}

export function clusterMetrics({ applications, scheduler, nodes }: RestContext): object {
  const all = [...applications.all]
  const count = (...states: string[]) => all.filter(({ state }) => states.includes(shownState[state])).length
  const total = scheduler.clusterTotal
  const used = scheduler.clusterUsed
  const free = minus(total, used)
  const pending = scheduler.pendingResource
  return {
    clusterMetrics: {
      appsSubmitted: applications.submittedCount,
      appsCompleted: count('FINISHED'),
      appsPending: count('SUBMITTED', 'ACCEPTED'),
      appsRunning: count('RUNNING'),
      appsFailed: count('FAILED'),
      appsKilled: count('KILLED'),
      reservedMB: 0,
      availableMB: free.memoryMb,
      allocatedMB: used.memoryMb,
      pendingMB: pending.memoryMb,
      reservedVirtualCores: 0,
      availableVirtualCores: free.vcores,
      allocatedVirtualCores: used.vcores,
      pendingVirtualCores: pending.vcores,
      containersAllocated: scheduler.containerCount,
      containersReserved: 0,
      containersPending: scheduler.pendingCount,
      totalMB: total.memoryMb,
      totalVirtualCores: total.vcores,
      totalNodes: nodes.activeCount,
      lostNodes: nodes.count('LOST'),
      unhealthyNodes: nodes.count('UNHEALTHY'),
      decommissioningNodes: 0,
      decommissionedNodes: 0,
      rebootedNodes: nodes.count('REBOOTED'),
      activeNodes: nodes.count('RUNNING'),
      shutdownNodes: nodes.count('SHUTDOWN'),
      totalUsedResourcesAcrossPartition: resourceInfo(used),
      totalClusterResourcesAcrossPartition: resourceInfo(total),
      totalReservedResourcesAcrossPartition: resourceInfo(NOTHING),
      totalAllocatedContainersAcrossPartition: scheduler.containerCount,
      crossPartitionMetricsAvailable: true,
    },
  }
}

export function nodeList(nodes: Iterable<RmNode>): object {
  const node = [...nodes].map(nodeInfo)
  return { nodes: node.length === 0 ? null : { node } }
}

/** A node that is gone has no web address and no use. */
export function nodeInfo(node: RmNode): object {
  const isActive = node.state === 'RUNNING' || node.state === 'UNHEALTHY'
  const used = isActive ? node.used : NOTHING
  const free = isActive ? node.available : NOTHING
  const { nodeUtilization: whole, containersUtilization: ours, total } = node
  return {
    rack: node.rack,
    state: node.state,
    id: node.id,
    nodeHostName: node.host,
    nodeHTTPAddress: isActive ? node.httpAddress : '',
    lastHealthUpdate: node.health.reportTime,
    version: node.version,
    healthReport: node.health.report,
    numContainers: isActive ? node.containersById.size : 0,
    usedMemoryMB: used.memoryMb,
    availMemoryMB: free.memoryMb,
    usedVirtualCores: used.vcores,
    availableVirtualCores: free.vcores,
    memUtilization: isActive ? percent(whole?.pmem ?? 0, node.physical.memoryMb) : 0,
    cpuUtilization: isActive ? percent(whole?.cpu ?? 0, node.physical.vcores) : 0,
    numRunningOpportContainers: 0,
    usedMemoryOpportGB: 0,
    usedVirtualCoresOpport: 0,
    numQueuedContainers: 0,
    allocationTags: {},
    resourceUtilization: {
      nodePhysicalMemoryMB: whole?.pmem ?? 0,
      nodeVirtualMemoryMB: whole?.vmem ?? 0,
      nodeCPUUsage: whole?.cpu ?? 0,
      aggregatedContainersPhysicalMemoryMB: ours?.pmem ?? 0,
      aggregatedContainersVirtualMemoryMB: ours?.vmem ?? 0,
      containersCPUUsage: ours?.cpu ?? 0,
    },
    ...(isActive && { usedResource: resourceInfo(used), availableResource: resourceInfo(free) }),
    nodeAttributesInfo: {},
    totalResource: resourceInfo(total),
  }
}

export function applicationList(applications: readonly RmApplication[], context: RestContext): object {
  const app = applications.map((application) => applicationInfo(application, context))
  return { apps: app.length === 0 ? null : { app } }
}

export function applicationInfo(application: RmApplication, context: RestContext): object {
  const attempt = application.currentAttempt
  const { name, type, tags, isUnmanaged } = application.submission
  const state = shownState[application.state]
  const end = application.finishTime === 0 ? context.now : application.finishTime
  return {
    id: application.id,
    user: application.user,
    name,
    queue: application.queue,
    state,
    finalStatus: application.finalStatus,
    progress: application.progress * 100,
    trackingUI: application.isFinalStateKnown ? 'History' : attempt === undefined ? 'UNASSIGNED' : 'ApplicationMaster',
    trackingUrl: trackingUrl(application, attempt, context.webUrl),
    diagnostics: diagnosticsOf(application),
    clusterId: context.clusterTimestamp,
    applicationType: type,
    applicationTags: tags.join(','),
    priority: 0,
    startedTime: application.startTime,
    launchTime: application.launchTime,
    finishedTime: application.finishTime,
    elapsedTime: Math.max(0, end - application.startTime),
    ...masterInfo(attempt),
    ...usageInfo(application, attempt, context),
    preemptedResourceMB: 0,
    preemptedResourceVCores: 0,
    numNonAMContainerPreempted: 0,
    numAMContainerPreempted: 0,
    preemptedMemorySeconds: 0,
    preemptedVcoreSeconds: 0,
    preemptedResourceSecondsMap: {},
    logAggregationStatus: 'DISABLED',
    unmanagedApplication: isUnmanaged,
    amNodeLabelExpression: '',
    ...partitionInfo(attempt, context),
    timeouts: { timeout: [timeoutInfo(application, context)] },
  }
}

export function attemptList(application: RmApplication): object {
  return { appAttempts: { appAttempt: application.attempts.map(attemptInfo) } }
}

function attemptInfo(attempt: RmAttempt): object {
  const { masterContainer: master } = attempt
  return {
    id: attempt.number,
    startTime: attempt.startTime,
    finishedTime: attempt.finishTime,
    ...(master !== undefined && {
      containerId: master.id,
      nodeHttpAddress: master.fields.nodeHttpAddress,
      nodeId: master.fields.nodeId,
      logsLink: logsUrl(master),
    }),
    blacklistedNodes: '',
    nodesBlacklistedBySystem: '',
    appAttemptId: attempt.id,
    // Java's word for none.
    exportPorts: 'null',
    appAttemptState: attempt.state,
  }
}

function masterInfo(attempt: RmAttempt | undefined): object {
  const master = attempt?.masterContainer
  if (attempt === undefined || master === undefined) return {}
  return {
    amContainerLogs: logsUrl(master),
    amHostHttpAddress: master.fields.nodeHttpAddress,
    ...(attempt.rpcPort > 0 && { amRPCAddress: `${attempt.host}:${attempt.rpcPort}` }),
    masterNodeId: master.fields.nodeId,
  }
}

/** −1 once the scheduler does not know the attempt any more. */
function usageInfo(application: RmApplication, attempt: RmAttempt | undefined, context: RestContext): object {
  const { scheduler } = context
  const scheduled = attempt === undefined ? undefined : scheduler.find(attempt.id)
  const used = scheduled?.used ?? { memoryMb: -1, vcores: -1 }
  const percentage = scheduled === undefined ? 0 : percentOfCluster(used, scheduler)
  const seconds = secondsUsed(application, context)
  return {
    allocatedMB: used.memoryMb,
    allocatedVCores: used.vcores,
    reservedMB: scheduled === undefined ? -1 : 0,
    reservedVCores: scheduled === undefined ? -1 : 0,
    runningContainers: scheduled?.containersById.size ?? -1,
    memorySeconds: seconds.memory,
    vcoreSeconds: seconds.vcores,
    queueUsagePercentage: percentage,
    clusterUsagePercentage: percentage,
    // Java writes "entry" twice into one object, which no JSON parser keeps both of.
    resourceSecondsMap: {
      entry: [
        { key: 'memory-mb', value: String(seconds.memory) },
        { key: 'vcores', value: String(seconds.vcores) },
      ],
    },
  }
}

/** There is one partition, without limits for ApplicationMasters. Left out once the attempt is over, as in Java. */
function partitionInfo(attempt: RmAttempt | undefined, { scheduler }: RestContext): object {
  const scheduled = attempt === undefined ? undefined : scheduler.find(attempt.id)
  if (scheduled === undefined) return {}
  const usage = {
    partitionName: '',
    used: resourceInfo(scheduled.used),
    reserved: resourceInfo(NOTHING),
    pending: resourceInfo(scheduled.asks.pendingResource),
    amUsed: resourceInfo(attempt?.masterContainer?.fields.resource ?? NOTHING),
    amLimit: resourceInfo(NOTHING),
    userAmLimit: resourceInfo(NOTHING),
  }
  return { resourceInfo: { resourceUsagesByPartition: [usage] } }
}

function timeoutInfo(application: RmApplication, { applications, now }: RestContext): object {
  const remaining = applications.remainingLifetimeMs(application)
  return {
    type: 'LIFETIME',
    expiryTime: remaining === undefined ? 'UNLIMITED' : new Date(now + remaining).toISOString(),
    remainingTimeInSeconds: remaining === undefined ? -1 : Math.round(remaining / 1000),
  }
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : (100 * part) / whole
}

function resourceInfo({ memoryMb, vcores }: Resource): object {
  const type = (name: string, units: string, value: number) => ({
    attributes: {},
    maximumAllocation: NO_MAXIMUM,
    minimumAllocation: 0,
    name,
    resourceType: hadoop.yarn.ResourceTypesProto[hadoop.yarn.ResourceTypesProto.COUNTABLE],
    units,
    value,
  })
  return {
    memory: memoryMb,
    vCores: vcores,
    resourceInformations: {
      resourceInformation: [type('memory-mb', 'Mi', memoryMb), type('vcores', '', vcores)],
    },
  }
}
