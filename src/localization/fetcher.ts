import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { BobbinError, Bug } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { LocalDirs, ReadableDirs } from '../health/local-dirs.ts'
import { makeDirectories } from '../health/make-directories.ts'
import type { ApplicationId } from '../protocol/ids.ts'
import { applicationCache, privateCache, type ApplicationDirectories } from './application-directories.ts'
import { asSerializedException, asThrowable, LocalizationError } from './errors.ts'
import { download } from './fetch/download.ts'
import type { FileSource } from './fetch/file-source.ts'
import type { LocalizedResource } from './localized-resource.ts'
import { FILECACHE, makeNodeDirectories } from './node-directories.ts'
import { isReachable } from './reachable.ts'
import { describeRequest, estimatedBytes } from './resource-request.ts'
import type { CacheSlot, ResourceTracker } from './resource-tracker.ts'
import type { Slots } from './slots.ts'

/** Of the levels between a cache's base and the numbered directories. Source: PUBLIC_FILECACHE_FOLDER_PERMS. */
const LEVEL_MODE = 0o755

export interface FetcherOptions {
  readonly sources: readonly FileSource[]
  readonly directories: ApplicationDirectories
  readonly localDirs: LocalDirs & ReadableDirs
  readonly clock: Clock
  readonly log: Log
}

/** For whom a resource is fetched first. */
export interface Fetch {
  readonly user: string
  readonly applicationId: ApplicationId
  readonly credentials: Buffer
  /** Where it waits for its turn. */
  readonly slots: Slots
}

/** Carries a resource from DOWNLOADING to LOCALIZED or FAILED, unless it is cancelled. */
export class Fetcher {
  readonly #options: FetcherOptions
  readonly #sources: ReadonlyMap<string, FileSource>

  constructor(options: FetcherOptions) {
    this.#options = options
    this.#sources = new Map(options.sources.flatMap((source) => source.schemes.map((scheme) => [scheme, source])))
  }

  /** Never rejects but for a Bug. */
  async fetch(tracker: ResourceTracker, entry: LocalizedResource, fetch: Fetch): Promise<void> {
    const { signal } = entry.cancelled
    try {
      await fetch.slots.run(signal, () => this.#download(tracker, entry, fetch, signal))
    } catch (thrown) {
      if (thrown instanceof Bug) throw thrown
      // Nobody waits for it any more; what has been written is gone.
      if (signal.aborted) return
      this.#options.log.warn({ err: thrown }, `${describeRequest(entry.request)} failed`)
      tracker.fail(entry, diagnosticsOf(entry, thrown))
    }
  }

  async #download(
    tracker: ResourceTracker,
    entry: LocalizedResource,
    fetch: Fetch,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, log } = this.#options
    const { request } = entry
    log.info(`Downloading ${request.visibility.toLowerCase()} resource: ${describeRequest(request)}`)
    const source = this.#sources.get(request.url.scheme)
    if (source === undefined)
      throw new LocalizationError(
        `No FileSystem for scheme "${request.url.scheme}": resource ${request.url.text}`,
        undefined,
        'org.apache.hadoop.fs.UnsupportedFileSystemException',
      )
    const slot = await this.#allocate(tracker, entry, fetch)
    const context = { user: fetch.user, credentials: fetch.credentials, signal }
    const file = await download(request, slot.path, context, { source, clock, log })
    // A cancellation that came after the last look at the signal: the entry is nobody's, and so is the file.
    if (signal.aborted) return tracker.discard(slot)
    entry.send({ type: 'LOCALIZED', payload: file })
  }

  async #allocate(tracker: ResourceTracker, entry: LocalizedResource, fetch: Fetch): Promise<CacheSlot> {
    const { localDirs, directories } = this.#options
    const { visibility } = entry.request
    const relative = cacheOf(entry, fetch)
    const base = await localDirs.localPathForWrite(relative, estimatedBytes(entry.request))
    // It is there since the start, or since the application's; unless somebody has removed it, or the disk is new.
    if (!(await isReachable(base))) {
      const localDir = base.slice(0, -relative.length - 1)
      if (visibility === 'PUBLIC') await makeNodeDirectories(localDir)
      else await directories.makeOn(localDir, fetch.user, fetch.applicationId)
    }
    const slot = await tracker.allocate(entry, base)
    if (slot.relative !== '') await makeDirectories(join(base, slot.relative), LEVEL_MODE)
    return slot
  }
}

function cacheOf({ request: { visibility } }: LocalizedResource, { user, applicationId }: Fetch): string {
  if (visibility === 'PUBLIC') return FILECACHE
  return visibility === 'PRIVATE' ? privateCache(user) : applicationCache(user, applicationId)
}

/** Source: ResourceLocalizationService.PublicLocalizer.run, and SerializedException for the others. */
function diagnosticsOf(entry: LocalizedResource, thrown: unknown): string {
  if (thrown instanceof BobbinError && thrown.code === 'ERR_NO_LOCAL_DIR') return thrown.message
  if (entry.request.visibility !== 'PUBLIC') return asSerializedException(thrown)
  return `Failed to download resource ${entry.toString()} ${asThrowable(thrown)}`
}
