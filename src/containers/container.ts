import type { Clock } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { StateMachine } from '../base/state-machine.ts'
import { ContainerExitStatus } from '../protocol/container-exit-status.ts'
import { applicationOfContainer, type ApplicationId, type ContainerId } from '../protocol/ids.ts'
import type { hadoop } from '../protocol/messages.ts'
import type { Resource } from '../protocol/resource.ts'
import type { ContainerTokenIdentifier } from '../security/container-token.ts'
import { ContainerResources, type ResourceLinks } from './container-resources.ts'
import type { ContainerStateName, ContainerView } from './container-view.ts'
import { Diagnostics } from './diagnostics.ts'
import type { ContainerEffects } from './effects.ts'
import type { ContainerEvent, ContainerPayloads } from './events.ts'
import {
  containerTransitions,
  type ContainerEdges,
  type ContainerOutcome,
  type ContainerSubject,
} from './transitions.ts'

/** What startContainers brings. */
export interface ContainerSpec {
  /** Decoded and checked. */
  readonly token: ContainerTokenIdentifier
  readonly launchContext: hadoop.yarn.ContainerLaunchContextProto.$Properties
  /** The launch context's `tokens`: an HDTS stream; empty when there are none. */
  readonly credentials: Buffer
  /** When the request was accepted, milliseconds. */
  readonly startTime: number
}

export interface ContainerOptions {
  readonly effects: ContainerEffects
  readonly clock: Clock
  readonly log: Log
  /** `yarn.nodemanager.container-diagnostics-maximum-size`, characters. */
  readonly diagnosticsMaxSize: number
}

/** Where a running container can be found. */
export interface ContainerPlace {
  readonly pid: number
  readonly host: string
  readonly ips: readonly string[]
}

/** Makes the containers of one node. */
export type CreateContainer = (spec: ContainerSpec) => Container

export function containerFactory(options: ContainerOptions): CreateContainer {
  return (spec) => new Container(spec, options)
}

/** One container from acceptance to DONE. Source: ContainerImpl. */
export class Container implements ContainerView {
  readonly id: ContainerId
  readonly applicationId: ApplicationId
  readonly spec: ContainerSpec
  readonly #effects: ContainerEffects
  readonly #clock: Clock
  readonly #log: Log
  readonly #machine: StateMachine<ContainerSubject, ContainerPayloads, ContainerEdges>
  readonly #diagnostics: Diagnostics
  readonly #resources = new ContainerResources()
  readonly #counters = { bytesMissed: 0, bytesCached: 0, filesMissed: 0, filesCached: 0, millis: 0 }
  #exitStatus: number = ContainerExitStatus.INVALID
  #place: ContainerPlace | undefined
  #outcome: ContainerOutcome | undefined

