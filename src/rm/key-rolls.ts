import type { Clock, Timer } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { RollingMasterKeys } from '../security/master-key.ts'

export interface KeyRoll {
  /** What is signed with them, for the log. */
  readonly name: string
  readonly keys: Pick<RollingMasterKeys, 'roll' | 'activate'>
  /** More than three times the expiry, as the configuration has checked. */
  readonly intervalMs: number
  /** Of those who must learn the next key before it becomes the current one: nodes or masters. */
  readonly expiryMs: number
}

/** Rolls master keys by the clock. Source: RMContainerTokenSecretManager and its two siblings. */
export class KeyRolls {
  readonly #rolls: readonly KeyRoll[]
  readonly #clock: Clock
  readonly #log: Log
  readonly #timers = new Set<Timer>()

  constructor(rolls: readonly KeyRoll[], { clock, log }: { clock: Clock; log: Log }) {
    this.#rolls = rolls
    this.#clock = clock
    this.#log = log
  }

  start(): void {
    for (const roll of this.#rolls) this.#arm(roll)
  }

  stop(): void {
    for (const timer of this.#timers) timer.cancel()
    this.#timers.clear()
  }

  #arm(roll: KeyRoll): void {
    this.#after(roll.intervalMs, () => {
      roll.keys.roll()
      this.#log.info(`Rolled the master key for ${roll.name}`)
      this.#arm(roll)
      this.#after(1.5 * roll.expiryMs, () => {
        roll.keys.activate()
        this.#log.info(`Activated the next master key for ${roll.name}`)
      })
    })
  }

  #after(delayMs: number, action: () => void): void {
    const timer = this.#clock.schedule(delayMs, () => {
      this.#timers.delete(timer)
      action()
    })
    this.#timers.add(timer)
  }
}
