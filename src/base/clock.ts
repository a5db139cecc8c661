/** Time as the daemon sees it. Tests pass a FakeClock, so that no test sleeps. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch: what goes into messages, files and tokens. */
  now(): number
  /** Never goes backwards; only differences mean something. Milliseconds, with fractions. */
  monotonicMs(): number
  /** Runs `action` once after `delayMs`. The timer does not keep the process alive. */
  schedule(delayMs: number, action: () => void): Timer
  /**
   * Resolves after `delayMs`, or at once when the signal is aborted; keeps the process alive until then. Never rejects:
   * the caller looks at the signal.
   */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>
}

export interface Timer {
  /** Idempotent; harmless after the action has run. */
  cancel(): void
}

/** What a timer of Node can wait, 24 days; more it would take for 1 ms. */
const LONGEST_WAIT_MS = 2 ** 31 - 1

/** As setTimeout, however long it is. */
function startTimer(delayMs: number, action: () => void, isRef: boolean): Timer {
  let timer: NodeJS.Timeout | undefined
  const wait = (leftMs: number): void => {
    const stepMs = Math.min(leftMs, LONGEST_WAIT_MS)
    timer = setTimeout(() => (stepMs < leftMs ? wait(leftMs - stepMs) : action()), stepMs)
    if (!isRef) timer.unref()
  }
  wait(delayMs)
  return { cancel: () => clearTimeout(timer) }
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  schedule: (delayMs, action) => startTimer(delayMs, action, false),
  sleep(delayMs, signal) {
    if (signal?.aborted === true) return Promise.resolve()
    return new Promise((resolve) => {
      const done = () => {
        timer.cancel()
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = startTimer(delayMs, done, true)
      signal?.addEventListener('abort', done, { once: true })
    })
  },
}
