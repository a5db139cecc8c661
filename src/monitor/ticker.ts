import { asError } from '../base/errors.ts'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'

export interface TickerOptions {
  readonly intervalMs: number
  readonly clock: Clock
  readonly log: Log
  /** For the log line of a failed tick. */
  readonly what: string
}

/**
 * Runs `work` now and at every interval until the signal is aborted. The rate does not drift; ticks that a slow run has
 * used up are left out. A failure is logged, and the next tick tries again. Never rejects.
 */
export async function runTicker(options: TickerOptions, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  const { intervalMs, clock, log, what } = options
  let dueMs = clock.monotonicMs()
  while (!signal.aborted) {
    try {
      await work()
    } catch (thrown) {
      log.error({ err: asError(thrown) }, `${what} failed`)
    }
    const nowMs = clock.monotonicMs()
    do dueMs += intervalMs
    while (dueMs <= nowMs)
    await clock.sleep(dueMs - nowMs, signal)
  }
}
