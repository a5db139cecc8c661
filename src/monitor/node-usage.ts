import { readFile } from 'node:fs/promises'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Service } from '../base/service.ts'
import type { MonitorConfig } from '../config/node-manager-config.ts'
import { parseBusyTicks, parseMemoryInfo, readMachineUnits } from './procfs.ts'
import { runTicker } from './ticker.ts'
import { NOTHING_IN_USE, type Utilization } from './utilization.ts'

export interface NodeUsageOptions extends Pick<MonitorConfig, 'nodeIntervalMs'> {
  readonly clock: Clock
  readonly log: Log
  /** `/proc`; tests have their own. */
  readonly proc?: string
}

const MB = 2 ** 20

interface BusyTime {
  readonly busyTicks: number
  readonly timeMs: number
}

/**
 * What the whole machine uses, by two small files. systeminformation is not asked: its currentLoad starts a process
 * each time and waits for it, its mem counts differently from Java, and loading it takes 11 MB.
 * Source: NodeResourceMonitorImpl, SysInfoLinux.
 */
export class NodeUsage implements Service {
  readonly name = 'node-usage'
  readonly #options: NodeUsageOptions
  readonly #stopping = new AbortController()
  #loop: Promise<void> = Promise.resolve()
  #utilization = NOTHING_IN_USE
  #before: BusyTime | undefined

  constructor(options: NodeUsageOptions) {
    this.#options = options
  }

  /** The first sample is taken at once; processors are known from the second on. */
  async start(): Promise<void> {
    const { nodeIntervalMs: intervalMs, clock, log, proc } = this.#options
    if (intervalMs <= 0) return
    const { ticksPerSecond } = await readMachineUnits(proc)
    const ticker = { intervalMs, clock, log, what: "measuring the node's utilisation" }
    this.#loop = runTicker(ticker, this.#stopping.signal, () => this.#sample(ticksPerSecond))
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#loop
  }

  /** Of the last sample; nothing before the first one. */
  utilization(): Utilization {
    return this.#utilization
  }

  async #sample(ticksPerSecond: number): Promise<void> {
    const { clock, proc = '/proc' } = this.#options
    const memory = parseMemoryInfo(await readFile(`${proc}/meminfo`, 'latin1'))
    const busyTicks = parseBusyTicks(await readFile(`${proc}/stat`, 'latin1'))
    const now = { busyTicks, timeMs: clock.monotonicMs() }
    const usedBytes = memory.totalBytes - memory.availableBytes
    const swapUsedBytes = memory.swapTotalBytes - memory.swapFreeBytes
    this.#utilization = {
      pmemMb: Math.floor(usedBytes / MB),
      vmemMb: Math.floor((usedBytes + swapUsedBytes) / MB),
      vcores: busyCores(this.#before ?? now, now, ticksPerSecond),
    }
    this.#before = now
  }
}

function busyCores(before: BusyTime, now: BusyTime, ticksPerSecond: number): number {
  const seconds = (now.timeMs - before.timeMs) / 1000
  return seconds <= 0 ? 0 : Math.max(0, now.busyTicks - before.busyTicks) / ticksPerSecond / seconds
}
