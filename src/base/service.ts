import { asError, messageOf } from './errors.ts'
import type { Log } from './log.ts'

/** Something with a life: built by a plain constructor that does no I/O, started and stopped by main.ts. */
export interface Service {
  readonly name: string
  /** Resolves when ready to serve. Rejecting ends the daemon. */
  start(signal: AbortSignal): Promise<void>
  /** Idempotent; called also after a failed start; has a deadline. */
  stop(): Promise<void>
  /** How long stop() may take before it is left behind, milliseconds; for those to whom the usual time is not enough. */
  readonly stopDeadlineMs?: number
}

const USUAL_STOP_DEADLINE_MS = 8000

/** Starts in the order of the list and stops backwards. */
export class Services implements Service {
  readonly name: string
  readonly #services: readonly Service[]
  readonly #log: Log
  /** How many were asked to start; only those are stopped. */
  #begun = 0

  constructor(name: string, services: readonly Service[], log: Log) {
    this.name = name
    this.#services = services
    this.#log = log
  }

  /** One stops after the other. */
  get stopDeadlineMs(): number {
    return this.#services.reduce((sum, service) => sum + deadlineOf(service), 0)
  }

  /** Rejects with the first failure; the caller then calls stop(). */
  async start(signal: AbortSignal): Promise<void> {
    for (const service of this.#services) {
      signal.throwIfAborted()
      this.#begun++
      await service.start(signal)
      this.#log.debug({ service: service.name }, 'started')
    }
  }

  /** Each service gets its deadline; a failure or a late one is logged and does not keep the others from stopping. */
  async stop(): Promise<void> {
    while (this.#begun > 0) {
      const service = this.#services[--this.#begun]
      if (service === undefined) continue
      const deadlineMs = deadlineOf(service)
      const outcome = await withDeadline(service.stop(), deadlineMs)
      if (outcome === 'late') this.#log.error({ service: service.name }, `did not stop within ${deadlineMs} ms`)
      else if (outcome !== 'done')
        this.#log.error({ err: outcome, service: service.name }, `stop failed: ${messageOf(outcome)}`)
    }
  }
}

function deadlineOf({ stopDeadlineMs = USUAL_STOP_DEADLINE_MS }: Service): number {
  return stopDeadlineMs
}

async function withDeadline(work: Promise<void>, deadlineMs: number): Promise<'done' | 'late' | Error> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), deadlineMs)
  })
  try {
    return await Promise.race([work.then(() => 'done' as const, asError), late])
  } finally {
    clearTimeout(timer)
  }
}
