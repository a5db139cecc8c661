/** Arithmetic on memory and vcores. Source: DominantResourceCalculator, without further resource types. */
import type { Resource } from '../protocol/resource.ts'

export const NOTHING: Resource = { memoryMb: 0, vcores: 0 }

export function plus(a: Resource, b: Resource): Resource {
  return { memoryMb: a.memoryMb + b.memoryMb, vcores: a.vcores + b.vcores }
}

export function minus(a: Resource, b: Resource): Resource {
  return { memoryMb: a.memoryMb - b.memoryMb, vcores: a.vcores - b.vcores }
}

export function times(a: Resource, count: number): Resource {
  return { memoryMb: a.memoryMb * count, vcores: a.vcores * count }
}

export function fitsIn(a: Resource, b: Resource): boolean {
  return a.memoryMb <= b.memoryMb && a.vcores <= b.vcores
}

export function componentwiseMin(a: Resource, b: Resource): Resource {
  return { memoryMb: Math.min(a.memoryMb, b.memoryMb), vcores: Math.min(a.vcores, b.vcores) }
}

export function componentwiseMax(a: Resource, b: Resource): Resource {
  return { memoryMb: Math.max(a.memoryMb, b.memoryMb), vcores: Math.max(a.vcores, b.vcores) }
}

/** Each type: at least the minimum and 1, rounded up to a multiple of the minimum, at most the maximum. */
export function normalise(ask: Resource, minimum: Resource, maximum: Resource): Resource {
  const one = (wanted: number, least: number, most: number) => {
    const step = Math.max(1, least)
    return Math.min(Math.ceil(Math.max(wanted, step) / step) * step, most)
  }
  return {
    memoryMb: one(ask.memoryMb, minimum.memoryMb, maximum.memoryMb),
    vcores: one(ask.vcores, minimum.vcores, maximum.vcores),
  }
}
