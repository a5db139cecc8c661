import { hadoop } from '../protocol/messages.ts'

/** What can be asked for. Source: ResourceUtils.getResourcesTypeInfo. */
export const resourceTypes: readonly hadoop.yarn.ResourceTypeInfoProto.$Properties[] = [
  { name: 'memory-mb', units: 'Mi', type: hadoop.yarn.ResourceTypesProto.COUNTABLE },
  { name: 'vcores', units: '', type: hadoop.yarn.ResourceTypesProto.COUNTABLE },
]
