import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { StateMachine, type Table } from '../base/state-machine.ts'
import type { ApplicationAttemptId, ApplicationId, NodeId } from '../protocol/ids.ts'
import type { FinalStatus, RmAttempt } from './attempt.ts'
import type { RmContainer } from './containers.ts'
import type { LaunchContext, Submission } from './submission.ts'

type Payloads = {
  ACCEPTED: undefined
  REJECTED: { readonly diagnostics: string }
  ATTEMPT_REGISTERED: undefined
  ATTEMPT_UNREGISTERED: { readonly attempt: RmAttempt }
  ATTEMPT_FINISHED: undefined
  ATTEMPT_FAILED: { readonly attempt: RmAttempt; readonly diagnostics: string }
  KILL: { readonly diagnostics: string }
}

type Over<S extends string> = { ATTEMPT_FAILED: S; ATTEMPT_FINISHED: S; KILL: S }

/** Source: RMAppImpl, without its saving states and KILLING: nothing is stored, and a kill is decided at once. */
type Edges = {
  NEW: { ACCEPTED: 'ACCEPTED'; REJECTED: 'FAILED' }
  ACCEPTED: { ATTEMPT_REGISTERED: 'RUNNING'; ATTEMPT_FAILED: 'ACCEPTED' | 'FAILED'; KILL: 'KILLED' }
  RUNNING: {
    ATTEMPT_UNREGISTERED: 'FINISHING' | 'FINISHED'
    ATTEMPT_FAILED: 'ACCEPTED' | 'FAILED'
    KILL: 'KILLED'
  }
  /** The master has unregistered, its container has not ended yet. Shown as FINISHED. */
  FINISHING: { ATTEMPT_FINISHED: 'FINISHED'; KILL: 'FINISHING' }
  FINISHED: Over<'FINISHED'>
  FAILED: Over<'FAILED'>
  KILLED: Over<'KILLED'>
}
export type ApplicationState = keyof Edges

const absorb = <S extends string>(state: S) => ({
  ATTEMPT_FAILED: () => state,
  ATTEMPT_FINISHED: () => state,
  KILL: () => state,
})
const kill = (application: RmApplication, { diagnostics }: Payloads['KILL']): 'KILLED' => {
  application.killed(diagnostics)
  return 'KILLED'
}
const attemptFailed = (application: RmApplication, payload: Payloads['ATTEMPT_FAILED']): 'ACCEPTED' | 'FAILED' =>
  application.attemptFailed(payload.attempt, payload.diagnostics) ? 'ACCEPTED' : 'FAILED'

const transitions: Table<RmApplication, Payloads, Edges> = {
  NEW: {
    ACCEPTED: (application) => {
      application.nextAttempt()
      return 'ACCEPTED'
    },
    REJECTED: (application, { diagnostics }) => {
      application.over('FAILED', diagnostics)
      return 'FAILED'
    },
  },
  ACCEPTED: { ATTEMPT_REGISTERED: () => 'RUNNING', ATTEMPT_FAILED: attemptFailed, KILL: kill },
  RUNNING: {
    ATTEMPT_UNREGISTERED: (application, { attempt }) => {
      application.unregistered(attempt)
      return attempt.isUnmanaged ? 'FINISHED' : 'FINISHING'
    },
    ATTEMPT_FAILED: attemptFailed,
    KILL: kill,
  },
  FINISHING: {
    ATTEMPT_FINISHED: (application) => {
      application.cleanUp()
      return 'FINISHED'
    },
    KILL: () => 'FINISHING',
  },
  FINISHED: absorb('FINISHED'),
  FAILED: absorb('FAILED'),
  KILLED: absorb('KILLED'),
}

/** What an application asks of the rest. */
export interface ApplicationEffects {
  /** Builds the attempt and starts it once `add` has kept it. */
  startAttempt(application: RmApplication, number: number, add: (attempt: RmAttempt) => void): void
  /** The final state is reached: nodes clean up, timers end. Called once. */
  over(application: RmApplication): void
}

export interface RmApplicationOptions {
  readonly submission: Submission
  readonly launchContext: LaunchContext
  /** Full path of the leaf queue; as submitted when there is no such queue. */
  readonly queue: string
  /** Place in the order of submission. */
  readonly order: number
  readonly maxAttempts: number
  readonly globalMaxAttempts: number
  readonly effects: ApplicationEffects
  readonly clock: Clock
  readonly log: Log
}

