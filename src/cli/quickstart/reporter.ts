import { messageOf } from '../../base/errors.ts'
import type { ApplicationId, ContainerId } from '../../protocol/ids.ts'
import { exitStatusText } from '../run/exit-codes.ts'
import type { ExitedContainer, RunReporter, StartedContainer } from '../run/report.ts'

/** Says what happens to the application, and looks at the node once all containers have been started. */
export class QuickstartReporter implements RunReporter {
  readonly #say: (line: string) => void
  readonly #show: () => Promise<void>
  #shown: Promise<void> = Promise.resolve()

  constructor(say: (line: string) => void, show: () => Promise<void>) {
    this.#say = say
    this.#show = show
  }

  /** Resolves when the look at the node is over; its failure does not fail the run. */
  get shown(): Promise<void> {
    return this.#shown
  }

  submitted(application: ApplicationId): void {
    this.#say(`   ${application} submitted`)
  }

  waiting(reason: string): void {
    this.#say(`   waiting: ${reason}`)
  }

  accepted(application: ApplicationId): void {
    this.#say(`   ${application} accepted`)
  }

  started({ id, node, number, total }: StartedContainer): void {
    this.#say(`   container ${number} of ${total} started on ${node}: ${id}`)
    if (number < total) return
    this.#shown = this.#show().catch((thrown: unknown) =>
      this.warned(`the node did not show itself: ${messageOf(thrown)}`),
    )
  }

  exited({ id, exitStatus, diagnostics }: ExitedContainer): void {
    this.#say(`   ${id} ended with exit status ${exitStatusText(exitStatus)}`)
    if (exitStatus !== 0 && diagnostics !== '') this.#say(diagnostics)
  }

  replaced(container: ContainerId, reason: string): void {
    this.#say(`   ${container} is replaced: ${reason}`)
  }

  warned(problem: string): void {
    this.#say(`   warning: ${problem}`)
  }

  finished(application: ApplicationId, outcome: string): void {
    this.#say(`   ${application} ended: ${outcome}`)
  }
}
