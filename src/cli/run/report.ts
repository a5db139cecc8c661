/** What a run tells about itself while it goes on. */
import type { ApplicationId, ContainerId, NodeId } from '../../protocol/ids.ts'
import { exitStatusText } from './exit-codes.ts'

/** Told of each change once, in order. Its methods return at once. */
export interface RunReporter {
  submitted(application: ApplicationId): void
  /** Nothing goes on, and why; when the reason changes. */
  waiting(reason: string): void
  accepted(application: ApplicationId): void
  started(container: StartedContainer): void
  exited(container: ExitedContainer): void
  /** A container ended, or could not be started, without fault of the command; another one is asked for. */
  replaced(container: ContainerId, reason: string): void
  /** Something could not be had or done; the run goes on. */
  warned(problem: string): void
  finished(application: ApplicationId, outcome: string): void
}

export interface StartedContainer {
  readonly id: ContainerId
  readonly node: NodeId
  /** This one among those that have been started, from 1; a replacement takes the number of its predecessor. */
  readonly number: number
  readonly total: number
}

export interface ExitedContainer {
  readonly id: ContainerId
  /** The process' exit code, or one of YARN's own below 0. */
  readonly exitStatus: number
  /** As the node wrote them; empty when there are none. */
  readonly diagnostics: string
}

/** A line for each event, for people. */
export class LineReporter implements RunReporter {
  readonly #write: (line: string) => void

  /** @param write is given lines without their end */
  constructor(write: (line: string) => void) {
    this.#write = write
  }

  submitted(application: ApplicationId): void {
    this.#say(`submitted ${application}`)
  }

  waiting(reason: string): void {
    this.#say(`waiting: ${reason}`)
  }

  accepted(application: ApplicationId): void {
    this.#say(`${application} is accepted`)
  }

  started({ id, node, number, total }: StartedContainer): void {
    this.#say(`container ${number}/${total} started: ${id} on ${node}`)
  }

  exited({ id, exitStatus, diagnostics }: ExitedContainer): void {
    this.#say(`${id} ended with ${exitStatusText(exitStatus)}`)
    if (exitStatus === 0) return
    for (const line of diagnostics.trimEnd().split('\n')) if (line !== '') this.#write(`  ${line}`)
  }

  replaced(container: ContainerId, reason: string): void {
    this.#say(`${container} is replaced: ${reason}`)
  }

  warned(problem: string): void {
    this.#say(`warning: ${problem}`)
  }

  finished(application: ApplicationId, outcome: string): void {
    this.#say(`${application} ended: ${outcome}`)
  }

  #say(text: string): void {
    this.#write(`bobbin run: ${text}`)
  }
}
