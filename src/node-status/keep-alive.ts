import type { Clock } from '../base/clock.ts'
import type { ApplicationId } from '../protocol/ids.ts'
import type { ManagedContainers } from './managed-node.ts'

export interface KeepAliveOptions {
  readonly containers: Pick<ManagedContainers, 'findApplication'>
  /** Only with Kerberos and log aggregation: else there are no tokens to keep. */
  readonly isEnabled: boolean
  readonly livenessExpiryMs: number
  readonly clock: Clock
  /** In [0, 1). */
  readonly random: () => number
}

/**
 * Finished applications whose logs are still being uploaded, named in heartbeats from time to time so that the
 * ResourceManager does not cancel their delegation tokens. Source: NodeStatusUpdaterImpl.trackAppForKeepAlive.
 */
export class KeepAlive {
  readonly #options: KeepAliveOptions
  readonly #nextByApplication = new Map<ApplicationId, number>()

  constructor(options: KeepAliveOptions) {
    this.#options = options
  }

  track(ids: Iterable<ApplicationId>): void {
    const { isEnabled, livenessExpiryMs, clock, random } = this.#options
    if (!isEnabled) return
    for (const id of ids) this.#nextByApplication.set(id, clock.now() + (0.7 + 0.2 * random()) * livenessExpiryMs)
  }

  /** Those whose time has come, rescheduled; an application that is gone is forgotten. */
  due(): ApplicationId[] {
    const { containers, clock } = this.#options
    const due: ApplicationId[] = []
    for (const [id, next] of this.#nextByApplication) {
      if (containers.findApplication(id) === undefined) this.#nextByApplication.delete(id)
      else if (clock.now() > next) due.push(id)
    }
    this.track(due)
    return due
  }
}
