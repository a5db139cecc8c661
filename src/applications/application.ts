import { asError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { StateMachine } from '../base/state-machine.ts'
import type { Tasks } from '../base/tasks.ts'
import type { Localization } from '../localization/localization.ts'
import type { ApplicationId, ContainerId } from '../protocol/ids.ts'
import type { NodeStateStore } from '../recovery/store.ts'
import type { ApplicationStateName, ApplicationView } from './application-view.ts'
import type { ApplicationEvent, ApplicationPayloads } from './events.ts'
import type { ApplicationRecord, LogHandling } from './log-handling.ts'
import {
  applicationTransitions,
  type ApplicationContainer,
  type ApplicationEdges,
  type ApplicationSubject,
} from './transitions.ts'

export interface ApplicationSpec {
  readonly id: ApplicationId
  readonly user: string
  /** As it was stored when the application was accepted. */
  readonly record: ApplicationRecord
}

export interface ApplicationOptions {
  readonly localization: Pick<Localization, 'initApplication' | 'destroyApplication'>
  readonly logHandling: LogHandling
  readonly store: Pick<NodeStateStore, 'storeApplication' | 'removeApplication'>
  readonly tasks: Tasks
  readonly log: Log
  /** APPLICATION_STOP of the auxiliary services: the last container is done. */
  readonly onApplicationStopped: (id: ApplicationId) => void
  /** The application is FINISHED: nobody waits for it any more, though it stays to be seen as long as its logs. */
  readonly onApplicationFinished: (application: Application) => void
  /** The application is FINISHED and its logs are dealt with: take it out of the table. Called once. */
  readonly onApplicationGone: (application: Application) => void
}

/** Makes the applications of one node. */
export type CreateApplication = (spec: ApplicationSpec) => Application

export function applicationFactory(options: ApplicationOptions): CreateApplication {
  return (spec) => new Application(spec, options)
}

/** One application from its first container here until its logs are dealt with. Source: ApplicationImpl. */
export class Application implements ApplicationView {
  readonly id: ApplicationId
  readonly user: string
  readonly #options: ApplicationOptions
  readonly #machine: StateMachine<ApplicationSubject, ApplicationPayloads, ApplicationEdges>
  readonly #containers = new Map<ContainerId, ApplicationContainer>()
  #record: ApplicationRecord

  constructor(spec: ApplicationSpec, options: ApplicationOptions) {
    this.id = spec.id
    this.user = spec.user
    this.#record = spec.record
    this.#options = options
    this.#machine = new StateMachine(applicationTransitions, 'NEW', this.#subject(), {
      subject: `Application ${spec.id}`,
      log: options.log,
      onTransition: ({ to }) => {
        if (to === 'FINISHED') options.onApplicationFinished(this)
      },
    })
  }

  get state(): ApplicationStateName {
    return this.#machine.state
  }

  get containerIds(): readonly ContainerId[] {
    return [...this.#containers.keys()]
  }

  /** Once, after the record has been stored. */
  init(): void {
    this.send({ type: 'INIT_APPLICATION' })
  }

  /** The container begins when the application is ready, and ends at once when the application is finishing. */
  addContainer(container: ApplicationContainer): void {
    this.#options.log.info(`Adding ${container.id} to application ${this.id}`)
    this.send({ type: 'INIT_CONTAINER', payload: { container } })
  }

  /** To be called for each of its containers that is DONE. */
  containerDone(id: ContainerId): void {
    this.send({ type: 'APPLICATION_CONTAINER_FINISHED', payload: { id } })
  }

  /** @param reason `Application killed by ResourceManager` or `Application killed on shutdown` */
  finish(reason: string): void {
    this.send({ type: 'FINISH_APPLICATION', payload: { reason } })
  }

  send(event: ApplicationEvent): void {
    this.#machine.send(event)
  }

  #subject(): ApplicationSubject {
    return {
      containers: this.#containers,
      startLogHandling: () => this.#run('log handling', () => this.#startLogHandling()),
      logHandlingStarted: (time) => {
        this.#record = { ...this.#record, appLogAggregationInitedTime: time }
        this.#run('storing the log time', () => this.#options.store.storeApplication(this.id, this.#record))
      },
      logHandlingFailed: () =>
        this.#options.log.warn(
          `Log Aggregation service failed to initialize, there will be no logs for this application ${this.id}`,
        ),
      initResources: () => this.#run('initializing', () => this.#initResources()),
      destroyResources: () => {
        this.#run('cleaning up', () => this.#destroyResources())
        this.#options.onApplicationStopped(this.id)
      },
      finishLogHandling: () => {
        // It may stay for hours now, and nobody asks for its credentials and rules any more.
        this.#record = {}
        this.#run('finishing the logs', () => this.#finishLogHandling())
      },
      disappear: () => {
        this.#run('removing the record', () => this.#options.store.removeApplication(this.id))
        this.#options.onApplicationGone(this)
      },
    }
  }

  async #startLogHandling(): Promise<void> {
    let event: ApplicationEvent
    try {
      const time = await this.#options.logHandling.applicationStarted(this.id, this.#record)
      event = { type: 'APPLICATION_LOG_HANDLING_INITED', payload: { time } }
    } catch (thrown) {
      this.#logFailure('the logs cannot be handled', thrown)
      event = { type: 'APPLICATION_LOG_HANDLING_FAILED' }
    }
    this.send(event)
  }

  /** A node that cannot make the directories says so when a container is localized or launched, with the reason. */
  async #initResources(): Promise<void> {
    await this.#options.localization
      .initApplication(this.user, this.id)
      .catch((thrown: unknown) => this.#logFailure('its directories could not be made', thrown))
    this.send({ type: 'APPLICATION_INITED' })
  }

  async #destroyResources(): Promise<void> {
    await this.#options.localization
      .destroyApplication(this.user, this.id)
      .catch((thrown: unknown) => this.#logFailure('its directories could not all be given up', thrown))
    this.send({ type: 'APPLICATION_RESOURCES_CLEANEDUP' })
  }

  async #finishLogHandling(): Promise<void> {
    let event: ApplicationEvent = { type: 'APPLICATION_LOG_HANDLING_FINISHED' }
    try {
      await this.#options.logHandling.applicationFinished(this.id, this.user)
    } catch (thrown) {
      this.#logFailure('its logs could not be dealt with', thrown)
      event = { type: 'APPLICATION_LOG_HANDLING_FAILED' }
    }
    this.send(event)
  }

  #run(what: string, work: () => Promise<void>): void {
    this.#options.tasks.run(`${this.id}: ${what}`, work)
  }

  #logFailure(what: string, thrown: unknown): void {
    this.#options.log.error({ err: asError(thrown) }, `Application ${this.id}: ${what}`)
  }
}
