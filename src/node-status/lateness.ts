import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'

/** Watches the event loop. */
export interface StallMeter {
  enable(): void
  disable(): void
  /** The longest stall that has not been told yet, milliseconds. One above `STALL_MS` is told once. */
  takeMaxMs(): number
}

/** A heartbeat that starts this much after its time is worth a line. */
const LATE_MS = 1000
const STALL_MS = 500
/** Between two lines of one kind. */
const QUIET_MS = 60_000
/** One timer in this time: stalls of `STALL_MS` are seen, and an idle daemon wakes up seldom. */
const RESOLUTION_MS = 250

/** Says in the log when this process, and not the ResourceManager, is the cause of late heartbeats. */
export class Lateness {
  readonly #clock: Clock
  readonly #log: Log
  readonly #stalls: StallMeter
  #quietUntil = { late: 0, stall: 0 }

  constructor(options: { readonly clock: Clock; readonly log: Log; readonly stalls?: StallMeter }) {
    this.#clock = options.clock
    this.#log = options.log
    this.#stalls = options.stalls ?? eventLoopStalls()
  }

  enable(): void {
    this.#stalls.enable()
  }

  disable(): void {
    this.#stalls.disable()
  }

  /** @param lateMs how long after its time a heartbeat starts */
  check(lateMs: number): void {
    if (lateMs > LATE_MS && this.#mayLog('late'))
      this.#log.warn(
        `Heartbeat is ${Math.round(lateMs)} ms late: the daemon did not get to run, see its CPU and memory`,
      )
    const stallMs = this.#stalls.takeMaxMs()
    if (stallMs > STALL_MS && this.#mayLog('stall'))
      this.#log.warn(`Event loop stood still for up to ${Math.round(stallMs)} ms since the last heartbeat`)
  }

  #mayLog(kind: 'late' | 'stall'): boolean {
    const now = this.#clock.monotonicMs()
    if (now < this.#quietUntil[kind]) return false
    this.#quietUntil[kind] = now + QUIET_MS
    return true
  }
}

function eventLoopStalls(): StallMeter {
  let histogram: IntervalHistogram | undefined
  return {
    enable() {
      histogram ??= monitorEventLoopDelay({ resolution: RESOLUTION_MS })
      histogram.enable()
    },
    disable() {
      histogram?.disable()
    },
    takeMaxMs() {
      if (histogram === undefined) return 0
      // The histogram holds the times between its timer's runs, in nanoseconds.
      const maxMs = histogram.max / 1e6 - RESOLUTION_MS
      // A reset also forgets when the timer ran last, and with it a stall that ends just now: only when it must be.
      if (maxMs > STALL_MS) histogram.reset()
      return Math.max(0, maxMs)
    },
  }
}
