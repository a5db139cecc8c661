import { messageOf } from '../base/errors.ts'
import { applicationIdFromProto, parseApplicationId, type ApplicationId } from '../protocol/ids.ts'
import { hadoop, toNumber } from '../protocol/messages.ts'
import { JavaClass, RemoteError } from '../protocol/remote-error.ts'
import { resourceFromProto, type Resource } from '../protocol/resource.ts'
import { normalise } from './amounts.ts'
import { ANY, type Ask } from './asks.ts'
import { checkAsk, labelsNotEnabled, noResourcesRequested, type AllocationLimits } from './errors.ts'

/** How the ApplicationMaster is to be started, as the client sent it. */
export type LaunchContext = hadoop.yarn.ContainerLaunchContextProto.$Properties
type SubmissionProto = hadoop.yarn.ApplicationSubmissionContextProto.$Properties

/** What a client has submitted, checked. Source: ApplicationSubmissionContext, RMAppManager. */
export interface Submission {
  readonly id: ApplicationId
  readonly user: string
  readonly name: string
  /** As submitted: a short name or a path. */
  readonly queue: string
  readonly type: string
  readonly tags: readonly string[]
  readonly isUnmanaged: boolean
  /** 0: the cluster's. */
  readonly maxAttempts: number
  readonly keepsContainers: boolean
  /** Failures older than this do not count; −1: all count. Milliseconds. */
  readonly failuresValidityMs: number
  /** For the ApplicationMaster's container; of an unmanaged one empty. */
  readonly masterAsks: readonly Ask[]
  readonly logAggregationContext: hadoop.yarn.LogAggregationContextProto.$Properties | undefined
  /** From submission; undefined: no limit. */
  readonly lifetimeMs: number | undefined
}

export interface SubmissionLimits extends AllocationLimits {
  readonly minimum: Resource
}

// Source: RMAppManager, YarnConfiguration.
const MAX_TYPE_LENGTH = 20
const MAX_TAGS = 10
const MAX_TAG_LENGTH = 100

/** @throws RemoteError what the client did wrong */
export function parseSubmission(proto: SubmissionProto, user: string, limits: SubmissionLimits): Submission {
  checkTags(proto.applicationTags ?? [])
  if ((proto.nodeLabelExpression ?? '').trim() !== '') throw labelsNotEnabled()
  const isUnmanaged = proto.unmanagedAm ?? false
  const lifetime = proto.applicationTimeouts?.find(
    (entry) => entry.applicationTimeoutType === hadoop.yarn.ApplicationTimeoutTypeProto.APP_TIMEOUT_LIFETIME,
  )
  return {
    id: checkedId(proto.applicationId),
    user,
    name: proto.applicationName ?? 'N/A',
    queue: proto.queue ?? 'default',
    type: (proto.applicationType ?? 'YARN').slice(0, MAX_TYPE_LENGTH),
    tags: proto.applicationTags ?? [],
    isUnmanaged,
    maxAttempts: Math.max(0, proto.maxAppAttempts ?? 0),
    keepsContainers: proto.keepContainersAcrossApplicationAttempts ?? false,
    failuresValidityMs: toNumber(proto.attemptFailuresValidityInterval, -1),
    masterAsks: isUnmanaged ? [] : masterAsks(proto, limits),
    logAggregationContext: proto.logAggregationContext ?? undefined,
    lifetimeMs: lifetime === undefined ? undefined : lifetimeMs(lifetime),
  }
}

/** Any id may be submitted, as long as it is one: later answers name it. */
function checkedId(proto: SubmissionProto['applicationId']): ApplicationId {
  const text = applicationIdFromProto(proto)
  try {
    return parseApplicationId(text)
  } catch (thrown) {
    throw new RemoteError(JavaClass.YARN, messageOf(thrown), thrown)
  }
}

/** The requests that clients of 3.x send, or the plain size of older ones. Size, count and priority are forced on all. */
function masterAsks(proto: SubmissionProto, limits: SubmissionLimits): Ask[] {
  const requests = proto.amContainerResourceRequest ?? []
  if (requests.length === 0) {
    if (proto.resource === null || proto.resource === undefined) throw noResourcesRequested()
    return [masterAsk(ANY, true, resourceFromProto(proto.resource), limits)]
  }
  const anywhere = requests.filter((request) => request.resourceName === ANY)
  const [any] = anywhere
  if (any === undefined || anywhere.length > 1)
    throw new RemoteError(
      JavaClass.INVALID_RESOURCE_REQUEST,
      any === undefined
        ? 'Invalid resource request, no resource request specified with *'
        : 'Invalid resource request, only one resource request with * is allowed',
    )
  if (requests.some((request) => (request.nodeLabelExpression ?? '').trim() !== '')) throw labelsNotEnabled()
  if (any.capability === null || any.capability === undefined) throw noResourcesRequested()
  const size = resourceFromProto(any.capability)
  return requests.map((request) => masterAsk(request.resourceName ?? ANY, request.relaxLocality ?? true, size, limits))
}

function masterAsk(resourceName: string, relaxLocality: boolean, size: Resource, limits: SubmissionLimits): Ask {
  checkAsk(size, limits)
  const capability = normalise(size, limits.minimum, limits.maximum)
  return { priority: 0, allocationRequestId: -1, resourceName, capability, count: 1, relaxLocality }
}

function lifetimeMs(entry: hadoop.yarn.ApplicationTimeoutMapProto.$Properties): number {
  const seconds = toNumber(entry.timeout, 0)
  if (seconds <= 0)
    throw new RemoteError(
      JavaClass.YARN,
      `Invalid application timeout, value=${seconds} for type=LIFETIME: it must be a positive number of seconds`,
    )
  return seconds * 1000
}

/** Java's client checks the same; the texts are its own. Source: ApplicationSubmissionContextPBImpl.checkTags. */
function checkTags(tags: readonly string[]): void {
  const refuse = (text: string) => new RemoteError(JavaClass.YARN, `${JavaClass.ILLEGAL_ARGUMENT}: ${text}`)
  if (tags.length > MAX_TAGS) throw refuse(`Too many applicationTags, a maximum of only ${MAX_TAGS} are allowed!`)
  for (const tag of tags) {
    if (tag.length > MAX_TAG_LENGTH)
      throw refuse(`Tag ${tag} is too long, maximum allowed length of a tag is ${MAX_TAG_LENGTH}`)
    if (!/^[\x20-\x7e]*$/.test(tag)) throw refuse('A tag can only have ASCII characters! Invalid tag - ' + tag)
  }
}
