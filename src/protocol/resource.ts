/** Amounts of a node or container. Source: Resource and ResourcePBImpl of hadoop-yarn-api. */
import { hadoop, toNumber } from './messages.ts'

type ResourceProto = hadoop.yarn.ResourceProto.$Properties

/** Memory in MB and virtual cores; other resource types (`yarn.io/gpu`) by name, in their own unit. */
export interface Resource {
  readonly memoryMb: number
  readonly vcores: number
  readonly others?: { readonly [name: string]: { readonly units: string; readonly value: number } }
}

const MEMORY = 'memory-mb'
const VCORES = 'vcores'

/** Accepts messages without the map, as older writers and hand-made tokens send them; the map wins where both are. */
export function resourceFromProto(proto: ResourceProto | null | undefined): Resource {
  let memoryMb = toNumber(proto?.memory, 0)
  let vcores = proto?.virtualCores ?? 0
  const others: Record<string, { units: string; value: number }> = {}
  for (const entry of proto?.resourceValueMap ?? []) {
    const value = toNumber(entry.value, 0)
    if (entry.key === MEMORY) memoryMb = value
    else if (entry.key === VCORES) vcores = value
    else others[entry.key] = { units: entry.units ?? '', value }
  }
  return Object.keys(others).length === 0 ? { memoryMb, vcores } : { memoryMb, vcores, others }
}

/** As Java writes it: both plain fields, then the map with memory and vcores first. Zeroes are written. */
export function resourceToProto(resource: Resource): ResourceProto {
  const COUNTABLE = hadoop.yarn.ResourceTypesProto.COUNTABLE
  return {
    memory: resource.memoryMb,
    virtualCores: resource.vcores,
    resourceValueMap: [
      { key: MEMORY, value: resource.memoryMb, units: 'Mi', type: COUNTABLE },
      { key: VCORES, value: resource.vcores, units: '', type: COUNTABLE },
      ...Object.entries(resource.others ?? {}).map(([key, { units, value }]) => ({
        key,
        value,
        units,
        type: COUNTABLE,
      })),
    ],
  }
}

/** `<memory:8192, vCores:8>`, with other types behind, as Java's Resource.toString. */
export function resourceText(resource: Resource): string {
  const others = Object.entries(resource.others ?? {}).map(([name, { units, value }]) => `, ${name}: ${value}${units}`)
  return `<memory:${resource.memoryMb}, vCores:${resource.vcores}${others.join('')}>`
}
