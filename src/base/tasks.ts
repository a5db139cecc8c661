import { asError, Bug } from './errors.ts'
import type { Log } from './log.ts'

/** Keeps promises that nobody awaits: each failure is logged, and stopping can wait for what is under way. */
export class Tasks {
  readonly #running = new Set<Promise<void>>()
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  /** @param what names the work in the log line of its failure. A Bug is not kept here: it ends the process. */
  run(what: string, work: () => Promise<void>): void {
    const task = work()
      .catch((thrown: unknown) => {
        if (thrown instanceof Bug) throw thrown
        this.#log.error({ err: asError(thrown) }, `${what} failed`)
      })
      .finally(() => {
        this.#running.delete(task)
      })
    this.#running.add(task)
  }

  get size(): number {
    return this.#running.size
  }

  /** Resolves when everything that runs now, and whatever it starts here, is over. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
  }
}
