import { hadoop, toNumber } from '../protocol/messages.ts'
import type { RmApplication } from './application.ts'
import { shownState } from './application-report.ts'

type Filter = hadoop.yarn.GetApplicationsRequestProto.$Properties

const { ApplicationsRequestScopeProto, YarnApplicationStateProto } = hadoop.yarn

/** Whether getApplications lists it. Without ACLs everybody may view everything. Source: ClientRMService.getApplications. */
export function matchesFilter(application: RmApplication, filter: Filter, asker: string): boolean {
  const { type, tags, name } = application.submission
  const types = (filter.applicationTypes ?? []).map((wanted) => wanted.toLowerCase())
  return (
    isListed(types, type.toLowerCase()) &&
    isListed(filter.applicationStates ?? [], YarnApplicationStateProto[shownState[application.state]]) &&
    isListed(filter.users ?? [], application.user) &&
    isQueueListed(filter.queues ?? [], application.queue) &&
    ((filter.applicationTags ?? []).length === 0 || tags.some((tag) => filter.applicationTags?.includes(tag))) &&
    isBetween(application.startTime, filter.startBegin, filter.startEnd) &&
    isBetween(application.finishTime, filter.finishBegin, filter.finishEnd) &&
    (filter.scope !== ApplicationsRequestScopeProto.OWN || application.user === asker) &&
    (filter.name === null || filter.name === undefined || filter.name === name)
  )
}

/** An empty list means all. */
function isListed<T>(wanted: readonly T[], value: T): boolean {
  return wanted.length === 0 || wanted.includes(value)
}

/** By path or by the leaf's short name. */
function isQueueListed(wanted: readonly string[], path: string): boolean {
  return isListed(wanted, path) || wanted.includes(path.slice(path.lastIndexOf('.') + 1))
}

function isBetween(time: number, begin: Filter['startBegin'], end: Filter['startEnd']): boolean {
  return time >= toNumber(begin, 0) && time <= toNumber(end, Infinity)
}
