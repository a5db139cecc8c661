import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readProcesses } from '../../../src/base/processes.ts'
import { parseBusyTicks, parseMemoryInfo, readMachineUnits } from '../../../src/monitor/procfs.ts'

test('this process finds itself in /proc', async () => {
  const self = (await readProcesses()).find((other) => other.pid === process.pid)
  assert.equal(self?.parentPid, process.ppid)
  const { pageBytes, ticksPerSecond } = await readMachineUnits()
  const rssBytes = (self?.rssPages ?? 0) * pageBytes
  assert.ok(Math.abs(rssBytes - process.memoryUsage().rss) < 16 * 2 ** 20)
  assert.equal(ticksPerSecond, 100)
})

test('memory is counted as Java counts it', () => {
  const text = [
    'MemTotal:       24000000 kB',
    'MemFree:         4000000 kB',
    'MemAvailable:   20000000 kB',
    'Inactive:        9000000 kB',
    'Inactive(anon):  1000000 kB',
    'Inactive(file):  8000000 kB',
    'SwapTotal:       2000000 kB',
    'SwapFree:        1500000 kB',
    'HardwareCorrupted:    10 kB',
    'HugePages_Total:      5',
    'Hugepagesize:       2048 kB',
  ].join('\n')
  const kb = 1024
  assert.deepEqual(parseMemoryInfo(text), {
    totalBytes: (24_000_000 - 10 - 5 * 2048) * kb,
    availableBytes: 12_000_000 * kb,
    swapTotalBytes: 2_000_000 * kb,
    swapFreeBytes: 1_500_000 * kb,
  })
  const old = text.replace(/^Inactive\(file\).*$/m, '')
  assert.equal(parseMemoryInfo(old).availableBytes, 13_000_000 * kb)
})

test('busy ticks are those of user, nice and system', () => {
  assert.equal(parseBusyTicks('cpu  10 20 30 400 50 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7\n'), 60)
  assert.equal(parseBusyTicks('intr 1 2 3\n'), 0)
})
