import type { Clock } from '../base/clock.ts'
import { Bug, messageOf } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Service } from '../base/service.ts'
import { Tasks } from '../base/tasks.ts'
import type { LocalizationConfig } from '../config/node-manager-config.ts'
import type { OrderedDeletion } from '../deletion/deletion.ts'
import type { LocalDirs, ReadableDirs } from '../health/local-dirs.ts'
import type { ApplicationId, ContainerId } from '../protocol/ids.ts'
import { ApplicationDirectories, type DirectoryMaker } from './application-directories.ts'
import { Fetcher } from './fetcher.ts'
import type { FileSource } from './fetch/file-source.ts'
import { LocalFileSource } from './fetch/local-file-source.ts'
import type { Localization, LocalizationRequest, LocalResource } from './localization.ts'
import type { LocalizedResource, Reference, ResourceEffects } from './localized-resource.ts'
import { prepareNodeDirectories } from './node-directories.ts'
import { parseResourceRequest, type ResourceRequest } from './resource-request.ts'
import { ResourceTracker } from './resource-tracker.ts'
import { Slots } from './slots.ts'

export interface ResourceLocalizationOptions extends LocalizationConfig {
  /** `fs.defaultFS` */
  readonly defaultFileSystem: string
  /** `yarn.nodemanager.default-container-executor.log-dirs.permissions` */
  readonly logDirMode: number
  /** Nothing of an earlier run is wanted: recovery is off, or the state store is new. */
  readonly isFresh: boolean
  readonly localDirs: LocalDirs & ReadableDirs
  readonly deletion: OrderedDeletion
  readonly executor: DirectoryMaker
  readonly clock: Clock
  readonly log: Log
  /** Besides `file:`. */
  readonly sources?: readonly FileSource[]
}

/** Private and application resources of one container that are fetched at a time; Java fetches one after the other. */
const FETCHES_PER_CONTAINER = 4

/** What one container has here, from its first request to its release. */
interface Localizer {
  readonly user: string
  readonly applicationId: ApplicationId
  readonly entries: { readonly tracker: ResourceTracker; readonly entry: LocalizedResource }[]
  readonly slots: Slots
  isReleased: boolean
}

interface Application {
  readonly user: string
  readonly tracker: ResourceTracker
}

/**
 * Brings files to the node before a launch, each once however many containers want it.
 * Source: org.apache.hadoop.yarn.server.nodemanager.containermanager.localizer.ResourceLocalizationService.
 */
export class ResourceLocalizationService implements Localization, Service {
  readonly name = 'localization'
  readonly #options: ResourceLocalizationOptions
  readonly #directories: ApplicationDirectories
  readonly #fetcher: Fetcher
  readonly #tasks: Tasks
  readonly #publicSlots: Slots
  readonly #publicTracker: ResourceTracker
  readonly #privateTrackers = new Map<string, ResourceTracker>()
  readonly #applications = new Map<ApplicationId, Application>()
  readonly #localizers = new Map<ContainerId, Localizer>()
  #isStopped = false

