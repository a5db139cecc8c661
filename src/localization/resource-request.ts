import { hadoop, toNumber } from '../protocol/messages.ts'
import type { LocalResource } from './localization.ts'
import { parseResourceUrl, type ResourceUrl } from './resource-url.ts'

const { LocalResourceTypeProto, LocalResourceVisibilityProto } = hadoop.yarn

export type Visibility = 'PUBLIC' | 'PRIVATE' | 'APPLICATION'
export type ResourceType = 'FILE' | 'ARCHIVE' | 'PATTERN'

/** One resource as a container asks for it. Source: LocalResourceRequest. */
export interface ResourceRequest {
  /** Two requests with the same identity share one entry of a cache: url, timestamp, type and pattern. */
  readonly identity: string
  readonly url: ResourceUrl
  /** Modification time of the source, milliseconds. */
  readonly timestamp: number
  readonly type: ResourceType
  readonly visibility: Visibility
  readonly pattern: string | undefined
  /** As the master says; −1 when it does not know. */
  readonly sizeBytes: number
}

/** @throws LocalizationError for a resource that names no usable path */
export function parseResourceRequest(resource: LocalResource, defaultFileSystem: string): ResourceRequest {
  const url = parseResourceUrl(resource.resource, defaultFileSystem)
  const timestamp = toNumber(resource.timestamp, 0)
  const type = typeOf(resource)
  const pattern = resource.pattern ?? undefined
  return {
    identity: JSON.stringify([url.text, timestamp, type, pattern ?? null]),
    url,
    timestamp,
    type,
    visibility: visibilityOf(resource),
    pattern,
    sizeBytes: toNumber(resource.size, -1),
  }
}

/** As it stands in logs and diagnostics. Source: LocalResourceRequest.toString. */
export function describeRequest({ url, timestamp, type, pattern }: ResourceRequest): string {
  return `{ ${url.text}, ${timestamp}, ${type}, ${pattern ?? 'null'} }`
}

/** What the resource will take on the disk; undefined when the master gave no size. Source: ContainerLocalizer.getEstimatedSize. */
export function estimatedBytes({ type, sizeBytes }: ResourceRequest): number | undefined {
  if (sizeBytes < 0) return undefined
  return type === 'FILE' ? sizeBytes : 5 * sizeBytes
}

function typeOf(resource: LocalResource): ResourceType {
  if (resource.type === LocalResourceTypeProto.ARCHIVE) return 'ARCHIVE'
  if (resource.type === LocalResourceTypeProto.PATTERN) return 'PATTERN'
  return 'FILE'
}

/** APPLICATION where it is absent: nobody else sees the file then. */
function visibilityOf(resource: LocalResource): Visibility {
  if (resource.visibility === LocalResourceVisibilityProto.PUBLIC) return 'PUBLIC'
  if (resource.visibility === LocalResourceVisibilityProto.PRIVATE) return 'PRIVATE'
  return 'APPLICATION'
}
