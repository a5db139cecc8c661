import type { Clock } from '../../base/clock.ts'
import { BobbinError } from '../../base/errors.ts'
import type { ContainerId } from '../../protocol/ids.ts'
import { RunError } from './exit-codes.ts'
import { LogFileMissing, type ContainerLogs } from './node-logs.ts'
import type { OutputSink, StreamName } from './output.ts'

/** How often a running container's files are looked at. */
const POLL_INTERVAL_MS = 1000

export interface OutputFollowerOptions {
  readonly container: ContainerId
  readonly nodeHttpAddress: string
  readonly logs: ContainerLogs
  readonly output: OutputSink
  readonly clock: Clock
}

/** Copies one container's output while it runs, and the rest when it has ended. */
export class OutputFollower {
  readonly #options: OutputFollowerOptions
  /** Up to which offset each file has been printed. */
  readonly #copied: Record<StreamName, number> = { stdout: 0, stderr: 0 }

  constructor(options: OutputFollowerOptions) {
    this.#options = options
  }

  /**
   * @param ended is aborted when the container has ended: one last look then finds everything
   * @returns what could not be read in the end, and why; undefined when all was printed
   * @throws RunError when the output can not be written here, or the run is aborted
   */
  async run(ended: AbortSignal, signal: AbortSignal): Promise<string | undefined> {
    const { clock, output, container } = this.#options
    const wake = AbortSignal.any([ended, signal])
    for (;;) {
      const isLast = ended.aborted
      const problem = await this.#copyBoth(signal)
      if (isLast) {
        await output.end(container)
        return problem
      }
      await clock.sleep(POLL_INTERVAL_MS, wake)
      signal.throwIfAborted()
    }
  }

  /** Between the first look and the last, a file that can not be read now may be read later. */
  async #copyBoth(signal: AbortSignal): Promise<string | undefined> {
    const problems = [await this.#copy('stdout', signal), await this.#copy('stderr', signal)]
    return problems.find((problem) => problem !== undefined)
  }

  async #copy(name: StreamName, signal: AbortSignal): Promise<string | undefined> {
    const { container, nodeHttpAddress, logs, output } = this.#options
    const write = async (bytes: Buffer) => {
      await output.write(container, name, bytes)
      this.#copied[name] += bytes.length
    }
    try {
      await logs.copy({ container, nodeHttpAddress, name }, this.#copied[name], write, signal)
      return undefined
    } catch (thrown) {
      // A container that never came to write has no files.
      if (thrown instanceof LogFileMissing) return undefined
      if (thrown instanceof RunError || !(thrown instanceof BobbinError)) throw thrown
      return thrown.message
    }
  }
}
