import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import { ContainersMonitor, type MonitoredContainer } from '../../../src/monitor/containers-monitor.ts'
import { containerId, type ContainerId } from '../../../src/protocol/ids.ts'
import { FakeClock } from '../../helpers/fake-clock.ts'
import { until } from '../../helpers/until.ts'
import { writeAuxv } from './auxv.ts'

const id = (sequence: number): ContainerId =>
  containerId({ clusterTimestamp: 1, application: 1, attempt: 1, epoch: 0, sequence })
const MB = 2 ** 20

const PAGE_BYTES = 4096
let proc: string
before(async () => {
  proc = await mkdtemp(join(tmpdir(), 'bobbin-proc-'))
  await writeAuxv(proc)
})
after(() => rm(proc, { recursive: true }))

async function setProcess(pid: number, more: { ppid?: number; session?: number; ticks?: number; rss?: number } = {}) {
  const { ppid = 1, session = pid, ticks = 0, rss = 0 } = more
  await mkdir(join(proc, String(pid)), { recursive: true })
  const vmemBytes = 10 * MB + 5
  const text = `${pid} (x) S ${ppid} ${session} ${session} 0 -1 0 0 0 0 0 ${ticks} 0 0 0 20 0 1 0 1 ${vmemBytes} ${rss / PAGE_BYTES} 1\n`
  await writeFile(join(proc, String(pid), 'stat'), text)
}
const endProcess = (pid: number) => rm(join(proc, String(pid)), { recursive: true, force: true })

const table: MonitoredContainer[] = []
beforeEach(async () => {
  table.length = 0
  for (const pid of [10, 11, 20]) await endProcess(pid)
})

function monitor(clock: FakeClock, containerIntervalMs = 3000): ContainersMonitor {
  return new ContainersMonitor({
    containers: { containers: table },
    containerIntervalMs,
    vcores: () => 8,
    physicalCores: 4,
    clock,
    log: silentLog,
    proc,
  })
}

/** Lets the pass that is due end: it reads real files. */
async function pass(clock: FakeClock, ms: number, isOver: () => boolean): Promise<void> {
  await clock.advance(ms)
  await until('the pass ends', isOver)
}

test('memory is there after the first pass, processors after the second, and the sum is rounded per container', async () => {
  const clock = new FakeClock()
  const service = monitor(clock)
  table.push({ id: id(1), state: 'RUNNING', pid: 10 }, { id: id(2), state: 'KILLING', pid: 20 })
  await setProcess(10, { ticks: 100, rss: 3 * MB })
  await setProcess(11, { ppid: 10, session: 10, ticks: 50, rss: 4 * MB })
  await setProcess(20, { rss: MB + PAGE_BYTES })
  await service.start()
  await pass(clock, 0, () => service.usageOf(id(1)) !== undefined)
  assert.deepEqual(service.utilization(), { pmemMb: 8, vmemMb: 30, vcores: 0 })
  assert.equal(service.usageOf(id(1))?.pmemBytes, 7 * MB)
  // 4.5 seconds of processor in 3 seconds: 1.5 of 4 processors, of the 8 vcores 3.
  await setProcess(11, { ppid: 10, session: 10, ticks: 500, rss: 4 * MB })
  await pass(clock, 3000, () => service.usageOf(id(1))?.cores !== 0)
  assert.equal(service.usageOf(id(1))?.cores, 1.5)
  assert.equal(service.utilization().vcores, 3)
  await service.stop()
})

test('the time of a process that has ended does not make the sum go back', async () => {
  const clock = new FakeClock()
  const service = monitor(clock)
  table.push({ id: id(1), state: 'RUNNING', pid: 10 })
  await setProcess(10, { ticks: 10, rss: MB })
  await setProcess(11, { ppid: 10, session: 10, ticks: 900, rss: MB })
  await service.start()
  await pass(clock, 0, () => service.usageOf(id(1))?.pmemBytes === 2 * MB)
  await endProcess(11)
  await pass(clock, 3000, () => service.usageOf(id(1))?.pmemBytes === MB)
  assert.equal(service.usageOf(id(1))?.cores, 0)
  await service.stop()
})

test('a container that is not running, or has no process any more, is not measured', async () => {
  const clock = new FakeClock()
  const service = monitor(clock)
  table.push({ id: id(1), state: 'RUNNING', pid: 10 }, { id: id(2), state: 'DONE', pid: 20 })
  table.push({ id: id(3), state: 'RUNNING', pid: undefined })
  await setProcess(10, { rss: MB })
  await setProcess(20, { rss: MB }) // The pid is another process's by now.
  await service.start()
  await pass(clock, 0, () => service.usageOf(id(1)) !== undefined)
  assert.equal(service.usageOf(id(2)), undefined)
  assert.equal(service.utilization().pmemMb, 1)
  table.length = 0
  await pass(clock, 3000, () => service.usageOf(id(1)) === undefined)
  assert.deepEqual(service.utilization(), { pmemMb: 0, vmemMb: 0, vcores: 0 })
  await service.stop()
})

test('with an interval of 0 nothing is measured', async () => {
  const clock = new FakeClock()
  const service = monitor(clock, 0)
  table.push({ id: id(1), state: 'RUNNING', pid: 10 })
  await service.start()
  assert.equal(clock.waiting, 0)
  await service.stop()
})
