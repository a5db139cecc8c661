import { asError, messageOf } from '../../base/errors.ts'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { Tasks } from '../../base/tasks.ts'
import type { ContainerExecutor } from '../../executors/executor.ts'
import { ExitCode, isKilledExitCode } from '../../executors/exit-code.ts'
import type { ContainerId } from '../../protocol/ids.ts'
import type { hadoop } from '../../protocol/messages.ts'
import type { NodeStateStore } from '../../recovery/store.ts'
import type { Container } from '../container.ts'
import { CleanUp, type CleanUpOptions } from './clean-up.ts'
import { executorDiagnostics, exitText, failureText, type StderrOptions } from './exit-diagnostics.ts'
import { Launch } from './launch.ts'
import type { LaunchPreparation } from './preparation.ts'
import { LaunchRefusal } from './refusal.ts'
import { signalOf } from './signal-command.ts'

export interface ContainerLauncherOptions extends StderrOptions, CleanUpOptions {
  /** `yarn.nodemanager.log-container-debug-info.enabled` */
  readonly isDebugInfoEnabled: boolean
  /** `yarn.nodemanager.log-container-debug-info-on-error.enabled` */
  readonly isDebugInfoOnErrorEnabled: boolean
  readonly preparation: LaunchPreparation
  readonly executor: ContainerExecutor
  readonly store: Pick<NodeStateStore, 'storeContainerLaunched' | 'storeContainerCompleted' | 'storeContainerKilled'>
  readonly clock: Clock
  readonly tasks: Tasks
  readonly log: Log
  /** What is told of where containers run. */
  readonly place: () => Promise<{ readonly host: string; readonly ips: readonly string[] }>
}

interface Exit {
  readonly code: number
  /** For an attempt without a process: what the diagnostics say. */
  readonly failure?: string
  readonly logDir?: string
}

/** Runs containers, and ends them. Source: ContainersLauncher, ContainerLaunch. */
export class ContainerLauncher {
  readonly #options: ContainerLauncherOptions
  readonly #cleanUp: CleanUp
  readonly #launches = new Map<ContainerId, Launch>()
  /** Whether the last container failed: then the next one's directories are listed, where that is configured. */
  #lastFailed = false

  constructor(options: ContainerLauncherOptions) {
    this.#options = options
    this.#cleanUp = new CleanUp(options)
  }

  /** Ends in CONTAINER_LAUNCHED and one exit event, or in an exit event alone. */
  launch(container: Container): void {
    const launch = new Launch(container)
    this.#launches.set(container.id, launch)
    this.#options.tasks.run(`launch of ${container.id}`, () => this.#run(launch))
  }

  /** Ends whatever of the container runs, leftovers of a container that has ended included. */
  cleanUp(container: Container): void {
    const launch = this.#launches.get(container.id)
    if (launch?.cleanUp !== undefined) return
    const work = this.#cleanUp.run(container, launch)
    if (launch !== undefined) launch.cleanUp = work
    this.#options.tasks.run(`clean-up of ${container.id}`, () => work)
  }

  /** Resolves when a clean-up that was asked for has been done; then the container is forgotten. Never rejects. */
  async settled(id: ContainerId): Promise<void> {
    // Its failure is logged where it was started.
    await this.#launches.get(id)?.cleanUp?.catch(() => undefined)
    this.#launches.delete(id)
  }

  /** Sends an operator's or a master's signal. Source: ContainerLaunch.signalContainer. */
  async signal(id: ContainerId, command: hadoop.yarn.SignalContainerCommandProto): Promise<void> {
    const { executor, clock, log, processKillWaitMs } = this.#options
    const launch = this.#launches.get(id)
    const wanted = signalOf(command)
    if (launch === undefined || !launch.hasStarted || wanted === undefined) {
      log.info(`Container ${id} not running, nothing to signal.`)
      return
    }
    const pid = await launch.awaitPid(clock, processKillWaitMs)
    if (pid === undefined) return
    const { user } = launch.container
    const isSent = await executor.signal({ containerId: id, user, pid, signal: wanted.number })
    const text =
      `Sent signal ${wanted.command} (${wanted.name}) to pid ${pid} as user ${user} for container ${id}, ` +
      `result=${isSent ? 'success' : 'failed'}`
    log.info(text)
    launch.container.send({ type: 'UPDATE_DIAGNOSTICS_MSG', payload: { text } })
  }

  async #run(launch: Launch): Promise<void> {
    const { container } = launch
    const exit = await this.#attempt(launch)
    launch.end()
    this.#lastFailed = exit.code !== ExitCode.SUCCESS
    await this.#storeExit(container.id, exit.code)
    await this.#report(container, exit)
  }

  async #attempt(launch: Launch): Promise<Exit> {
    try {
      return await this.#start(launch)
    } catch (thrown) {
      this.#options.log.warn({ err: asError(thrown) }, `Failed to launch container ${launch.container.id}`)
      const code = thrown instanceof LaunchRefusal ? thrown.exitCode : ExitCode.NOT_STARTED
      return { code, failure: messageOf(thrown) }
    }
  }

  async #start(launch: Launch): Promise<Exit> {
    const { preparation, executor, store, tasks, isDebugInfoEnabled, isDebugInfoOnErrorEnabled } = this.#options
    const { container } = launch
    const hasDebugInfo = isDebugInfoEnabled || (isDebugInfoOnErrorEnabled && this.#lastFailed)
    const { request, logDir } = await preparation.prepare(container, hasDebugInfo)
    launch.pidFile = request.pidFile
    if (launch.isCancelled) return { code: ExitCode.TERMINATED, logDir }

    container.send({ type: 'CONTAINER_LAUNCHED' })
    // Before the process: a daemon that dies in between looks for it, and finds it or finds it lost.
    await store.storeContainerLaunched(container.id)
    if (launch.isCancelled) return { code: ExitCode.TERMINATED, logDir }

    launch.hasStarted = true
    tasks.run(`pid of ${container.id}`, () => this.#find(launch))
    const outcome = await executor.launch({ ...request, cancel: launch.cancelSignal })
    const text = executorDiagnostics(container.id, outcome)
    if (text !== undefined) container.send({ type: 'UPDATE_DIAGNOSTICS_MSG', payload: { text } })
    return { code: outcome.exitCode, logDir }
  }

  async #find(launch: Launch): Promise<void> {
    const pid = await launch.awaitPid(this.#options.clock)
    if (pid !== undefined) launch.container.found({ pid, ...(await this.#options.place()) })
  }

  async #storeExit(id: ContainerId, code: number): Promise<void> {
    try {
      await this.#options.store.storeContainerCompleted(id, code)
    } catch (thrown) {
      this.#options.log.error({ err: asError(thrown) }, `Unable to set exit code ${code} for container ${id}`)
    }
  }

  async #report(container: Container, { code, failure, logDir }: Exit): Promise<void> {
    const { log } = this.#options
    if (failure === undefined && code === ExitCode.SUCCESS) {
      log.info(`Container ${container.id} succeeded`)
      container.send({ type: 'CONTAINER_EXITED_WITH_SUCCESS' })
    } else if (failure === undefined && isKilledExitCode(code)) {
      const payload = { exitStatus: code, diagnostics: exitText(code) }
      container.send({ type: 'CONTAINER_KILLED_ON_REQUEST', payload })
    } else {
      const diagnostics = failure ?? (await failureText(code, logDir ?? '', this.#options, log))
      container.send({ type: 'CONTAINER_EXITED_WITH_FAILURE', payload: { exitStatus: code, diagnostics } })
    }
  }
}
