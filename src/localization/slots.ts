/** Lets so many at a time do something; the others wait in order. */
export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** Runs `work` when a slot is free. Rejects with the signal's reason when it is aborted while waiting. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#acquire(signal)
    try {
      return await work()
    } finally {
      this.#release()
    }
  }

  async #acquire(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#free > 0) {
      this.#free--
      return
    }
    await new Promise<void>((resolve, reject) => {
      const turn = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(turn), 1)
        reject(signal.reason)
      }
      this.#waiting.push(turn)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  #release(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}
