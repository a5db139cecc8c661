import { constants } from 'node:os'
import { systemClock } from '../base/clock.ts'

/** A terminal, npm and timeout(1) may each deliver the same signal, so that it comes twice within a moment. */
const SAME_SIGNAL_MS = 1000

export type StopSignal = 'SIGTERM' | 'SIGINT' | 'SIGHUP'

export interface StopHandlers {
  /** The first signal: to end in order. */
  readonly stop: (signal: StopSignal) => void
  /** Another one, later: the process ends when this returns. */
  readonly end?: (signal: StopSignal) => void
}

/** @returns stops listening, so that signals do what they do by default */
export function onStopSignals(signals: readonly StopSignal[], { stop, end }: StopHandlers): () => void {
  let firstMs: number | undefined
  const onSignal = (signal: StopSignal): void => {
    const nowMs = systemClock.monotonicMs()
    if (firstMs === undefined) {
      firstMs = nowMs
      stop(signal)
    } else if (nowMs - firstMs > SAME_SIGNAL_MS) {
      end?.(signal)
      process.exit(exitCodeOfSignal(signal))
    }
  }
  for (const signal of signals) process.on(signal, onSignal)
  return () => {
    for (const signal of signals) process.off(signal, onSignal)
  }
}

/** As a shell tells it: 128+n. */
export function exitCodeOfSignal(signal: StopSignal): number {
  return 128 + constants.signals[signal]
}
