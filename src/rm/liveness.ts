import type { Clock, Timer } from '../base/clock.ts'

export interface LivenessOptions<Id> {
  readonly expiryMs: number
  readonly clock: Clock
  /** Called once; the id is no longer watched then. */
  readonly onExpired: (id: Id) => void
}

/**
 * Tells of what has not been heard of for the expiry interval. Looks every third of it, so that an expiry is noticed
 * up to a third late. Source: AbstractLivelinessMonitor.
 */
export class LivenessMonitor<Id> {
  readonly #lastHeardMs = new Map<Id, number>()
  readonly #options: LivenessOptions<Id>
  #timer: Timer | undefined

  constructor(options: LivenessOptions<Id>) {
    this.#options = options
  }

  start(): void {
    this.#arm()
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  watch(id: Id): void {
    this.#lastHeardMs.set(id, this.#options.clock.monotonicMs())
  }

  /** Of something that is not watched: nothing. */
  ping(id: Id): void {
    if (this.#lastHeardMs.has(id)) this.watch(id)
  }

  forget(id: Id): void {
    this.#lastHeardMs.delete(id)
  }

  #arm(): void {
    this.#timer = this.#options.clock.schedule(Math.max(1, this.#options.expiryMs / 3), () => {
      this.#arm()
      this.#expire()
    })
  }

  #expire(): void {
    const deadline = this.#options.clock.monotonicMs() - this.#options.expiryMs
    const expired = [...this.#lastHeardMs].filter(([, heardMs]) => heardMs < deadline)
    for (const [id] of expired) {
      // An earlier one's expiry may have taken this one off the list.
      if (!this.#lastHeardMs.delete(id)) continue
      this.#options.onExpired(id)
    }
  }
}
