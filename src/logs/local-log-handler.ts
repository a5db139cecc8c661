import { join } from 'node:path'
import type { Clock, Timer } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Service } from '../base/service.ts'
import type { LogsConfig } from '../config/node-manager-config.ts'
import type { Deletion } from '../deletion/deletion.ts'
import type { ReadableDirs } from '../health/local-dirs.ts'
import type { ApplicationId } from '../protocol/ids.ts'

export interface LocalLogHandlerOptions extends LogsConfig {
  readonly dirs: Pick<ReadableDirs, 'readableLogDirs'>
  readonly deletion: Deletion
  readonly clock: Clock
  readonly log: Log
}

/**
 * Logs stay where the containers wrote them, and go some time after the end of their application. A stop drops what
 * waits: the next start removes what it finds. Source: NonAggregatingLogHandler.
 */
export class LocalLogHandler implements Service {
  readonly name = 'log-handling'
  readonly #options: LocalLogHandlerOptions
  readonly #timers = new Set<Timer>()

  constructor(options: LocalLogHandlerOptions) {
    this.#options = options
  }

  start(): Promise<void> {
    return Promise.resolve()
  }

  stop(): Promise<void> {
    for (const timer of this.#timers) timer.cancel()
    this.#timers.clear()
    return Promise.resolve()
  }

  /** @returns when it began, milliseconds */
  applicationStarted(): Promise<number> {
    return Promise.resolve(this.#options.clock.now())
  }

  /** Resolves when its logs may go, and gives them to the deletion service then. */
  applicationFinished(id: ApplicationId, user: string): Promise<void> {
    const { retainSec, clock, log } = this.#options
    log.info(`Scheduling Log Deletion for application: ${id}, with delay of ${retainSec} seconds`)
    return new Promise((resolve) => {
      const timer = clock.schedule(Math.max(0, retainSec) * 1000, () => {
        this.#timers.delete(timer)
        this.#remove(id, user)
        resolve()
      })
      this.#timers.add(timer)
    })
  }

  #remove(id: ApplicationId, user: string): void {
    const { dirs, deletion } = this.#options
    deletion.schedule(
      user,
      dirs.readableLogDirs.map((dir) => join(dir, id)),
    )
  }
}
