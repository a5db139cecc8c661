/** Damage to byte streams, repeatable by its seed. */

/** mulberry32: fast, and good enough to choose where to damage. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** In [0, limit). */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new RangeError('nothing to pick from')
    return item
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.alloc(length)
    for (let at = 0; at < length; at++) bytes[at] = this.below(256)
    return bytes
  }
}

/** Values that length fields and varints break on. */
const NASTY = [
  'ffffffff',
  '7fffffff',
  '80000000',
  '00000000',
  '08000000',
  'ffffffffffffffffff01',
  '0c800000',
  '00010000',
]

const damages: readonly ((bytes: Buffer, random: Random) => Buffer)[] = [
  function flipBits(bytes, random) {
    for (let flips = 1 + random.below(8); flips > 0; flips--) {
      const at = random.below(bytes.length)
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8))
    }
    return bytes
  },
  function cut(bytes, random) {
    return bytes.subarray(0, random.below(bytes.length))
  },
  function leaveOut(bytes, random) {
    const from = random.below(bytes.length)
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + 1 + random.below(8))])
  },
  function insert(bytes, random) {
    const at = random.below(bytes.length)
    return Buffer.concat([bytes.subarray(0, at), random.bytes(1 + random.below(16)), bytes.subarray(at)])
  },
  function repeat(bytes, random) {
    const from = random.below(bytes.length)
    const to = from + random.below(bytes.length - from)
    return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)])
  },
  function overwrite(bytes, random) {
    Buffer.from(random.pick(NASTY), 'hex').copy(bytes, random.below(bytes.length))
    return bytes
  },
]

/** Damages a copy, once to three times. */
export function damaged(bytes: Buffer, random: Random): Buffer {
  let changed: Buffer = Buffer.from(bytes)
  for (let times = 1 + random.below(3); times > 0 && changed.length > 0; times--) {
    changed = random.pick(damages)(changed, random)
  }
  return changed
}

/** Cuts a stream into up to six pieces. */
export function pieces(bytes: Buffer, random: Random): Buffer[] {
  const cuts = Array.from({ length: random.below(6) }, () => random.below(bytes.length + 1)).sort((a, b) => a - b)
  return [0, ...cuts].map((from, index) => bytes.subarray(from, cuts[index] ?? bytes.length))
}
