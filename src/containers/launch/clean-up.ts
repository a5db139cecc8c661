import { rm } from 'node:fs/promises'
import type { Clock } from '../../base/clock.ts'
import { asError, messageOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Tasks } from '../../base/tasks.ts'
import type { ContainerExecutor } from '../../executors/executor.ts'
import { ExitCode } from '../../executors/exit-code.ts'
import type { NodeStateStore } from '../../recovery/store.ts'
import type { Container } from '../container.ts'
import type { Launch } from './launch.ts'

export interface CleanUpOptions {
  /** `yarn.nodemanager.sleep-delay-before-sigkill.ms`; 0: killed at once. */
  readonly sleepBeforeSigkillMs: number
  /** `yarn.nodemanager.process-kill-wait.ms`: how long a pid file, and an end, is waited for. */
  readonly processKillWaitMs: number
  readonly executor: Pick<ContainerExecutor, 'signal' | 'endStrays'>
  readonly store: Pick<NodeStateStore, 'storeContainerKilled'>
  readonly clock: Clock
  readonly tasks: Tasks
  readonly log: Log
}

/** How often an ending group is looked at: soon after the signal, then less often. */
const LOOK_MS = [10, 20, 40, 80, 160]

/** Ends a container's processes, whether it is killed or has left some behind. Source: ContainerCleanup. */
export class CleanUp {
  readonly #options: CleanUpOptions

  constructor(options: CleanUpOptions) {
    this.#options = options
  }

  /** Resolves when nothing of it runs any more, or when it has been waited for in vain and said so. */
  async run(container: Container, launch: Launch | undefined): Promise<void> {
    const { clock, processKillWaitMs, log } = this.#options
    log.info(`Cleaning up container ${container.id}`)
    launch?.cancel()
    await this.#storeKilled(container)
    if (launch === undefined) return this.#tellKilled(container, 'Container terminated before launch.')
    if (!launch.hasStarted) {
      log.info(`Container ${container.id} not launched. No cleanup needed to be done`)
      return
    }
    try {
      const isEnding = await this.#endProcesses(launch)
      // The start scripts carry the id too and still write the exit code: only if something holds them up they are ended.
      if (isEnding) await launch.awaitEnd(clock, processKillWaitMs)
      await this.#endStrays(launch)
    } catch (thrown) {
      log.warn({ err: asError(thrown) }, `Exception when trying to cleanup container ${container.id}`)
      const text = `Exception when trying to cleanup container ${container.id}: ${messageOf(thrown)}`
      container.send({ type: 'UPDATE_DIAGNOSTICS_MSG', payload: { text } })
    }
    await this.#removePidFiles(launch)
  }

  /** @returns false when there is no pid file, and so nobody who could be told to end */
  async #endProcesses(launch: Launch): Promise<boolean> {
    const { clock, processKillWaitMs, tasks, log } = this.#options
    const { container } = launch
    const pid = await launch.awaitPid(clock, processKillWaitMs)
    if (pid !== undefined) {
      await this.#endGroup(container, pid)
      return true
    }
    if (launch.isOver) return true
    log.warn(`Container clean up before pid file created ${container.id}`)
    this.#tellKilled(container, 'Container terminated before pid file created.')
    // It may come yet, and then it would run without anyone who knows of it.
    tasks.run(`late end of ${container.id}`, async () => {
      const latePid = await launch.awaitPid(clock)
      if (latePid !== undefined) await this.#endGroup(container, latePid)
    })
    return false
  }

  async #endGroup(container: Container, pid: number): Promise<void> {
    const { sleepBeforeSigkillMs, processKillWaitMs } = this.#options
    if (sleepBeforeSigkillMs > 0) {
      if (!(await this.#signal(container, pid, 15))) return
      if (await this.#isGoneWithin(container, pid, sleepBeforeSigkillMs)) return
    }
    if (!(await this.#signal(container, pid, 9))) return
    if (await this.#isGoneWithin(container, pid, processKillWaitMs)) return
    this.#tellAlive(
      container,
      `Process group ${pid} of container ${container.id} did not end within ${processKillWaitMs} ms of SIGKILL`,
    )
  }

  /** Those that have made a session of their own: without a cgroup only their environment gives them away. */
  async #endStrays({ container }: Launch): Promise<void> {
    const { executor, processKillWaitMs } = this.#options
    let left: readonly number[] = []
    const haveEnded = await this.#isSoWithin(processKillWaitMs, async () => {
      left = await executor.endStrays(container.id, left)
      return left.length === 0
    })
    if (haveEnded) return
    const text = `Processes ${left.join(', ')} of container ${container.id} did not end within ${processKillWaitMs} ms of SIGKILL`
    this.#tellAlive(container, text)
  }

  #tellAlive(container: Container, text: string): void {
    this.#options.log.error(text)
    container.send({ type: 'UPDATE_DIAGNOSTICS_MSG', payload: { text } })
  }

  #isGoneWithin(container: Container, pid: number, limitMs: number): Promise<boolean> {
    return this.#isSoWithin(limitMs, async () => !(await this.#signal(container, pid, 0)))
  }

  async #isSoWithin(limitMs: number, isSo: () => Promise<boolean>): Promise<boolean> {
    const { clock } = this.#options
    const endMs = clock.monotonicMs() + limitMs
    for (let look = 0; ; look++) {
      if (await isSo()) return true
      const leftMs = endMs - clock.monotonicMs()
      if (leftMs <= 0) return false
      await clock.sleep(Math.min(leftMs, LOOK_MS[Math.min(look, LOOK_MS.length - 1)] ?? 0))
    }
  }

  #signal(container: Container, pid: number, signal: 0 | 9 | 15): Promise<boolean> {
    return this.#options.executor.signal({ containerId: container.id, user: container.user, pid, signal })
  }

  #tellKilled(container: Container, diagnostics: string): void {
    container.send({
      type: 'CONTAINER_KILLED_ON_REQUEST',
      payload: { exitStatus: ExitCode.TERMINATED, diagnostics },
    })
  }

  /** Before any signal: after a crash the container is known to have been ended by us. */
  async #storeKilled(container: Container): Promise<void> {
    try {
      await this.#options.store.storeContainerKilled(container.id)
    } catch (thrown) {
      this.#options.log.error({ err: asError(thrown) }, `Unable to mark container ${container.id} killed in store`)
    }
  }

  /** Only once the attempt is over, for its script still writes the exit code; else they go with the private directory. */
  async #removePidFiles({ pidFile, isOver }: Launch): Promise<void> {
    if (pidFile === undefined || !isOver) return
    await Promise.all([pidFile, `${pidFile}.exitcode`].map((path) => rm(path, { force: true })))
  }
}
