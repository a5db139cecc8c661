import { readFile } from 'node:fs/promises'
import { systemCode } from '../../base/errors.ts'
import type { Clock } from '../../base/clock.ts'
import type { Container } from '../container.ts'

/** Source: ContainerLaunch.getContainerPid, 100 ms; the first looks are closer together, for most files are there at once. */
const POLL_MS = [10, 20, 40, 80, 100]

/** What the launcher knows of one attempt to run a container. */
export class Launch {
  readonly container: Container
  readonly #cancel = new AbortController()
  /** Once it is chosen. */
  pidFile: string | undefined
  /** The executor has been asked: a process may exist. */
  hasStarted = false
  /** The clean-up that is under way or has been done. */
  cleanUp: Promise<void> | undefined
  readonly #over = new AbortController()
  #pid: number | undefined

  constructor(container: Container) {
    this.container = container
  }

  get cancelSignal(): AbortSignal {
    return this.#cancel.signal
  }

  get isCancelled(): boolean {
    return this.#cancel.signal.aborted
  }

  /** Nothing is started from now on; what has started is not touched. */
  cancel(): void {
    this.#cancel.abort()
  }

  /** The attempt has ended, with or without a process. */
  get isOver(): boolean {
    return this.#over.signal.aborted
  }

  end(): void {
    this.#over.abort()
  }

  /** Resolves when the attempt is over, or after the limit. */
  async awaitEnd(clock: Clock, limitMs: number): Promise<void> {
    await clock.sleep(limitMs, this.#over.signal)
  }

  /**
   * Waits for the pid file.
   * @param limitMs give up after this long; undefined: when the attempt is over
   * @returns undefined when there is none
   */
  async awaitPid(clock: Clock, limitMs?: number): Promise<number | undefined> {
    const giveUpMs = limitMs === undefined ? Infinity : clock.monotonicMs() + limitMs
    for (let look = 0; this.#pid === undefined; look++) {
      // Before the file is looked at: what was written until the end counts.
      const isLastLook = this.isOver || clock.monotonicMs() >= giveUpMs
      if (this.pidFile !== undefined) this.#pid = await readPid(this.pidFile)
      if (this.#pid !== undefined || isLastLook) break
      await clock.sleep(POLL_MS[Math.min(look, POLL_MS.length - 1)] ?? 0, this.#over.signal)
    }
    return this.#pid
  }
}

/** The first line that is a positive whole number. Source: ProcessIdFileReader. */
async function readPid(path: string): Promise<number | undefined> {
  try {
    const text = await readFile(path, 'utf8')
    const line = text.split('\n').find((line) => /^\s*\d+\s*$/.test(line) && Number(line) > 0)
    return line === undefined ? undefined : Number(line)
  } catch (thrown) {
    if (systemCode(thrown) === 'ENOENT') return undefined
    throw thrown
  }
}
