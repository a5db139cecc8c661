import type { Clock, Timer } from '../../src/base/clock.ts'

interface Pending {
  readonly atMs: number
  readonly order: number
  readonly action: () => void
}

/** A clock that stands still until it is told to advance. */
export class FakeClock implements Clock {
  #nowMs: number
  readonly #startMs: number
  #order = 0
  #pending: Pending[] = []

  constructor(nowMs = 1_700_000_000_000) {
    this.#nowMs = nowMs
    this.#startMs = nowMs
  }

  now(): number {
    return this.#nowMs
  }

  monotonicMs(): number {
    return this.#nowMs - this.#startMs
  }

  schedule(delayMs: number, action: () => void): Timer {
    const pending: Pending = { atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, action }
    this.#pending.push(pending)
    return {
      cancel: () => {
        this.#pending = this.#pending.filter((other) => other !== pending)
      },
    }
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.resolve()
    return new Promise((resolve) => {
      const done = () => {
        timer.cancel()
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = this.schedule(delayMs, done)
      signal?.addEventListener('abort', done, { once: true })
    })
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.#pending.length
  }

  /** Runs every timer that falls due in the next `ms`, in order, and lets promises settle after each. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms
    await settle()
    for (;;) {
      const next = this.#pending
        .filter((timer) => timer.atMs <= endMs)
        .sort((a, b) => a.atMs - b.atMs || a.order - b.order)[0]
      if (next === undefined) break
      this.#pending = this.#pending.filter((other) => other !== next)
      this.#nowMs = next.atMs
      next.action()
      await settle()
    }
    this.#nowMs = endMs
  }
}

/** Lets everything that is ready to run in this turn of the event loop run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}
