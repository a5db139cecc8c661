import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { StateMachine, type EventOf, type Table } from '../base/state-machine.ts'
import type { ContainerId } from '../protocol/ids.ts'
import type { LocalizationListener, LocalResource } from './localization.ts'
import { describeRequest, type ResourceRequest } from './resource-request.ts'

/** A container's wish for the resource: the object that its listener hears of, and the size that its master gave. */
export interface Reference {
  readonly containerId: ContainerId
  readonly resource: LocalResource
  readonly sizeBytes: number
  readonly listener: LocalizationListener
  /** Of the container; those of the first reference open the source. */
  readonly credentials: Buffer
}

/** A resource that lies on the disk. */
export interface LocalizedFile {
  readonly path: string
  /** Of all its files. */
  readonly sizeBytes: number
  /** Length of the source where that is what lies here (type FILE); undefined for what was unpacked or is a tree. */
  readonly sourceBytes: number | undefined
}

export type ResourceEvents = {
  readonly REQUEST: Reference
  /** Of a container; it counts no longer, whether it has heard of the resource or not. */
  readonly RELEASE: ContainerId
  readonly LOCALIZED: LocalizedFile
  readonly LOCALIZATION_FAILED: string
  /** From the state store: it lies on the disk and nobody uses it. */
  readonly RECOVERED: LocalizedFile
}

export type ResourceEdges = {
  readonly INIT: { readonly REQUEST: 'DOWNLOADING'; readonly RECOVERED: 'LOCALIZED' }
  readonly DOWNLOADING: {
    readonly REQUEST: 'DOWNLOADING'
    readonly RELEASE: 'DOWNLOADING'
    readonly LOCALIZED: 'LOCALIZED'
    readonly LOCALIZATION_FAILED: 'FAILED'
  }
  readonly LOCALIZED: { readonly REQUEST: 'LOCALIZED'; readonly RELEASE: 'LOCALIZED' }
  readonly FAILED: {}
}

/** Calls that return at once. */
export interface ResourceEffects {
  /** Ends in LOCALIZED or LOCALIZATION_FAILED, later. Called once. */
  fetch(resource: LocalizedResource, first: Reference): void
  /** Tells the container's listener, after the event has been handled. */
  localized(reference: Reference, file: LocalizedFile, wasCached: boolean): void
  failed(reference: Reference, diagnostics: string): void
}

/** Source: LocalizedResource.stateMachineFactory. A second request while it is fetched waits for the same fetch. */
const resourceTransitions: Table<LocalizedResource, ResourceEvents, ResourceEdges> = {
  INIT: {
    REQUEST: (resource, reference) => {
      resource.references.push(reference)
      resource.effects.fetch(resource, reference)
      return 'DOWNLOADING'
    },
    RECOVERED: (resource, file) => {
      resource.file = file
      return 'LOCALIZED'
    },
  },
  DOWNLOADING: {
    REQUEST: (resource, reference) => {
      resource.references.push(reference)
      return 'DOWNLOADING'
    },
    RELEASE: (resource, containerId) => {
      resource.dropReferences(containerId)
      return 'DOWNLOADING'
    },
    LOCALIZED: (resource, file) => {
      resource.file = file
      for (const reference of resource.references) resource.answer(reference, file, false)
      return 'LOCALIZED'
    },
    LOCALIZATION_FAILED: (resource, diagnostics) => {
      for (const reference of resource.references) resource.effects.failed(reference, diagnostics)
      return 'FAILED'
    },
  },
  LOCALIZED: {
    REQUEST: (resource, reference) => {
      resource.references.push(reference)
      if (resource.file !== undefined) resource.answer(reference, resource.file, true)
      return 'LOCALIZED'
    },
    RELEASE: (resource, containerId) => {
      resource.dropReferences(containerId)
      return 'LOCALIZED'
    },
  },
  FAILED: {},
}

/** One entry of a cache. Source: org.apache.hadoop.yarn.server.nodemanager.containermanager.localizer.LocalizedResource. */
export class LocalizedResource {
  readonly request: ResourceRequest
  readonly effects: ResourceEffects
  /** One for each wish: a container that wants the resource under two names has two. */
  references: Reference[] = []
  /** Set from LOCALIZED on. */
  file: LocalizedFile | undefined
  /** Ends the fetch. */
  readonly cancelled = new AbortController()
  readonly #machine: StateMachine<LocalizedResource, ResourceEvents, ResourceEdges>
  readonly #clock: Clock
  /** Monotonic: when it was made or last given back. */
  #lastUsedMs: number

  constructor(request: ResourceRequest, effects: ResourceEffects, clock: Clock, log: Log) {
    this.request = request
    this.effects = effects
    this.#clock = clock
    this.#lastUsedMs = clock.monotonicMs()
    this.#machine = new StateMachine(resourceTransitions, 'INIT', this, {
      subject: `Resource ${request.url.text}`,
      log,
    })
  }

  get state(): keyof ResourceEdges {
    return this.#machine.state
  }

  send(event: EventOf<ResourceEvents>): void {
    this.#machine.send(event)
  }

  dropReferences(containerId: ContainerId): void {
    this.references = this.references.filter((reference) => reference.containerId !== containerId)
    this.#lastUsedMs = this.#clock.monotonicMs()
  }

  /** A master that gave another size than the source has is refused, however the resource came here. */
  answer(reference: Reference, file: LocalizedFile, wasCached: boolean): void {
    const { sizeBytes } = reference
    if (file.sourceBytes === undefined || sizeBytes <= 0 || sizeBytes === file.sourceBytes)
      this.effects.localized(reference, file, wasCached)
    else
      this.effects.failed(
        reference,
        `Resource ${this.request.url.text} has another size on src filesystem - expected: ${sizeBytes}, ` +
          `was: ${file.sourceBytes} bytes`,
      )
  }

  /** Source: LocalizedResource.toString; it is part of the diagnostics of a public resource. */
  toString(): string {
    const where = this.file === undefined ? 'pending' : `${this.file.path},${this.file.sizeBytes}`
    const containers = [...new Set(this.references.map((reference) => reference.containerId))]
    const nanoseconds = Math.round(this.#lastUsedMs * 1e6)
    return (
      `{ ${describeRequest(this.request)},${where},[${containers.map((id) => `(${id})`).join('')}],` +
      `${nanoseconds},${this.state}}`
    )
  }
}
