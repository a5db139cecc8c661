import { access } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { BobbinError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Service } from '../base/service.ts'
import type { DirectoriesConfig } from '../config/node-manager-config.ts'
import { DirAllocator, freeBytesOf } from './dir-allocator.ts'
import { DirectoryCollection, type DirFault } from './directory-collection.ts'
import type { LocalDirs, ReadableDirs } from './local-dirs.ts'

export interface LocalDirsHandlerOptions extends Omit<DirectoriesConfig, 'logDirMode'> {
  readonly clock: Clock
  readonly log: Log
  /** In [0, 1); Math.random when absent. */
  readonly random?: () => number
  /** Bytes free below a dir; the file system is asked when absent. */
  readonly freeBytes?: (dir: string) => Promise<number>
}

/** Source: LocalDirsHandlerService.diskCapacityExceededErrorMsg; tools match on it. */
const FULL = 'usable space is below configured utilization percentage/no more usable space'

/** Source: org.apache.hadoop.yarn.server.nodemanager.LocalDirsHandlerService. */
export class LocalDirsHandler implements Service, LocalDirs, ReadableDirs {
  readonly name = 'local-dirs'
  readonly #options: LocalDirsHandlerOptions
  readonly #local: DirectoryCollection
  readonly #logs: DirectoryCollection
  readonly #localAllocator: DirAllocator
  readonly #logAllocator: DirAllocator
  #lastCheckTime = 0

  constructor(options: LocalDirsHandlerOptions) {
    this.#options = options
    this.#local = new DirectoryCollection('local', options.localDirs)
    this.#logs = new DirectoryCollection('log', options.logDirs)
    const { clock, log, random = Math.random, freeBytes = freeBytesOf } = options
    this.#localAllocator = new DirAllocator({ clock, log, random, freeBytes })
    this.#logAllocator = new DirAllocator({ clock, log, random, freeBytes })
  }

  get localDirs(): readonly string[] {
    return this.#local.good
  }

  get logDirs(): readonly string[] {
    return this.#logs.good
  }

  get readableLocalDirs(): readonly string[] {
    return [...this.#local.good, ...this.#local.full]
  }

  get readableLogDirs(): readonly string[] {
    return [...this.#logs.good, ...this.#logs.full]
  }

  /** Milliseconds; 0 before the first check. */
  get lastCheckTime(): number {
    return this.#lastCheckTime
  }

  /**
   * Makes the dirs that are missing. Those that can't be used are left out.
   * @throws BobbinError ERR_NO_USABLE_DIRS when none is left of a list
   */
  async start(): Promise<void> {
    const localFaults = await this.#local.prepare()
    const logFaults = await this.#logs.prepare()
    this.updateDirs(localFaults, logFaults)
    for (const dirs of [this.#local, this.#logs]) {
      if (dirs.good.length > 0) continue
      const reason = dirs.total === 0 ? 'it is empty' : `none can be used:${dirs.describe('error').trimEnd()}`
      throw new BobbinError('ERR_NO_USABLE_DIRS', `yarn.nodemanager.${dirs.kind}-dirs: ${reason}`)
    }
  }

  async stop(): Promise<void> {}

  /** Takes the verdicts of a check: the dirs that are named leave, the others are in use. */
  updateDirs(localFaults: ReadonlyMap<string, DirFault>, logFaults: ReadonlyMap<string, DirFault>): void {
    const { clock, log } = this.#options
    for (const [dir, { message }] of [...localFaults, ...logFaults]) {
      if (!this.localDirs.includes(dir) && !this.logDirs.includes(dir)) continue
      log.warn({ dir }, `Directory ${dir} error, ${message}, removing from list of valid directories`)
    }
    this.#local.update(localFaults)
    this.#logs.update(logFaults)
    this.#lastCheckTime = clock.now()
    if (!this.areDisksHealthy()) log.error(`Most of the disks failed. ${this.report()}`)
  }

  async localPathForWrite(relative: string, sizeBytes?: number): Promise<string> {
    return await this.#localAllocator.allocate(this.localDirs, relative, sizeBytes)
  }

  async logPathForWrite(relative: string): Promise<string> {
    return await this.#logAllocator.allocate(this.logDirs, relative, undefined)
  }

  async findLocal(relative: string): Promise<string | undefined> {
    for (const dir of this.readableLocalDirs) {
      const path = join(dir, relative)
      try {
        await access(path)
        return path
      } catch {
        // It is not in this one; a dir that can't be read doesn't have it either.
      }
    }
    return undefined
  }

  areDisksHealthy(): boolean {
    // Without any dir the quotient is NaN and the node healthy, as in Hadoop.
    return [this.#local, this.#logs].every((dirs) => !(dirs.good.length / dirs.total < this.#options.minHealthyDisks))
  }

  /** The separators are irregular in Hadoop too. Source: LocalDirsHandlerService.getDisksHealthReport. */
  report(): string {
    const parts: string[] = []
    for (const dirs of [this.#local, this.#logs]) {
      const { failed, full, total, kind } = dirs
      if (failed.length > 0) parts.push(`${failed.length}/${total} ${kind}-dirs have errors: ${dirs.describe('error')}`)
      if (full.length === 0) continue
      parts.push(`${full.length}/${total} ${kind}-dirs ${FULL}${dirs.describe('full')}${kind === 'local' ? '; ' : ''}`)
    }
    return parts.join('')
  }
}
