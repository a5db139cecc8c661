/** The one leaf queue under the root, as a CapacityScheduler with its shipped configuration has it. */

export const ROOT = 'root'
export const DEFAULT_QUEUE = { name: 'default', path: 'root.default' } as const

export type QueueLookup =
  | { readonly kind: 'leaf'; readonly path: string }
  | { readonly kind: 'parent' }
  | { readonly kind: 'unknown' }

/** Finds a queue by its short name or its full path. */
export function queuePath(name: string): QueueLookup {
  if (name === DEFAULT_QUEUE.name || name === DEFAULT_QUEUE.path) return { kind: 'leaf', path: DEFAULT_QUEUE.path }
  return { kind: name === ROOT ? 'parent' : 'unknown' }
}