  constructor(options: ResourceLocalizationOptions) {
    this.#options = options
    const { sources = [], ...rest } = options
    this.#directories = new ApplicationDirectories(rest)
    this.#fetcher = new Fetcher({
      ...rest,
      directories: this.#directories,
      sources: [new LocalFileSource(), ...sources],
    })
    this.#tasks = new Tasks(options.log)
    this.#publicSlots = new Slots(options.fetchThreads)
    this.#publicTracker = this.#makeTracker(undefined, true)
  }

  /** @throws the system's error when the dirs can't be made */
  async start(): Promise<void> {
    await prepareNodeDirectories(this.#options)
  }

  /** Ends every fetch; nobody hears of it. */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const localizer of this.#localizers.values()) localizer.isReleased = true
    this.#publicTracker.clear()
    for (const tracker of this.#privateTrackers.values()) tracker.clear()
    for (const { tracker } of this.#applications.values()) tracker.clear()
    await this.#tasks.idle()
  }

  async initApplication(user: string, applicationId: ApplicationId): Promise<void> {
    await this.#directories.make(user, applicationId)
    if (!this.#privateTrackers.has(user)) this.#privateTrackers.set(user, this.#makeTracker(user, true))
    if (this.#applications.has(applicationId)) return
    this.#applications.set(applicationId, { user, tracker: this.#makeTracker(user, false) })
  }

  localize(request: LocalizationRequest): void {
    this.#tasks.run(`localizing for ${request.containerId}`, () => this.#localize(request))
  }

  async release(user: string, applicationId: ApplicationId, containerId: ContainerId): Promise<void> {
    const localizer = this.#localizers.get(containerId)
    this.#localizers.delete(containerId)
    if (localizer !== undefined) {
      localizer.isReleased = true
      for (const { tracker, entry } of localizer.entries) tracker.release(entry, containerId)
    }
    await this.#directories.retireContainer(user, applicationId, containerId)
  }

  async destroyApplication(user: string, applicationId: ApplicationId): Promise<void> {
    const application = this.#applications.get(applicationId)
    if (application === undefined) this.#options.log.warn(`Removing uninitialized application ${applicationId}`)
    this.#applications.delete(applicationId)
    application?.tracker.clear()
    await this.#directories.retireApplication(user, applicationId)
  }

  async #localize(request: LocalizationRequest): Promise<void> {
    const { containerId, listener, resources } = request
    const wanted: { resource: LocalResource; parsed: ResourceRequest }[] = []
    for (const resource of resources) {
      try {
        wanted.push({ resource, parsed: parseResourceRequest(resource, this.#options.defaultFileSystem) })
      } catch (thrown) {
        this.#tell(containerId, () => listener.resourceFailed(resource, messageOf(thrown)))
      }
    }
    if (wanted.length === 0) return
    if (!this.#applications.has(request.applicationId)) {
      const text = `${request.applicationId} is not initialized on this node, or has finished`
      return this.#tell(containerId, () => listener.resourceFailed(undefined, text))
    }
    const { localDirs } = this.#options
    if (!localDirs.areDisksHealthy() && wanted.some(({ parsed }) => parsed.visibility !== 'PUBLIC'))
      return this.#tell(containerId, () =>
        listener.resourceFailed(undefined, `All disks failed. ${localDirs.report()}`),
      )
    const localizer = this.#localizerOf(request)
    await Promise.all(wanted.map(({ resource, parsed }) => this.#request(request, localizer, resource, parsed)))
  }

  async #request(
    { containerId, listener, credentials }: LocalizationRequest,
    localizer: Localizer,
    resource: LocalResource,
    parsed: ResourceRequest,
  ): Promise<void> {
    const tracker = this.#trackerOf(parsed, localizer)
    if (tracker === undefined) return
    const reference: Reference = { containerId, resource, sizeBytes: parsed.sizeBytes, listener, credentials }
    const entry = await tracker.request(parsed, reference, () => !localizer.isReleased && !this.#isStopped)
    if (entry !== undefined) localizer.entries.push({ tracker, entry })
  }

  #localizerOf({ containerId, user, applicationId }: LocalizationRequest): Localizer {
    const known = this.#localizers.get(containerId)
    if (known !== undefined) return known
    this.#options.log.debug(`Created localizer for ${containerId}`)
    const slots = new Slots(FETCHES_PER_CONTAINER)
    const localizer = { user, applicationId, entries: [], slots, isReleased: false }
    this.#localizers.set(containerId, localizer)
    return localizer
  }

  /** Undefined when the application has been destroyed meanwhile. */
  #trackerOf({ visibility }: ResourceRequest, { user, applicationId }: Localizer): ResourceTracker | undefined {
    if (visibility === 'PUBLIC') return this.#publicTracker
    if (visibility === 'PRIVATE') return this.#privateTrackers.get(user)
    return this.#applications.get(applicationId)?.tracker
  }

  #makeTracker(user: string | undefined, hasLevels: boolean): ResourceTracker {
    const { localDirs, maxFilesPerDirectory, deletion, clock, log } = this.#options
    const effects: ResourceEffects = {
      fetch: (entry, first) => this.#fetch(tracker, entry, first),
      localized: ({ containerId, listener, resource }, { path, sizeBytes }, wasCached) =>
        this.#tell(containerId, () =>
          // 0 − n, for −0 would be neither.
          listener.resourceLocalized(resource, path, wasCached ? 0 - sizeBytes : sizeBytes),
        ),
      failed: ({ containerId, listener, resource }, diagnostics) =>
        this.#tell(containerId, () => listener.resourceFailed(resource, diagnostics)),
    }
    const tracker: ResourceTracker = new ResourceTracker({
      user,
      maxFilesPerDirectory: hasLevels ? maxFilesPerDirectory : undefined,
      effects,
      deletion,
      readableDirs: () => localDirs.readableLocalDirs,
      clock,
      log,
    })
    return tracker
  }

  #fetch(tracker: ResourceTracker, entry: LocalizedResource, first: Reference): void {
    const localizer = this.#localizers.get(first.containerId)
    if (localizer === undefined) throw new Bug(`${first.containerId} wants a resource and has no localizer`)
    const isPublic = entry.request.visibility === 'PUBLIC'
    const slots = isPublic ? this.#publicSlots : localizer.slots
    this.#tasks.run(`fetching ${entry.request.url.text}`, async () => {
      await this.#fetcher.fetch(tracker, entry, { ...localizer, credentials: first.credentials, slots })
    })
  }

  /** In a later turn, for a listener may call back; one that throws must not keep the others from hearing. */
  #tell(containerId: ContainerId, call: () => void): void {
    this.#tasks.run(`telling ${containerId} of its resources`, async () => {
      await Promise.resolve()
      call()
    })
  }
}
