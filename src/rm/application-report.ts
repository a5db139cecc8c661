/** What clients are told of applications, attempts and containers. Source: ClientRMService, RMAppImpl.createAndGetApplicationReport. */
import { applicationIdToProto, attemptIdToProto, containerIdToProto, nodeIdToProto } from '../protocol/ids.ts'
import { hadoop } from '../protocol/messages.ts'
import { resourceToProto, type Resource } from '../protocol/resource.ts'
import { tokenToProto } from '../security/token.ts'
import { plus } from './amounts.ts'
import type { ApplicationState, RmApplication } from './application.ts'
import type { AttemptState, FinalStatus, RmAttempt } from './attempt.ts'
import type { RmContainer } from './containers.ts'
import type { FifoScheduler } from './scheduler.ts'

type Report = hadoop.yarn.ApplicationReportProto.$Properties
type AttemptReport = hadoop.yarn.ApplicationAttemptReportProto.$Properties
type ContainerReport = hadoop.yarn.ContainerReportProto.$Properties
type UsageReport = hadoop.yarn.ApplicationResourceUsageReportProto.$Properties

const {
  ApplicationTimeoutTypeProto,
  ContainerStateProto,
  ExecutionTypeProto,
  FinalApplicationStatusProto,
  LogAggregationStatusProto,
  YarnApplicationAttemptStateProto,
  YarnApplicationStateProto,
} = hadoop.yarn

/** The names that users know the states by. */
export const shownState = {
  NEW: 'SUBMITTED',
  ACCEPTED: 'ACCEPTED',
  RUNNING: 'RUNNING',
  FINISHING: 'FINISHED',
  FINISHED: 'FINISHED',
  FAILED: 'FAILED',
  KILLED: 'KILLED',
} as const satisfies { readonly [S in ApplicationState]: string }

const finalStatusToProto: { readonly [S in FinalStatus]: hadoop.yarn.FinalApplicationStatusProto } = {
  UNDEFINED: FinalApplicationStatusProto.APP_UNDEFINED,
  SUCCEEDED: FinalApplicationStatusProto.APP_SUCCEEDED,
  FAILED: FinalApplicationStatusProto.APP_FAILED,
  KILLED: FinalApplicationStatusProto.APP_KILLED,
  ENDED: FinalApplicationStatusProto.APP_ENDED,
}

export interface ReportContext {
  readonly scheduler: FifoScheduler
  /** `http://<rm web>` */
  readonly webUrl: string
  readonly now: number
  /** Of an application with a limit, milliseconds. */
  readonly remainingLifetimeMs: (application: RmApplication) => number | undefined
}

/** @param asker the user who asks: only the owner of an unmanaged application gets its master's token */
export function applicationReport(application: RmApplication, asker: string, context: ReportContext): Report {
  const attempt = application.currentAttempt
  const { name, type, tags, isUnmanaged } = application.submission
  const showsToken = isUnmanaged && attempt?.state === 'LAUNCHED' && asker === application.user
  return {
    applicationId: applicationIdToProto(application.id),
    user: application.user,
    queue: application.queue,
    name,
    host: attempt?.host ?? 'N/A',
    rpcPort: attempt?.rpcPort ?? -1,
    yarnApplicationState: YarnApplicationStateProto[shownState[application.state]],
    trackingUrl: trackingUrl(application, attempt, context.webUrl),
    diagnostics: diagnosticsOf(application),
    startTime: application.startTime,
    finishTime: application.finishTime,
    finalApplicationStatus: finalStatusToProto[application.finalStatus],
    appResource_Usage: usageReport(application, context),
    originalTrackingUrl: attempt?.originalTrackingUrl ?? 'N/A',
    // Number −1 while there is none, as Java's dummy has it.
    currentApplicationAttemptId:
      attempt === undefined
        ? { applicationId: applicationIdToProto(application.id), attemptId: -1 }
        : attemptIdToProto(attempt.id),
    progress: application.progress,
    applicationType: type,
    amRmToken: showsToken && attempt.token !== undefined ? tokenToProto(attempt.token) : null,
    applicationTags: [...tags],
    logAggregationStatus: attempt === undefined ? null : LogAggregationStatusProto.LOG_DISABLED,
    unmanagedApplication: isUnmanaged,
    priority: { priority: 0 },
    appNodeLabelExpression: '<Not set>',
    amNodeLabelExpression: isUnmanaged ? null : '<DEFAULT_PARTITION>',
    appTimeouts: [lifetimeReport(application, context)],
    launchTime: application.launchTime,
  }
}

export function diagnosticsOf(application: RmApplication): string {
  return application.diagnostics === ''
    ? (application.currentAttempt?.launchDiagnostics ?? '')
    : application.diagnostics
}

/** By way of our own web server; an unmanaged master's is its own. */
export function trackingUrl(application: RmApplication, attempt: RmAttempt | undefined, webUrl: string): string {
  const proxied = `${webUrl}/proxy/${application.id}/`
  if (attempt === undefined) return proxied
  if (attempt.state === 'FAILED' || attempt.state === 'KILLED') return attempt.applicationUrl
  return attempt.isUnmanaged ? attempt.originalTrackingUrl : proxied
}

function lifetimeReport(
  application: RmApplication,
  context: ReportContext,
): hadoop.yarn.AppTimeoutsMapProto.$Properties {
  const remaining = context.remainingLifetimeMs(application)
  const applicationTimeoutType = ApplicationTimeoutTypeProto.APP_TIMEOUT_LIFETIME
  return {
    applicationTimeoutType,
    applicationTimeout: {
      applicationTimeoutType,
      expireTime: remaining === undefined ? 'UNLIMITED' : new Date(context.now + remaining).toISOString(),
      remainingTime: remaining === undefined ? -1 : Math.round(remaining / 1000),
    },
  }
}

