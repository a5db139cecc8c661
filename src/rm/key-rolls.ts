import type { Clock, Timer } from '../base/clock.ts'
import { BobbinError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'

/** One kind of master key: container tokens, NM tokens or AMRM tokens. */
export interface RolledKeys {
  /** Makes the next key. */
  roll(): void
  /** The next key becomes the current one. */
  activate(): void
}

export interface KeyRoll {
  /** The Hadoop key of the interval, for messages. */
  readonly key: string
  readonly keys: RolledKeys
  readonly intervalMs: number
  /** Of those who must learn the next key before it becomes the current one: nodes or masters. */
  readonly expiryMs: number
}

/** Rolls master keys by the clock. Source: RMContainerTokenSecretManager and its two siblings. */
export class KeyRolls {
  readonly #rolls: readonly KeyRoll[]
  readonly #clock: Clock
  readonly #log: Log
  readonly #timers = new Map<KeyRoll, Timer[]>()

  constructor(rolls: readonly KeyRoll[], { clock, log }: { clock: Clock; log: Log }) {
    this.#rolls = rolls
    this.#clock = clock
    this.#log = log
  }

  /** @throws BobbinError ERR_KEY_ROLL_INTERVAL when a next key would come before the last one is active everywhere */
  start(): void {
    for (const { key, intervalMs, expiryMs } of this.#rolls) {
      if (intervalMs > 3 * expiryMs) continue
      throw new BobbinError(
        'ERR_KEY_ROLL_INTERVAL',
        `${key} is ${intervalMs} ms, but must be more than three times the liveness expiry of ${expiryMs} ms: ` +
          'raise the one or lower the other',
      )
    }
    for (const roll of this.#rolls) this.#arm(roll)
  }

  stop(): void {
    for (const timers of this.#timers.values()) for (const timer of timers) timer.cancel()
    this.#timers.clear()
  }

  #arm(roll: KeyRoll): void {
    const rolling = this.#clock.schedule(roll.intervalMs, () => {
      roll.keys.roll()
      this.#log.info(`Rolled the master key of ${roll.key}`)
      this.#arm(roll)
      const activation = this.#clock.schedule(1.5 * roll.expiryMs, () => {
        roll.keys.activate()
        this.#log.info(`Activated the next master key of ${roll.key}`)
      })
      this.#timers.get(roll)?.push(activation)
    })
    this.#timers.set(roll, [rolling])
  }
}
