import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import { NodeUsage } from '../../../src/monitor/node-usage.ts'
import { FakeClock } from '../../helpers/fake-clock.ts'
import { until } from '../../helpers/until.ts'
import { writeAuxv } from './auxv.ts'

test('memory, swap and processors in use are measured at every interval', async () => {
  const proc = await mkdtemp(join(tmpdir(), 'bobbin-proc-'))
  const memory = (freeMb: number) =>
    `MemTotal: ${1000 * 1024} kB\nMemFree: ${freeMb * 1024} kB\nInactive(file): ${100 * 1024} kB\n` +
    `SwapTotal: ${500 * 1024} kB\nSwapFree: ${450 * 1024} kB\n`
  try {
    await writeAuxv(proc)
    await writeFile(join(proc, 'meminfo'), memory(300))
    await writeFile(join(proc, 'stat'), 'cpu  100 0 100 0 0\n')
    const clock = new FakeClock()
    const usage = new NodeUsage({ nodeIntervalMs: 2000, clock, log: silentLog, proc })
    assert.equal(usage.utilization().pmemMb, 0)
    await usage.start()
    await until('the first sample', () => usage.utilization().pmemMb > 0)
    assert.deepEqual(usage.utilization(), { pmemMb: 600, vmemMb: 650, vcores: 0 })
    await writeFile(join(proc, 'meminfo'), memory(200))
    await writeFile(join(proc, 'stat'), 'cpu  300 50 150 0 0\n')
    await clock.advance(2000)
    await until('the second sample', () => usage.utilization().pmemMb !== 600)
    assert.deepEqual(usage.utilization(), { pmemMb: 700, vmemMb: 750, vcores: 1.5 })
    await usage.stop()
  } finally {
    await rm(proc, { recursive: true })
  }
})

test('the machine that this runs on can be measured', async () => {
  const usage = new NodeUsage({ nodeIntervalMs: 1000, clock: new FakeClock(), log: silentLog })
  await usage.start()
  await until('the first sample', () => usage.utilization().pmemMb > 0)
  assert.ok(usage.utilization().pmemMb > 10)
  await usage.stop()
})