  constructor(spec: ContainerSpec, options: ContainerOptions) {
    this.spec = spec
    this.id = spec.token.containerId
    this.applicationId = applicationOfContainer(this.id)
    this.#effects = options.effects
    this.#clock = options.clock
    this.#log = options.log
    this.#diagnostics = new Diagnostics(options.clock, options.diagnosticsMaxSize)
    this.#machine = new StateMachine(containerTransitions, 'NEW', this.#subject(), {
      subject: `Container ${this.id}`,
      log: options.log,
      onTransition: ({ to }) => {
        if (to === 'DONE' && this.#outcome !== undefined) this.#effects.finished(this, this.#outcome)
      },
    })
  }

  get user(): string {
    return this.spec.token.user
  }

  get state(): ContainerStateName {
    return this.#machine.state
  }

  get isDone(): boolean {
    return this.state === 'DONE'
  }

  get exitStatus(): number {
    return this.#exitStatus
  }

  get diagnostics(): string {
    return this.#diagnostics.text
  }

  get resource(): Resource {
    return this.spec.token.resource
  }

  get priority(): number {
    return this.spec.token.priority
  }

  get creationTime(): number {
    return this.spec.token.creationTime
  }

  get nodeLabelExpression(): string {
    return this.spec.token.nodeLabelExpression
  }

  get executionType(): 'GUARANTEED' | 'OPPORTUNISTIC' {
    return this.spec.token.executionType
  }

  get version(): number {
    return this.spec.token.version
  }

  get allocationRequestId(): number {
    return this.spec.token.allocationRequestId
  }

  get allocationTags(): readonly string[] {
    return this.spec.token.allocationTags
  }

  get pid(): number | undefined {
    return this.#place?.pid
  }

  get host(): string | undefined {
    return this.#place?.host
  }

  get ips(): readonly string[] {
    return this.#place?.ips ?? []
  }

  /** What lies where and how it is linked, of the resources that have arrived. */
  get resourceLinks(): readonly ResourceLinks[] {
    return this.#resources.links
  }

  /**
   * `bytesMissed,bytesCached,filesMissed,filesCached,millis`. Without resources the last is the negative start time,
   * as Hadoop leaves it. Source: ContainerImpl.localizationCountersAsString.
   */
  get localizationCounters(): string {
    const { bytesMissed, bytesCached, filesMissed, filesCached, millis } = this.#counters
    return [bytesMissed, bytesCached, filesMissed, filesCached, millis].join(',')
  }

  /** Told by the application once it is ready. */
  init(): void {
    this.send({ type: 'INIT_CONTAINER' })
  }

  /** @param exitStatus one of ContainerExitStatus. A container that has ended already keeps its status. */
  kill(exitStatus: number, diagnostics: string): void {
    this.send({ type: 'KILL_CONTAINER', payload: { exitStatus, diagnostics } })
  }

  /** Called once the launcher has read the pid file. */
  found(place: ContainerPlace): void {
    this.#place = place
  }

  send(event: ContainerEvent): void {
    this.#machine.send(event)
  }

  /** The face of the transition table; not for others, who send events. */
  #subject(): ContainerSubject {
    const setExitStatus = (status: number): void => {
      this.#exitStatus = status
    }
    const exitStatus = (): number => this.#exitStatus
    return {
      get exitStatus() {
        return exitStatus()
      },
      set exitStatus(status) {
        setExitStatus(status)
      },
      addDiagnostics: (text) => this.#addDiagnostics(text),
      initialize: () => this.#initialize(),
      recordLocalized: (localized) => this.#recordLocalized(localized),
      schedule: () => this.#effects.schedule(this),
      cleanUp: () => this.#effects.cleanUp(this),
      release: () => this.#effects.release(this),
      // Others are told when the state is DONE, which it is not before the row has ended.
      finish: (outcome) => {
        this.#outcome = outcome
      },
    }
  }

  #addDiagnostics(text: string): void {
    this.#diagnostics.add(text)
    this.#effects.diagnosticsChanged(this)
  }

  #initialize(): 'LOCALIZING' | 'SCHEDULED' | 'LOCALIZATION_FAILED' {
    this.#counters.millis = -Math.round(this.#clock.monotonicMs())
    try {
      const resources = this.#resources.request(this.spec.launchContext.localResources ?? [])
      if (resources.length === 0) return 'SCHEDULED'
      this.#effects.localize(this, resources)
      this.#log.info(`Container ${this.id} is localizing: [${resources.map(pathOf).join(', ')}]`)
      return 'LOCALIZING'
    } catch (thrown) {
      this.#log.warn({ err: thrown }, `Failed to parse resource-request of ${this.id}`)
      this.#addDiagnostics(`${messageOf(thrown)}\n`)
      return 'LOCALIZATION_FAILED'
    }
  }

  #recordLocalized({ resource, path, sizeBytes }: ContainerPayloads['RESOURCE_LOCALIZED']): number {
    const counters = this.#counters
    if (sizeBytes > 0) {
      counters.bytesMissed += sizeBytes
      counters.filesMissed++
    } else {
      counters.bytesCached -= sizeBytes
      counters.filesCached++
    }
    const pending = this.#resources.localized(resource, path)
    if (pending === 0) counters.millis += Math.round(this.#clock.monotonicMs())
    return pending
  }
}

function pathOf(resource: { readonly resource?: hadoop.yarn.URLProto.$Properties | null }): string {
  return resource.resource?.file ?? ''
}
