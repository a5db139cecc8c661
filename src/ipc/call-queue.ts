/** Java queues 100 calls for each handler thread. Source: ipc.server.handler.queue.size */
const WAITING_PER_HANDLER = 100

/** A call to be handled; its promise, if any, never rejects but for a Bug. */
export type Job = () => Promise<void> | undefined

/** Runs the calls of one port, so many at a time, in the order of arrival. A call that answers at once waits for nothing. */
export class CallQueue {
  readonly #handlerCount: number
  readonly #waiting: Job[] = []
  readonly #waitingForRoom = new Set<() => void>()
  #running = 0

  constructor(handlerCount: number) {
    this.#handlerCount = handlerCount
  }

  /** Whoever reads calls should stop until there is room. */
  get isFull(): boolean {
    return this.#waiting.length >= this.#handlerCount * WAITING_PER_HANDLER
  }

  submit(job: Job): void {
    this.#waiting.push(job)
    this.#run()
  }

  /** Calls back once, when the queue is no longer full. */
  whenRoom(callback: () => void): void {
    this.#waitingForRoom.add(callback)
  }

  #run(): void {
    while (this.#running < this.#handlerCount) {
      const job = this.#waiting.shift()
      if (job === undefined) break
      this.#running++
      const over = job()
      if (over === undefined) this.#running--
      else void over.finally(() => this.#finished())
    }
    this.#tellOfRoom()
  }

  #finished(): void {
    this.#running--
    this.#run()
  }

  #tellOfRoom(): void {
    if (this.#waitingForRoom.size === 0 || this.isFull) return
    const callbacks = [...this.#waitingForRoom]
    this.#waitingForRoom.clear()
    for (const callback of callbacks) callback()
  }
}
