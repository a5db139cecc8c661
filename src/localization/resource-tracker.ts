import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { systemCode } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Deletion } from '../deletion/deletion.ts'
import type { ContainerId } from '../protocol/ids.ts'
import { CacheDirectories } from './cache-directories.ts'
import { LocalizedResource, type Reference, type ResourceEffects } from './localized-resource.ts'
import { isReachable } from './reachable.ts'
import type { ResourceRequest } from './resource-request.ts'

/** Source: LocalResourcesTrackerImpl.uniqueNumberGenerator, which begins at 9 and counts before it gives. */
const LAST_ID_BEFORE_FIRST = 9

export interface ResourceTrackerOptions {
  /** Owner of the files; undefined for the public cache. */
  readonly user: string | undefined
  /** Undefined: everything lies in the base itself (APPLICATION). */
  readonly maxFilesPerDirectory: number | undefined
  readonly effects: ResourceEffects
  readonly deletion: Deletion
  /** The local dirs whose files may be read now. */
  readonly readableDirs: () => readonly string[]
  readonly clock: Clock
  readonly log: Log
}

/** Where an entry of a cache will lie: `<base>[/<levels>]/<id>`. */
export interface CacheSlot {
  readonly base: string
  /** Of the levels; empty for none. */
  readonly relative: string
  readonly path: string
}

/** The entries of one cache. Source: LocalResourcesTrackerImpl. */
export class ResourceTracker {
  readonly #options: ResourceTrackerOptions
  readonly #entries = new Map<string, LocalizedResource>()
  readonly #directories = new Map<string, CacheDirectories>()
  readonly #slots = new WeakMap<LocalizedResource, CacheSlot>()
  #lastId = LAST_ID_BEFORE_FIRST

  constructor(options: ResourceTrackerOptions) {
    this.#options = options
  }

  get entries(): Iterable<LocalizedResource> {
    return this.#entries.values()
  }

  /**
   * Adds a reference, which leads to a fetch where the resource is not here.
   * @param isWanted asked after the disk has been looked at: the container may have gone meanwhile
   * @returns the entry, to be released later; undefined when it is not wanted any more
   */
  async request(
    request: ResourceRequest,
    reference: Reference,
    isWanted: () => boolean,
  ): Promise<LocalizedResource | undefined> {
    const known = this.#entries.get(request.identity)
    if (known?.file !== undefined && !(await this.#isPresent(known.file.path)) && this.#isEntry(known)) {
      this.#options.log.info(`Resource ${known.file.path} is missing, localizing it again`)
      this.#remove(known)
    }
    if (!isWanted()) return undefined
    const entry = this.#entries.get(request.identity) ?? this.#add(request)
    entry.send({ type: 'REQUEST', payload: reference })
    return entry
  }

  /** Ends the fetch of what nobody wants any more; a public resource is fetched to its end all the same. */
  release(entry: LocalizedResource, containerId: ContainerId): void {
    if (entry.state === 'FAILED') return
    entry.send({ type: 'RELEASE', payload: containerId })
    if (entry.state !== 'DOWNLOADING' || entry.references.length > 0) return
    if (entry.request.visibility === 'PUBLIC') return
    this.#remove(entry)
    entry.cancelled.abort()
  }

  /** Forgets the entry and tells those who wait for it. */
  fail(entry: LocalizedResource, diagnostics: string): void {
    this.#remove(entry)
    entry.send({ type: 'LOCALIZATION_FAILED', payload: diagnostics })
  }

  /** Ends every fetch and forgets everything; the files are the caller's to remove. */
  clear(): void {
    for (const entry of this.#entries.values()) {
      if (entry.state === 'DOWNLOADING') entry.cancelled.abort()
    }
    this.#entries.clear()
  }

  /** Chooses a new directory for the entry below `base`; one that exists already is left to the deletion service. */
  async allocate(entry: LocalizedResource, base: string): Promise<CacheSlot> {
    const { deletion, log, user } = this.#options
    const relative = this.#directoriesOf(base)?.take() ?? ''
    const parent = join(base, relative)
    for (;;) {
      const path = join(parent, String(++this.#lastId))
      if (await exists(path)) {
        log.warn(`Directory ${path} already exists, try next one.`)
        deletion.schedule(user, [path])
        continue
      }
      const slot = { base, relative, path }
      // An entry that has been cancelled meanwhile gives its place back at once.
      if (this.#isEntry(entry)) this.#slots.set(entry, slot)
      else this.#directoriesOf(base)?.giveBack(relative)
      return slot
    }
  }

  /** Gives what was fetched for an entry that is gone to the deletion service. */
  discard(slot: CacheSlot): void {
    const { deletion, user } = this.#options
    deletion.schedule(user, [slot.path])
  }

  #add(request: ResourceRequest): LocalizedResource {
    const { effects, clock, log } = this.#options
    const entry = new LocalizedResource(request, effects, clock, log)
    this.#entries.set(request.identity, entry)
    return entry
  }

  #isEntry(entry: LocalizedResource): boolean {
    return this.#entries.get(entry.request.identity) === entry
  }

  #remove(entry: LocalizedResource): void {
    if (!this.#isEntry(entry)) return
    this.#entries.delete(entry.request.identity)
    const slot = this.#slots.get(entry)
    if (slot !== undefined) this.#directoriesOf(slot.base)?.giveBack(slot.relative)
  }

  #directoriesOf(base: string): CacheDirectories | undefined {
    const { maxFilesPerDirectory } = this.#options
    if (maxFilesPerDirectory === undefined) return undefined
    let directories = this.#directories.get(base)
    if (directories === undefined) {
      directories = new CacheDirectories(maxFilesPerDirectory)
      this.#directories.set(base, directories)
    }
    return directories
  }

  /** Source: LocalResourcesTrackerImpl.isResourcePresent. */
  async #isPresent(path: string): Promise<boolean> {
    return this.#options.readableDirs().some((dir) => path.startsWith(`${dir}/`)) && (await isReachable(path))
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (thrown) {
    if (systemCode(thrown) === 'ENOENT') return false
    throw thrown
  }
}
