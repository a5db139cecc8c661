import type { Clock, Timer } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { applicationId, applicationOfAttempt, type ApplicationAttemptId, type ApplicationId } from '../protocol/ids.ts'
import { RmApplication, type ApplicationEffects } from './application.ts'
import type { RmAttempt } from './attempt.ts'
import { applicationNotFound } from './errors.ts'
import { queuePath, type QueueLookup } from './queues.ts'
import type { LaunchContext, Submission } from './submission.ts'

export interface ApplicationsOptions {
  /** Start time of the ResourceManager, milliseconds: the first number of every id. */
  readonly clusterTimestamp: number
  readonly maxAttempts: number
  readonly globalMaxAttempts: number
  readonly maxCompletedApplications: number
  readonly effects: ApplicationEffects
  readonly clock: Clock
  readonly log: Log
}

/** That go on at a time. Source: yarn.scheduler.capacity.maximum-applications. */
const MAX_APPLICATIONS = 10_000

/** All applications: those that go on, and the last ones that are over. Source: RMAppManager. */
export class Applications {
  readonly #options: ApplicationsOptions
  readonly #applications = new Map<ApplicationId, RmApplication>()
  readonly #over: ApplicationId[] = []
  readonly #lifetimes = new Map<ApplicationId, Timer>()
  #lastNumber = 0
  #submitted = 0

  constructor(options: ApplicationsOptions) {
    this.#options = options
  }

  get all(): Iterable<RmApplication> {
    return this.#applications.values()
  }

  get submittedCount(): number {
    return this.#submitted
  }

  /** Only counts: an id that is never submitted is lost. One that a client has made up and submitted is passed over. */
  newId(): ApplicationId {
    for (;;) {
      const id = applicationId(this.#options.clusterTimestamp, ++this.#lastNumber)
      if (!this.#applications.has(id)) return id
    }
  }

  find(id: ApplicationId): RmApplication | undefined {
    return this.#applications.get(id)
  }

  /** @throws RemoteError ApplicationNotFoundException */
  get(id: ApplicationId): RmApplication {
    const application = this.#applications.get(id)
    if (application === undefined) throw applicationNotFound(id)
    return application
  }

  findAttempt(id: ApplicationAttemptId): RmAttempt | undefined {
    return this.#applications.get(applicationOfAttempt(id))?.findAttempt(id)
  }

  /** An id that is known already is answered like the first time: clients repeat the call. */
  submit(submission: Submission, launchContext: LaunchContext): void {
    const { id, user, queue, isUnmanaged } = submission
    if (this.#applications.has(id)) return
    const { maxAttempts, globalMaxAttempts, effects, clock, log } = this.#options
    const path = queuePath(queue)
    const application = new RmApplication({
      submission,
      launchContext,
      queue: path.kind === 'leaf' ? path.path : queue,
      order: this.#submitted++,
      maxAttempts: attemptLimit(submission.maxAttempts, maxAttempts, globalMaxAttempts),
      globalMaxAttempts,
      effects: {
        startAttempt: (application, number, add) => effects.startAttempt(application, number, add),
        over: (over) => this.#ended(over),
      },
      clock,
      log,
    })
    this.#applications.set(id, application)
    log.info(`Application ${id} submitted by user ${user} to queue ${queue}${isUnmanaged ? ', unmanaged' : ''}`)
    if (submission.keepsContainers)
      log.warn(`Application ${id} wants to keep containers across attempts; the embedded ResourceManager ends them`)
    const refusal = this.#refusal(submission, path)
    if (refusal === undefined) {
      this.#limitLifetime(application)
      application.send({ type: 'ACCEPTED' })
    } else application.send({ type: 'REJECTED', payload: { diagnostics: refusal } })
  }

  /** Ends what is still timed. */
  stop(): void {
    for (const timer of this.#lifetimes.values()) timer.cancel()
    this.#lifetimes.clear()
  }

  /** Milliseconds left; undefined without a limit. */
  remainingLifetimeMs(application: RmApplication): number | undefined {
    const { lifetimeMs } = application.submission
    if (lifetimeMs === undefined) return undefined
    return Math.max(0, application.startTime + lifetimeMs - this.#options.clock.now())
  }

  /** Why the application fails at once. The texts are those of Hadoop's CapacityScheduler. */
  #refusal({ id, user, queue }: Submission, path: QueueLookup): string | undefined {
    if (path.kind === 'parent') return `Application ${id} submitted by user : ${user} to non-leaf queue : ${queue}`
    if (path.kind === 'unknown') return `Application ${id} submitted by user ${user} to unknown queue: ${queue}`
    // The new one is among them.
    if (this.#applications.size - this.#over.length <= MAX_APPLICATIONS) return undefined
    return `Maximum system application limit reached,cannot accept submission of application: ${id}`
  }

  #limitLifetime(application: RmApplication): void {
    const { lifetimeMs } = application.submission
    if (lifetimeMs === undefined) return
    const diagnostics =
      `Application ${application.id} is killed by ResourceManager as it has exceeded the lifetime period ` +
      `of ${lifetimeMs / 1000} seconds.`
    this.#lifetimes.set(
      application.id,
      this.#options.clock.schedule(lifetimeMs, () => application.send({ type: 'KILL', payload: { diagnostics } })),
    )
  }

  #ended(application: RmApplication): void {
    this.#lifetimes.get(application.id)?.cancel()
    this.#lifetimes.delete(application.id)
    this.#options.effects.over(application)
    this.#over.push(application.id)
    while (this.#over.length > this.#options.maxCompletedApplications) {
      const oldest = this.#over.shift()
      if (oldest !== undefined) this.#applications.delete(oldest)
    }
  }
}

/** Source: RMAppImpl's constructor. */
function attemptLimit(wanted: number, ofCluster: number, most: number): number {
  if (wanted <= 0) return ofCluster
  return Math.min(wanted, most)
}
