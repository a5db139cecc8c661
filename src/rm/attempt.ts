import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { StateMachine } from '../base/state-machine.ts'
import { javaDate } from '../base/times.ts'
import type { ApplicationAttemptId, ContainerId, NodeId } from '../protocol/ids.ts'
import type { hadoop } from '../protocol/messages.ts'
import { resourceText } from '../protocol/resource.ts'
import type { Token } from '../security/token.ts'
import { attemptTransitions, type AttemptEdges, type AttemptPayloads } from './attempt-transitions.ts'
import type { RmContainer } from './containers.ts'
import type { Submission } from './submission.ts'

type ContainerStatus = hadoop.yarn.ContainerStatusProto.$Properties

/** What a master says of its application, or what became of it. Source: FinalApplicationStatus. */
export type FinalStatus = 'UNDEFINED' | 'SUCCEEDED' | 'FAILED' | 'KILLED' | 'ENDED'

export type AttemptState = keyof AttemptEdges

/** What attempts ask of the rest. */
export interface AttemptEffects {
  /** The attempt begins: lets its master log in, and asks for its container unless it is unmanaged. Returns the token. */
  begin(attempt: RmAttempt): Token
  /** Starts the master in its container; ends by sending LAUNCHED or LAUNCH_FAILED. */
  launch(attempt: RmAttempt, container: RmContainer): void
  /** The master runs: it is to be heard of regularly. */
  watch(attempt: RmAttempt): void
  registered(attempt: RmAttempt): void
  /** The master is done; its container is expected to end by itself. */
  unregistered(attempt: RmAttempt): void
  /** Nothing of the attempt may go on. */
  end(attempt: RmAttempt): void
  failed(attempt: RmAttempt, diagnostics: string): void
  finished(attempt: RmAttempt): void
}

export interface RmAttemptOptions {
  readonly id: ApplicationAttemptId
  readonly number: number
  readonly submission: Submission
  /** `http://<rm web>/cluster/app/<id>` */
  readonly applicationUrl: string
  readonly effects: AttemptEffects
  readonly clock: Clock
  readonly log: Log
}

/** A completed container whose master has not been told, or has not yet shown that it was. */
interface Completion {
  readonly containerId: ContainerId
  readonly nodeId: NodeId
  readonly status: ContainerStatus
}

const NOT_AVAILABLE = 'N/A'

/** One try to run an application. Source: RMAppAttemptImpl. */
export class RmAttempt {
  readonly id: ApplicationAttemptId
  readonly number: number
  readonly isUnmanaged: boolean
  readonly applicationUrl: string
  readonly startTime: number
  finishTime = 0
  host = NOT_AVAILABLE
  rpcPort = -1
  originalTrackingUrl = NOT_AVAILABLE
  progress = 0
  finalStatus: FinalStatus | undefined
  diagnostics = ''
  /** Why it is not running yet. */
  launchDiagnostics = ''
  token: Token | undefined
  masterContainer: RmContainer | undefined
  /** The master's container ended by itself: it need not be stopped. */
  isMasterOver = false
  isCountedFailure = false
  readonly #options: RmAttemptOptions
  readonly #machine: StateMachine<RmAttempt, AttemptPayloads, AttemptEdges>
  #completions: Completion[] = []
  /** In the last response: the next call of the master shows that they arrived. */
  #told: Completion[] = []

  constructor(options: RmAttemptOptions) {
    this.#options = options
    this.id = options.id
    this.number = options.number
    this.isUnmanaged = options.submission.isUnmanaged
    this.applicationUrl = options.applicationUrl
    this.startTime = options.clock.now()
    const { log } = options
    this.#machine = new StateMachine(attemptTransitions, 'NEW', this, { subject: options.id, log })
  }

  get state(): AttemptState {
    return this.#machine.state
  }

  get submission(): Submission {
    return this.#options.submission
  }

  start(): void {
    this.#machine.send({ type: 'START' })
  }

  send(event: Parameters<StateMachine<RmAttempt, AttemptPayloads, AttemptEdges>['send']>[0]): void {
    this.#machine.send(event)
  }

  /** Keeps a completion for the master. */
  addCompletion(completion: Completion): void {
    this.#completions.push(completion)
  }

  /** What the master is to be told now. */
  takeCompletions(): ContainerStatus[] {
    this.#told = this.#completions
    this.#completions = []
    return this.#told.map(({ status }) => status)
  }

  /** The master has got the last answer: what it was told may be forgotten by the nodes. */
  takeAcknowledged(): Completion[] {
    const told = this.#told
    this.#told = []
    return told
  }

  /** At the end, everything that is left. */
  takeAllCompletions(): Completion[] {
    const all = [...this.#told, ...this.#completions]
    this.#told = []
    this.#completions = []
    return all
  }

  // ---- what the transitions do ---------------------------------------------------------------------------------

  started(): void {
    this.token = this.#options.effects.begin(this)
    const size = this.submission.masterAsks[0]?.capability
    if (size === undefined) this.#options.effects.watch(this)
    else
      this.#launchText(
        'Application is Activated, waiting for resources to be assigned for AM. ' +
          `Details : AM Resource Request = ${resourceText(size)} ; `,
      )
  }

  allocated(container: RmContainer): void {
    this.masterContainer = container
    this.#launchText('Scheduler has assigned a container for AM, waiting for AM container to be launched')
    this.#options.effects.launch(this, container)
  }

  launched(): void {
    this.launchDiagnostics = 'AM container is launched, waiting for AM container to Register with RM'
    this.#options.effects.watch(this)
  }

  registered({ host, rpcPort, trackingUrl }: AttemptPayloads['REGISTERED']): void {
    this.host = host
    this.rpcPort = rpcPort
    this.originalTrackingUrl = sanitiseUrl(trackingUrl)
    this.launchDiagnostics = ''
    this.#options.effects.watch(this)
    this.#options.effects.registered(this)
  }

  unregistered({ finalStatus, diagnostics, trackingUrl }: AttemptPayloads['UNREGISTERED']): void {
    this.finalStatus = finalStatus
    this.diagnostics = diagnostics
    this.originalTrackingUrl = sanitiseUrl(trackingUrl)
    this.progress = 1
    this.finishTime = this.#options.clock.now()
    this.#options.effects.unregistered(this)
    if (this.isUnmanaged) this.#options.effects.end(this)
  }

  finished(): void {
    this.#options.effects.end(this)
    this.#options.effects.finished(this)
  }

  failed(diagnostics: string, { isCounted }: { isCounted: boolean }): void {
    this.isCountedFailure = isCounted
    this.#over('FAILED', diagnostics)
    this.#options.effects.failed(this, diagnostics)
  }

  killed(diagnostics: string): void {
    this.#over('KILLED', diagnostics)
  }

  #over(finalStatus: FinalStatus, diagnostics: string): void {
    this.finalStatus = finalStatus
    this.diagnostics = diagnostics
    this.launchDiagnostics = ''
    this.finishTime = this.#options.clock.now()
    this.progress = 1
    this.host = NOT_AVAILABLE
    this.rpcPort = -1
    this.originalTrackingUrl = this.applicationUrl
    this.#options.effects.end(this)
  }

  #launchText(text: string): void {
    this.launchDiagnostics = `[${javaDate(this.#options.clock.now())}] ${text}`
  }
}

function sanitiseUrl(url: string | null | undefined): string {
  return url === null || url === undefined || url.trim() === '' ? NOT_AVAILABLE : url
}
