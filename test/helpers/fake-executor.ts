import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { ContainerExecutor, LaunchOutcome, LaunchRequest, SignalRequest } from '../../src/executors/executor.ts'
import type { ContainerId } from '../../src/protocol/ids.ts'

/** How the next container behaves. */
export interface FakeProgram {
  /** The executor cannot start it, and says this. */
  readonly startError?: string
  readonly exitCode?: number
  readonly stderr?: string
  readonly stdout?: string
  /** It runs until `exit` is called or a signal ends it. Otherwise it ends at once. */
  readonly runs?: boolean
  readonly ignoresTerm?: boolean
  /** Never writes its pid. */
  readonly hidesPid?: boolean
}

/** Runs nothing: containers do as their script says. */
export class FakeExecutor implements ContainerExecutor {
  readonly name = 'FakeExecutor'
  readonly launches: LaunchRequest[] = []
  readonly signals: SignalRequest[] = []
  readonly removed: string[] = []
  #program: FakeProgram = {}
  #pid = 1000
  readonly #running = new Map<ContainerId, { readonly program: FakeProgram; readonly end: (code: number) => void }>()

  /** Every container from now on. */
  script(program: FakeProgram): void {
    this.#program = program
  }

  isRunning(id: ContainerId): boolean {
    return this.#running.has(id)
  }

  /** Ends a container that runs. */
  exit(id: ContainerId, exitCode: number): void {
    this.#running.get(id)?.end(exitCode)
  }

  async init(): Promise<void> {}

  async launch(request: LaunchRequest): Promise<LaunchOutcome> {
    const program = this.#program
    this.launches.push(request)
    if (program.startError !== undefined) throw new Error(program.startError)
    const exitCode = program.runs === true ? this.#run(request, program) : (program.exitCode ?? 0)
    if (program.hidesPid !== true) {
      await mkdir(dirname(request.pidFile), { recursive: true })
      await writeFile(request.pidFile, `${++this.#pid}\n`)
    }
    return { kind: 'exited', exitCode: await exitCode, stdout: program.stdout ?? '', stderr: program.stderr ?? '' }
  }

  signal(request: SignalRequest): Promise<boolean> {
    this.signals.push(request)
    const running = this.#running.get(request.containerId)
    if (running === undefined) return Promise.resolve(false)
    if (request.signal === 9) running.end(137)
    if (request.signal === 15 && running.program.ignoresTerm !== true) running.end(143)
    return Promise.resolve(true)
  }

  endStrays(_id: ContainerId, _before: readonly number[]): Promise<readonly number[]> {
    return Promise.resolve([])
  }

  async makeDirectory(): Promise<void> {}

  remove(_user: string | undefined, path: string): Promise<void> {
    this.removed.push(path)
    return Promise.resolve()
  }

  #run({ containerId }: LaunchRequest, program: FakeProgram): Promise<number> {
    return new Promise((resolve) => {
      const end = (code: number) => {
        this.#running.delete(containerId)
        resolve(code)
      }
      this.#running.set(containerId, { program, end })
    })
  }
}
