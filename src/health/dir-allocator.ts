import { constants } from 'node:fs'
import { access, statfs } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { BobbinError, messageOf } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { makeDirectories } from './make-directories.ts'

/** Source: DF's refresh interval, CachingGetSpaceUsed: 30 s. */
const FREE_SPACE_CACHE_MS = 30_000
const DIR_MODE = 0o755

export interface DirAllocatorOptions {
  readonly clock: Clock
  readonly log: Log
  /** In [0, 1). */
  readonly random: () => number
  /** Bytes that this process may still write below a dir; 0 when it may write none. */
  readonly freeBytes: (dir: string) => Promise<number>
}

/**
 * Chooses the dir for a new file. Source: org.apache.hadoop.fs.LocalDirAllocator. An unknown size draws a dir with a
 * chance proportional to its free bytes; a known one goes round with a random step to the first dir that has more.
 */
export class DirAllocator {
  readonly #options: DirAllocatorOptions
  readonly #free = new Map<string, { readonly bytes: number; readonly readAtMs: number }>()
  #dirs: readonly string[] = []
  #next = 0

  constructor(options: DirAllocatorOptions) {
    this.#options = options
  }

  /** @throws BobbinError ERR_NO_LOCAL_DIR */
  async allocate(dirs: readonly string[], relative: string, sizeBytes: number | undefined): Promise<string> {
    const available = await Promise.all(dirs.map((dir) => this.#freeBytes(dir)))
    const index = sizeBytes === undefined ? this.#spinWheel(available) : this.#goRound(dirs, available, sizeBytes)
    const dir = index === undefined ? undefined : dirs[index]
    if (dir !== undefined) return join(dir, relative)
    const names = dirs.map((name) => ` ${name}`).join('')
    // Hadoop has no blank between "host" and the name in the first of the two.
    const text =
      sizeBytes === undefined
        ? `No space available in any of the local directories${names} on host${hostname()}`
        : `Could not find any valid local directory for ${relative} with requested size ${sizeBytes} on host ` +
          `${hostname()} as the max capacity in any directory (${names} ) is ${Math.max(0, ...available)}`
    throw new BobbinError('ERR_NO_LOCAL_DIR', text)
  }

  #spinWheel(available: readonly number[]): number | undefined {
    const total = available.reduce((sum, bytes) => sum + bytes, 0)
    if (total === 0) return undefined
    let position = Math.floor(this.#options.random() * total)
    return available.findIndex((bytes) => {
      if (bytes > 0 && position < bytes) return true
      position -= bytes
      return false
    })
  }

  #goRound(dirs: readonly string[], available: readonly number[], sizeBytes: number): number | undefined {
    const { random } = this.#options
    const count = dirs.length
    if (dirs.length !== this.#dirs.length || dirs.some((dir, i) => dir !== this.#dirs[i])) {
      this.#dirs = [...dirs]
      this.#next = Math.floor(random() * count)
    }
    const start = this.#next
    const step = count > 2 ? 1 + Math.floor(random() * (count - 1)) : 1
    this.#next = (start + step) % count
    for (let searched = 0; searched < count; searched++) {
      const index = (start + searched) % count
      if ((available[index] ?? 0) <= sizeBytes) continue
      this.#next = (this.#next + searched) % count
      return index
    }
    return undefined
  }

  async #freeBytes(dir: string): Promise<number> {
    const { clock, log, freeBytes } = this.#options
    const cached = this.#free.get(dir)
    const nowMs = clock.monotonicMs()
    if (cached !== undefined && nowMs - cached.readAtMs < FREE_SPACE_CACHE_MS) return cached.bytes
    let bytes = 0
    try {
      bytes = await freeBytes(dir)
    } catch (thrown) {
      log.warn({ err: thrown, dir }, `${dir} takes no new files for now: ${messageOf(thrown)}`)
    }
    this.#free.set(dir, { bytes, readAtMs: nowMs })
    return bytes
  }
}

/** Remakes a dir that was removed, as Hadoop does. Rejects when the dir can't be written. */
export async function freeBytesOf(dir: string): Promise<number> {
  await makeDirectories(dir, DIR_MODE)
  await access(dir, constants.W_OK | constants.X_OK)
  const { bavail, bsize } = await statfs(dir)
  return bavail * bsize
}