/** One application. Source: RMAppImpl. */
export class RmApplication {
  readonly id: ApplicationId
  readonly startTime: number
  launchTime = 0
  finishTime = 0
  diagnostics = ''
  finalStatus: FinalStatus = 'UNDEFINED'
  /** Where it ever had a container: these nodes clean up after it. */
  readonly nodeIds = new Set<NodeId>()
  readonly attempts: RmAttempt[] = []
  /** Needed for each attempt; dropped at the end. */
  launchContext: LaunchContext | undefined
  /** MB × s and vcores × s of the containers that are over. */
  memorySeconds = 0
  vcoreSeconds = 0
  readonly #options: RmApplicationOptions
  readonly #machine: StateMachine<RmApplication, Payloads, Edges>

  constructor(options: RmApplicationOptions) {
    this.#options = options
    this.id = options.submission.id
    this.launchContext = options.launchContext
    this.startTime = options.clock.now()
    const { log } = options
    this.#machine = new StateMachine(transitions, 'NEW', this, { subject: this.id, log })
  }

  get state(): ApplicationState {
    return this.#machine.state
  }

  get submission(): Submission {
    return this.#options.submission
  }

  get user(): string {
    return this.submission.user
  }

  get queue(): string {
    return this.#options.queue
  }

  get order(): number {
    return this.#options.order
  }

  get currentAttempt(): RmAttempt | undefined {
    return this.attempts.at(-1)
  }

  findAttempt(id: ApplicationAttemptId): RmAttempt | undefined {
    return this.attempts.find((attempt) => attempt.id === id)
  }

  get isOver(): boolean {
    return this.state === 'FINISHED' || this.state === 'FAILED' || this.state === 'KILLED'
  }

  /** A kill would change nothing any more. */
  get isFinalStateKnown(): boolean {
    return this.isOver || this.state === 'FINISHING'
  }

  get progress(): number {
    return this.currentAttempt?.progress ?? 0
  }

  send(event: Parameters<StateMachine<RmApplication, Payloads, Edges>['send']>[0]): void {
    this.#machine.send(event)
  }

  countUsage(container: RmContainer): void {
    const seconds = Math.max(0, container.finishTime - container.fields.creationTime) / 1000
    this.memorySeconds += container.fields.resource.memoryMb * seconds
    this.vcoreSeconds += container.fields.resource.vcores * seconds
  }

  // ---- what the transitions do ---------------------------------------------------------------------------------

  nextAttempt(): void {
    this.#options.effects.startAttempt(this, this.attempts.length + 1, (attempt) => this.attempts.push(attempt))
  }

  /** @returns whether another attempt follows */
  attemptFailed(attempt: RmAttempt, diagnostics: string): boolean {
    const { maxAttempts, globalMaxAttempts } = this.#options
    const { isUnmanaged, failuresValidityMs } = this.submission
    if (isUnmanaged) {
      this.over('FAILED', `Unmanaged application ${this.id} failed due to ${diagnostics}. Failing the application.`)
      return false
    }
    // One attempt at most: not even a failure that does not count is tried again.
    if (maxAttempts > 1 && this.#countedFailures(attempt) < maxAttempts) {
      this.nextAttempt()
      return true
    }
    const window = failuresValidityMs > 0 ? ` in previous ${failuresValidityMs} milliseconds` : ''
    const limits =
      globalMaxAttempts === maxAttempts ? '' : ` (global limit =${globalMaxAttempts}; local limit is =${maxAttempts})`
    this.over(
      'FAILED',
      `Application ${this.id} failed ${maxAttempts} times${window}${limits} due to ${diagnostics}. Failing the application.`,
    )
    return false
  }

  unregistered(attempt: RmAttempt): void {
    this.finalStatus = attempt.finalStatus ?? 'UNDEFINED'
    this.diagnostics = attempt.diagnostics
    this.finishTime = this.#options.clock.now()
    if (attempt.isUnmanaged) this.cleanUp()
  }

  killed(diagnostics: string): void {
    this.currentAttempt?.send({ type: 'KILL', payload: { diagnostics } })
    this.over('KILLED', diagnostics)
  }

  over(finalStatus: FinalStatus, diagnostics: string): void {
    this.finalStatus = finalStatus
    this.diagnostics = diagnostics
    this.finishTime = this.#options.clock.now()
    this.cleanUp()
  }

  cleanUp(): void {
    this.launchContext = undefined
    this.#options.effects.over(this)
  }

  #countedFailures(latest: RmAttempt): number {
    const { failuresValidityMs } = this.submission
    const isRecent = (attempt: RmAttempt) =>
      failuresValidityMs <= 0 || latest.finishTime - attempt.finishTime <= failuresValidityMs
    return this.attempts.filter((attempt) => attempt.isCountedFailure && isRecent(attempt)).length
  }
}
