/** The queue tree as a CapacityScheduler would tell it: clients insist on finding their queue. */
import { hadoop } from '../protocol/messages.ts'
import { resourceToProto } from '../protocol/resource.ts'
import { minus, NOTHING } from './amounts.ts'
import type { Applications } from './applications.ts'
import { DEFAULT_QUEUE, ROOT } from './queues.ts'
import type { FifoScheduler } from './scheduler.ts'

type QueueInfo = hadoop.yarn.QueueInfoProto.$Properties
type Statistics = hadoop.yarn.QueueStatisticsProto.$Properties
type UserAcls = hadoop.yarn.QueueUserACLInfoProto.$Properties

const { QueueACLProto, QueueStateProto } = hadoop.yarn

const UNLIMITED = 2147483647

export interface QueueContext {
  readonly applications: Applications
  readonly scheduler: FifoScheduler
  /** Of the applications in the leaf that go on. */
  readonly reports: () => hadoop.yarn.ApplicationReportProto.$Properties[]
}

export interface QueueQuestion {
  readonly name: string
  readonly includesApplications: boolean
  readonly includesChildren: boolean
}

/** Undefined for a queue that does not exist, which is no error. */
export function queueInfo(question: QueueQuestion, context: QueueContext): QueueInfo | undefined {
  const { name, includesApplications, includesChildren } = question
  const isLeaf = name === DEFAULT_QUEUE.name || name === DEFAULT_QUEUE.path
  if (!isLeaf && name !== ROOT) return undefined
  const leaf = {
    ...commonInfo(context),
    queueName: DEFAULT_QUEUE.name,
    queuePath: DEFAULT_QUEUE.path,
    applications: includesApplications ? context.reports() : [],
  }
  if (isLeaf) return leaf
  return { ...commonInfo(context), queueName: ROOT, queuePath: ROOT, childQueues: includesChildren ? [leaf] : [] }
}

/** Nobody is refused: there are no queue ACLs. */
export function queueUserAcls(): UserAcls[] {
  const { QACL_SUBMIT_APPLICATIONS, QACL_ADMINISTER_QUEUE } = QueueACLProto
  return [ROOT, DEFAULT_QUEUE.path].map((queueName) => ({
    queueName,
    userAcls: [QACL_SUBMIT_APPLICATIONS, QACL_ADMINISTER_QUEUE],
  }))
}

function commonInfo({ applications, scheduler }: QueueContext): QueueInfo {
  const total = scheduler.clusterTotal
  const nothing = resourceToProto(NOTHING)
  const all = resourceToProto(total)
  return {
    capacity: 1,
    maximumCapacity: 1,
    currentCapacity: total.memoryMb === 0 ? 0 : scheduler.clusterUsed.memoryMb / total.memoryMb,
    state: QueueStateProto.Q_RUNNING,
    accessibleNodeLabels: ['*'],
    queueStatistics: statistics(applications, scheduler),
    preemptionDisabled: true,
    queueConfigurationsMap: [
      {
        partitionName: '',
        queueConfigurations: {
          capacity: 1,
          absoluteCapacity: 1,
          maxCapacity: 1,
          absoluteMaxCapacity: 1,
          // No share of the queue is kept from ApplicationMasters.
          maxAMPercentage: 1,
          effectiveMinCapacity: all,
          effectiveMaxCapacity: all,
          configuredMinCapacity: nothing,
          configuredMaxCapacity: nothing,
        },
      },
    ],
    intraQueuePreemptionDisabled: true,
    weight: -1,
    maxParallelApps: UNLIMITED,
    schedulerType: 'CapacityScheduler',
  }
}

function statistics(applications: Applications, scheduler: FifoScheduler): Statistics {
  const all = [...applications.all]
  const count = (...states: string[]) => all.filter(({ state }) => states.includes(state)).length
  const used = scheduler.clusterUsed
  const free = minus(scheduler.clusterTotal, used)
  const pending = scheduler.pendingResource
  return {
    numAppsSubmitted: applications.submittedCount,
    numAppsRunning: count('RUNNING'),
    numAppsPending: count('ACCEPTED'),
    numAppsCompleted: count('FINISHED', 'FINISHING'),
    numAppsKilled: count('KILLED'),
    numAppsFailed: count('FAILED'),
    numActiveUsers: new Set(all.filter((application) => !application.isOver).map(({ user }) => user)).size,
    availableMemoryMB: free.memoryMb,
    allocatedMemoryMB: used.memoryMb,
    pendingMemoryMB: pending.memoryMb,
    reservedMemoryMB: 0,
    availableVCores: free.vcores,
    allocatedVCores: used.vcores,
    pendingVCores: pending.vcores,
    reservedVCores: 0,
    allocatedContainers: scheduler.containerCount,
    pendingContainers: scheduler.pendingCount,
    reservedContainers: 0,
  }
}
