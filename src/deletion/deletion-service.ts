import { isAbsolute, normalize } from 'node:path'
import type { Clock, Timer } from '../base/clock.ts'
import { asError, messageOf } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Service } from '../base/service.ts'
import type { DeletionConfig } from '../config/node-manager-config.ts'
import type { OrderedDeletion, Removal } from './deletion.ts'

/** Removes as a user; the part of ContainerExecutor that deletion needs. */
export interface Remover {
  /** A missing path is no error; links are never followed. Rejects when something is left. */
  remove(user: string | undefined, path: string): Promise<void>
}

export interface DeletionServiceOptions extends DeletionConfig {
  readonly executor: Remover
  readonly clock: Clock
  readonly log: Log
}

/** Pauses before the second, third … attempt at a path that would not go. After the last it is left, with an error in the log. */
const RETRY_PAUSES_MS = [1000, 4000, 16_000, 60_000, 300_000, 600_000, 600_000, 600_000]
/** How long a stop waits for the removals that are due. Source: DeletionService, 10 s; ours lies below the service deadline. */
const STOP_WAIT_MS = 5000
/** How many paths the report on what is left at a stop names. */
const NAMED_AT_STOP = 10

/** A path that is to go. It stays in the set of pending ones until it has gone or has been given up. */
interface Task {
  readonly user: string | undefined
  readonly path: string
  /** Called once, when it is over for this path; not called when a stop comes first. */
  readonly settled: () => void
  attempts: number
  timer: Timer | undefined
}

/** Source: org.apache.hadoop.yarn.server.nodemanager.DeletionService, FileDeletionTask. */
export class DeletionService implements Service, OrderedDeletion {
  readonly name = 'deletion'
  readonly #options: DeletionServiceOptions
  readonly #pending = new Set<Task>()
  readonly #due: Task[] = []
  readonly #running = new Set<Promise<void>>()
  #isStopped = false

  constructor(options: DeletionServiceOptions) {
    this.#options = options
  }

  /** Paths that have not gone yet, waiting ones included. */
  get pendingCount(): number {
    return this.#pending.size
  }

  async start(): Promise<void> {
    this.#isStopped = false
  }

  schedule(user: string | undefined, paths: readonly string[]): void {
    for (const path of paths) this.#accept(user, path, () => {})
  }

  scheduleInOrder(first: readonly Removal[], last: Removal): void {
    const paths = first.flatMap((removal) => removal.paths.map((path) => ({ user: removal.user, path })))
    if (paths.length === 0) return this.schedule(last.user, last.paths)
    let left = paths.length
    const settled = (): void => {
      left--
      // The delay has passed for those before it already.
      if (left === 0) for (const path of last.paths) this.#accept(last.user, path, () => {}, 0)
    }
    for (const { user, path } of paths) this.#accept(user, path, settled)
  }

  /** Resolves when nothing is being removed or due. What waits for its delay or its next attempt does not count. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  /** Finishes what is due, within a bound, and drops what waits for its delay; says how much is left. */
  async stop(): Promise<void> {
    if (this.#isStopped) return
    this.#isStopped = true
    const { clock, log } = this.#options
    for (const task of this.#pending) task.timer?.cancel()
    const waited = new AbortController()
    await Promise.race([this.idle(), clock.sleep(STOP_WAIT_MS, waited.signal)])
    waited.abort()
    this.#due.length = 0
    if (this.#pending.size === 0) return
    const paths = [...this.#pending].slice(0, NAMED_AT_STOP).map((task) => task.path)
    log.warn({ count: this.#pending.size, paths }, `${this.#pending.size} paths were not deleted before the stop`)
    this.#pending.clear()
  }

  #accept(user: string | undefined, path: string, settled: () => void, delayMs?: number): void {
    const { debugDelaySec, log } = this.#options
    if (debugDelaySec < 0) return
    if (!isAbsolute(path) || normalize(path) === '/') {
      log.error({ path }, `refused to delete ${path}: not an absolute path below the root`)
      return settled()
    }
    if (this.#isStopped) {
      log.warn({ path }, `${path} is not deleted: the service has stopped`)
      return
    }
    const task: Task = { user, path, settled, attempts: 0, timer: undefined }
    this.#pending.add(task)
    this.#wait(task, delayMs ?? debugDelaySec * 1000)
  }

  #wait(task: Task, delayMs: number): void {
    if (delayMs === 0) return this.#enqueue(task)
    task.timer = this.#options.clock.schedule(delayMs, () => {
      task.timer = undefined
      this.#enqueue(task)
    })
  }

  #enqueue(task: Task): void {
    this.#due.push(task)
    this.#runMore()
  }

  #runMore(): void {
    while (this.#running.size < this.#options.threads) {
      const task = this.#due.shift()
      if (task === undefined) return
      const run = this.#run(task).finally(() => {
        this.#running.delete(run)
        this.#runMore()
      })
      this.#running.add(run)
    }
  }

  async #run(task: Task): Promise<void> {
    const { executor, log } = this.#options
    try {
      await executor.remove(task.user, task.path)
    } catch (thrown) {
      this.#retry(task, asError(thrown))
      return
    }
    log.debug({ path: task.path }, 'deleted')
    this.#settle(task)
  }

  #retry(task: Task, error: Error): void {
    const { log } = this.#options
    const pauseMs = RETRY_PAUSES_MS[task.attempts]
    task.attempts++
    const what = { err: error, path: task.path, user: task.user, attempts: task.attempts }
    if (pauseMs === undefined) {
      log.error(what, `gave up deleting ${task.path} after ${task.attempts} attempts: ${messageOf(error)}`)
      return this.#settle(task)
    }
    log.warn(what, `deleting ${task.path} failed, next attempt in ${pauseMs} ms: ${messageOf(error)}`)
    if (!this.#isStopped) this.#wait(task, pauseMs)
  }

  #settle(task: Task): void {
    this.#pending.delete(task)
    task.settled()
  }
}
