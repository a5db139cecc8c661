import type { Clock } from '../base/clock.ts'
import { dayAndTime } from '../base/times.ts'

/** A container's diagnostics: timed entries, of which the last characters are kept. Source: ContainerImpl.addDiagnostics. */
export class Diagnostics {
  #text = ''
  readonly #clock: Clock
  readonly #maxSize: number

  /** @param maxSize characters, `yarn.nodemanager.container-diagnostics-maximum-size` */
  constructor(clock: Clock, maxSize: number) {
    this.#clock = clock
    this.#maxSize = maxSize
  }

  get text(): string {
    return this.#text
  }

  add(entry: string): void {
    const all = `${this.#text}[${dayAndTime(this.#clock.now())}]${entry}`
    this.#text = all.length > this.#maxSize ? all.slice(all.length - this.#maxSize) : all
  }
}
