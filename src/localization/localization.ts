import type { ApplicationId, ContainerId } from '../protocol/ids.ts'
import type { hadoop } from '../protocol/messages.ts'

export type LocalResource = hadoop.yarn.LocalResourceProto.$Properties

/** What a container's localization is told of. Source: ContainerImpl's RESOURCE_LOCALIZED and RESOURCE_FAILED. */
export interface LocalizationListener {
  /**
   * @param resource the very object from the request
   * @param path where it lies
   * @param sizeBytes positive: fetched for this container; negative: it was in the cache
   */
  resourceLocalized(resource: LocalResource, path: string, sizeBytes: number): void
  /** @param resource undefined when the localizer itself failed */
  resourceFailed(resource: LocalResource | undefined, diagnostics: string): void
}

export interface LocalizationRequest {
  readonly containerId: ContainerId
  readonly applicationId: ApplicationId
  readonly user: string
  readonly resources: readonly LocalResource[]
  /** The container's HDTS stream, for sources that need tokens. */
  readonly credentials: Buffer
  readonly listener: LocalizationListener
}

/** Source: ResourceLocalizationService. */
export interface Localization {
  /** Makes the user's and the application's directories (usercache/U, appcache/A, the log dir A). */
  initApplication(user: string, applicationId: ApplicationId): Promise<void>
  /** Returns at once; the listener hears of each resource, later and once. */
  localize(request: LocalizationRequest): void
  /**
   * Ends what is being fetched for the container, gives back its references and schedules the deletion of its work
   * dirs and of its nmPrivate files. Resolves when the container may be DONE.
   */
  release(user: string, applicationId: ApplicationId, containerId: ContainerId): Promise<void>
  /** Forgets the application's resources and schedules the deletion of its directories. */
  destroyApplication(user: string, applicationId: ApplicationId): Promise<void>
}
