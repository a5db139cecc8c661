import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { readProcesses, type ProcessStat } from '../base/processes.ts'
import type { Service } from '../base/service.ts'
import type { MonitorConfig } from '../config/node-manager-config.ts'
import type { ContainerId } from '../protocol/ids.ts'
import { processesByContainer } from './process-owners.ts'
import { readMachineUnits, type MachineUnits } from './procfs.ts'
import { runTicker } from './ticker.ts'
import { NOTHING_IN_USE, type Utilization } from './utilization.ts'

/** A container as the monitor sees it. */
export interface MonitoredContainer {
  readonly id: ContainerId
  readonly state: string
  /** Of its first process, the leader of session and process group. */
  readonly pid: number | undefined
}

/** What the processes of one container use. */
export interface ContainerUsage {
  readonly pmemBytes: number
  readonly vmemBytes: number
  /** Processors in use since the pass before; 0 in the first one. */
  readonly cores: number
}

export interface ContainersMonitorOptions extends Pick<MonitorConfig, 'containerIntervalMs'> {
  readonly containers: { readonly containers: Iterable<MonitoredContainer> }
  /** Vcores that the node offers now. */
  vcores(): number
  /** Processors of the machine. */
  readonly physicalCores: number
  readonly clock: Clock
  readonly log: Log
  /** `/proc`; tests have their own. */
  readonly proc?: string
}

/** States in which a container has processes. Once it has exited, its pid may be another process's. */
const WITH_PROCESSES: ReadonlySet<string> = new Set([
  'RUNNING',
  'REINITIALIZING',
  'REINITIALIZING_AWAITING_KILL',
  'KILLING',
  'PAUSING',
  'PAUSED',
  'RESUMING',
])
const MB = 2 ** 20

interface Sample extends ContainerUsage {
  readonly cpuTicks: number
  readonly timeMs: number
}

/**
 * Measures what containers use, in one pass over /proc for all of them; while there are none it reads nothing.
 * Source: ContainersMonitorImpl.MonitoringThread.
 */
export class ContainersMonitor implements Service {
  readonly name = 'containers-monitor'
  readonly #options: ContainersMonitorOptions
  readonly #stopping = new AbortController()
  #loop: Promise<void> = Promise.resolve()
  #samples: ReadonlyMap<ContainerId, Sample> = new Map()

  constructor(options: ContainersMonitorOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    const { containerIntervalMs: intervalMs, clock, log, proc } = this.#options
    if (intervalMs <= 0) return
    const units = await readMachineUnits(proc)
    const ticker = { intervalMs, clock, log, what: 'measuring the containers' }
    this.#loop = runTicker(ticker, this.#stopping.signal, () => this.#measure(units))
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#loop
  }

  /** @returns undefined before the first pass, and when the container has no process. */
  usageOf(id: ContainerId): ContainerUsage | undefined {
    return this.#samples.get(id)
  }

  /** Sum of the last pass, each container rounded down as Java does. */
  utilization(): Utilization {
    if (this.#samples.size === 0) return NOTHING_IN_USE
    const vcoresPerCore = this.#options.vcores() / this.#options.physicalCores
    let [pmemMb, vmemMb, milliVcores] = [0, 0, 0]
    for (const { pmemBytes, vmemBytes, cores } of this.#samples.values()) {
      pmemMb += Math.floor(pmemBytes / MB)
      vmemMb += Math.floor(vmemBytes / MB)
      milliVcores += Math.floor(cores * vcoresPerCore * 1000)
    }
    return { pmemMb, vmemMb, vcores: milliVcores / 1000 }
  }

  async #measure(units: MachineUnits): Promise<void> {
    const containersByPid = new Map<number, ContainerId>()
    for (const { id, state, pid } of this.#options.containers.containers)
      if (pid !== undefined && WITH_PROCESSES.has(state)) containersByPid.set(pid, id)
    if (containersByPid.size === 0) {
      this.#samples = new Map()
      return
    }
    const processes = await readProcesses(this.#options.proc)
    const timeMs = this.#options.clock.monotonicMs()
    const samples = new Map<ContainerId, Sample>()
    for (const [id, own] of processesByContainer(processes, containersByPid))
      samples.set(id, sampleOf(own, units, timeMs, this.#samples.get(id)))
    this.#samples = samples
  }
}

function sampleOf(
  processes: readonly ProcessStat[],
  { pageBytes, ticksPerSecond }: MachineUnits,
  timeMs: number,
  before: Sample | undefined,
): Sample {
  let [pmemBytes, vmemBytes, living] = [0, 0, 0]
  for (const process of processes) {
    pmemBytes += process.rssPages * pageBytes
    vmemBytes += process.vmemBytes
    living += process.cpuTicks
  }
  // What an ended process has used is no longer in the sum, which must not go back. Java: CpuTimeTracker.
  const cpuTicks = Math.max(living, before?.cpuTicks ?? 0)
  const seconds = (timeMs - (before?.timeMs ?? timeMs)) / 1000
  const cores = before === undefined || seconds <= 0 ? 0 : (cpuTicks - before.cpuTicks) / ticksPerSecond / seconds
  return { pmemBytes, vmemBytes, cores, cpuTicks, timeMs }
}
