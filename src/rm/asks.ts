import { Bug } from '../base/errors.ts'
import { plus, times, NOTHING } from './amounts.ts'
import type { Resource } from '../protocol/resource.ts'

/** The resource name that means any node. Source: ResourceRequest.ANY. */
export const ANY = '*'

/** One ResourceRequest, checked and with its size normalised. */
export interface Ask {
  readonly priority: number
  readonly allocationRequestId: number
  /** A host, a rack, or `*`. */
  readonly resourceName: string
  readonly capability: Resource
  /** Still wanted in all, not in addition; 0 takes the ask away. */
  readonly count: number
  readonly relaxLocality: boolean
}

/** What is asked under one (priority, allocation request id). */
export interface AskKey {
  readonly priority: number
  readonly allocationRequestId: number
  /** Of the latest ask of this key. */
  readonly capability: Resource
}

export type Locality = 'host' | 'rack' | 'any'

interface Entry {
  count: number
  readonly relaxLocality: boolean
}

interface Row {
  key: AskKey
  readonly entries: Map<string, Entry>
}

/**
 * What one ApplicationMaster still wants. The count on `*` is the total; without it nothing is ever served, whatever is
 * asked by host. Source: AppSchedulingInfo, LocalityAppPlacementAllocator.
 */
export class AskTable {
  readonly #rows = new Map<string, Row>()

  /** Each ask replaces the earlier one with the same key and resource name. */
  update(asks: readonly Ask[]): void {
    for (const ask of asks) this.#set(ask)
  }

  /** Keys with something left to serve: lower priority number first, then lower allocation request id. */
  pending(): AskKey[] {
    return [...this.#rows.values()]
      .filter((row) => wanted(row) > 0)
      .map((row) => row.key)
      .sort((a, b) => a.priority - b.priority || a.allocationRequestId - b.allocationRequestId)
  }

  get pendingCount(): number {
    return [...this.#rows.values()].reduce((sum, row) => sum + wanted(row), 0)
  }

  get pendingResource(): Resource {
    return [...this.#rows.values()].reduce((sum, row) => plus(sum, times(row.key.capability, wanted(row))), NOTHING)
  }

  wantedOf(key: AskKey): number {
    const row = this.#rows.get(nameOf(key))
    return row === undefined ? 0 : wanted(row)
  }

  /** How near to what is asked a node would be; undefined when the asks do not allow it. */
  localityOf(key: AskKey, host: string, rack: string): Locality | undefined {
    const entries = this.#rows.get(nameOf(key))?.entries
    if ((entries?.get(host)?.count ?? 0) > 0) return 'host'
    const onRack = entries?.get(rack)
    if (onRack !== undefined && onRack.count > 0 && onRack.relaxLocality) return 'rack'
    return entries?.get(ANY)?.relaxLocality === true ? 'any' : undefined
  }

  /**
   * Counts one container as served: on a host its host, rack and `*`; on a rack the rack and `*`; else `*`.
   * @returns the entries that went down, for `restore`
   */
  served(key: AskKey, names: readonly string[]): Ask[] {
    const row = this.#rows.get(nameOf(key))
    if (row === undefined) throw new Bug(`no asks of priority ${key.priority}, id ${key.allocationRequestId}`)
    const served: Ask[] = []
    for (const resourceName of names) {
      const entry = row.entries.get(resourceName)
      if (entry === undefined) continue
      served.push({ ...row.key, resourceName, count: 1, relaxLocality: entry.relaxLocality })
      this.#set({ ...row.key, resourceName, count: entry.count - 1, relaxLocality: entry.relaxLocality })
    }
    return served
  }

  /** Takes back one `served`: the container was lost before its master knew of it. */
  restore(served: readonly Ask[]): void {
    for (const ask of served) {
      const count = this.#rows.get(nameOf(ask))?.entries.get(ask.resourceName)?.count ?? 0
      this.#set({ ...ask, count: count + 1 })
    }
  }

  #set(ask: Ask): void {
    const name = nameOf(ask)
    const key = { priority: ask.priority, allocationRequestId: ask.allocationRequestId, capability: ask.capability }
    const row = this.#rows.get(name) ?? { key, entries: new Map<string, Entry>() }
    if (ask.count <= 0) row.entries.delete(ask.resourceName)
    else {
      row.key = key
      row.entries.set(ask.resourceName, { count: ask.count, relaxLocality: ask.relaxLocality })
    }
    if (row.entries.size === 0) this.#rows.delete(name)
    else this.#rows.set(name, row)
  }
}

function wanted(row: Row): number {
  return row.entries.get(ANY)?.count ?? 0
}

function nameOf(key: { readonly priority: number; readonly allocationRequestId: number }): string {
  return `${key.priority}/${key.allocationRequestId}`
}