/** MB × s and vcores × s, those of containers that still run included. */
export function secondsUsed(
  application: RmApplication,
  { scheduler, now }: Pick<ReportContext, 'scheduler' | 'now'>,
): { memory: number; vcores: number } {
  let memory = application.memorySeconds
  let vcores = application.vcoreSeconds
  const attempt = application.currentAttempt
  const scheduled = attempt === undefined ? undefined : scheduler.find(attempt.id)
  for (const { fields } of scheduled?.containersById.values() ?? []) {
    const seconds = Math.max(0, now - fields.creationTime) / 1000
    memory += fields.resource.memoryMb * seconds
    vcores += fields.resource.vcores * seconds
  }
  return { memory: Math.floor(memory), vcores: Math.floor(vcores) }
}

/** Share of the cluster's memory, percent. */
export function percentOfCluster(used: Resource, scheduler: FifoScheduler): number {
  const total = scheduler.clusterTotal.memoryMb
  return total === 0 ? 0 : (100 * used.memoryMb) / total
}

/** The whole message or nothing: clients read the amounts in it without looking whether they are there. */
function usageReport(application: RmApplication, context: ReportContext): UsageReport {
  const attempt = application.currentAttempt
  const scheduled = attempt === undefined ? undefined : context.scheduler.find(attempt.id)
  const seconds = secondsUsed(application, context)
  const counted: UsageReport = {
    memorySeconds: seconds.memory,
    vcoreSeconds: seconds.vcores,
    preemptedMemorySeconds: 0,
    preemptedVcoreSeconds: 0,
    applicationResourceUsageMap: [
      { key: 'memory-mb', value: seconds.memory },
      { key: 'vcores', value: seconds.vcores },
    ],
    applicationPreemptedResourceUsageMap: [
      { key: 'memory-mb', value: 0 },
      { key: 'vcores', value: 0 },
    ],
  }
  if (scheduled === undefined) {
    const gone = resourceToProto({ memoryMb: -1, vcores: -1 })
    const counts = { numUsedContainers: -1, numReservedContainers: -1 }
    return { ...counts, usedResources: gone, reservedResources: gone, neededResources: gone, ...counted }
  }
  const { used } = scheduled
  const percentage = percentOfCluster(used, context.scheduler)
  return {
    numUsedContainers: scheduled.containersById.size,
    numReservedContainers: 0,
    usedResources: resourceToProto(used),
    reservedResources: resourceToProto({ memoryMb: 0, vcores: 0 }),
    neededResources: resourceToProto(plus(used, scheduled.asks.pendingResource)),
    queueUsagePercentage: percentage,
    clusterUsagePercentage: percentage,
    ...counted,
  }
}

// ---- attempts and containers -----------------------------------------------------------------------------------

const attemptStateToProto: { readonly [S in AttemptState]: hadoop.yarn.YarnApplicationAttemptStateProto } = {
  NEW: YarnApplicationAttemptStateProto.APP_ATTEMPT_NEW,
  SCHEDULED: YarnApplicationAttemptStateProto.APP_ATTEMPT_SCHEDULED,
  ALLOCATED: YarnApplicationAttemptStateProto.APP_ATTEMPT_ALLOCATED,
  LAUNCHED: YarnApplicationAttemptStateProto.APP_ATTEMPT_LAUNCHED,
  RUNNING: YarnApplicationAttemptStateProto.APP_ATTEMPT_RUNNING,
  FINISHING: YarnApplicationAttemptStateProto.APP_ATTEMPT_FINISHING,
  FINISHED: YarnApplicationAttemptStateProto.APP_ATTEMPT_FINISHED,
  FAILED: YarnApplicationAttemptStateProto.APP_ATTEMPT_FAILED,
  KILLED: YarnApplicationAttemptStateProto.APP_ATTEMPT_KILLED,
}

export function attemptReport(application: RmApplication, attempt: RmAttempt, webUrl: string): AttemptReport {
  const { masterContainer } = attempt
  return {
    applicationAttemptId: attemptIdToProto(attempt.id),
    host: attempt.host,
    rpcPort: attempt.rpcPort,
    trackingUrl: trackingUrl(application, attempt, webUrl),
    diagnostics: attempt.diagnostics === '' ? attempt.launchDiagnostics : attempt.diagnostics,
    yarnApplicationAttemptState: attemptStateToProto[attempt.state],
    amContainerId: masterContainer === undefined ? null : containerIdToProto(masterContainer.id),
    originalTrackingUrl: attempt.originalTrackingUrl,
    startTime: attempt.startTime,
    finishTime: attempt.finishTime,
  }
}

/** Where a browser finds a container's logs on its node. */
export function logsUrl({ id, fields }: RmContainer): string {
  return `http://${fields.nodeHttpAddress}/node/containerlogs/${id}/${fields.user}`
}

export function containerReport(container: RmContainer): ContainerReport {
  const { nodeId, nodeHttpAddress, resource, priority, creationTime } = container.fields
  return {
    containerId: containerIdToProto(container.id),
    resource: resourceToProto(resource),
    nodeId: nodeIdToProto(nodeId),
    priority: { priority },
    creationTime,
    finishTime: container.finishTime,
    logUrl: logsUrl(container),
    containerExitStatus: container.exitStatus,
    containerState: container.state === 'RUNNING' ? ContainerStateProto.C_RUNNING : ContainerStateProto.C_NEW,
    nodeHttpAddress: `http://${nodeHttpAddress}`,
    executionType: ExecutionTypeProto.GUARANTEED,
  }
}
