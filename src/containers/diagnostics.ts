import type { Clock } from '../base/clock.ts'

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
    const all = `${this.#text}[${localTime(this.#clock.now())}]${entry}`
    this.#text = all.length > this.#maxSize ? all.slice(all.length - this.#maxSize) : all
  }
}

/** `yyyy-MM-dd HH:mm:ss.SSS` in the local time zone, as readers of Hadoop's logs expect it. */
function localTime(epochMs: number): string {
  const at = new Date(epochMs)
  const two = (value: number) => String(value).padStart(2, '0')
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
  return `${date} ${time}.${String(at.getMilliseconds()).padStart(3, '0')}`
}
