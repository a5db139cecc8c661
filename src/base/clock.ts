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

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  schedule(delayMs, action) {
    const timer = setTimeout(action, delayMs)
    timer.unref()
    return { cancel: () => clearTimeout(timer) }
  },
  sleep(delayMs, signal) {
    if (signal?.aborted === true) return Promise.resolve()
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, delayMs)
      signal?.addEventListener('abort', done, { once: true })
    })
  },
}
