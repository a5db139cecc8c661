import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  parseBusyTicks,
  parseMemoryInfo,
  parseStat,
  readMachineUnits,
  readProcesses,
} from '../../../src/monitor/procfs.ts'

// A line as Linux writes it, with field 24 (rss) 320 and so on.
const line = (name: string) =>
  `4711 (${name}) S 4700 4699 4698 0 -1 4194304 169 0 0 0 12 34 5 6 20 0 1 0 4402 5300224 320 18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n`

for (const name of ['sleep', 'a b', ')', '((', 'x) R 1 1 1', 'tmux: server', ''])
  test(`a process called "${name}" is read right`, () => {
    assert.deepEqual(parseStat(line(name)), {
      pid: 4711,
      parentPid: 4700,
      group: 4699,
      session: 4698,
      cpuTicks: 46,
      vmemBytes: 5_300_224,
      rssPages: 320,
    })
  })

test('anything that is no stat line gives undefined', () => {
  for (const text of ['', '4711', '4711 (a', '4711 (a)', '4711 (a) S 1 2', 'x (a) S 1 2 3', line('a').slice(0, 60)])
    assert.equal(parseStat(text), undefined, text)
})

test('a pass over /proc takes the processes and nothing else, and forgives those that end meanwhile', async () => {
  const proc = await mkdtemp(join(tmpdir(), 'bobbin-proc-'))
  try {
    await mkdir(join(proc, '4711'))
    await writeFile(join(proc, '4711', 'stat'), line('one'))
    await mkdir(join(proc, '12')) // Its stat file is gone already.
    await mkdir(join(proc, '13'))
    await writeFile(join(proc, '13', 'stat'), '')
    await mkdir(join(proc, 'sys'))
    await writeFile(join(proc, 'meminfo'), 'x')
    await symlink('4711', join(proc, 'self'))
    assert.deepEqual(
      (await readProcesses(proc)).map((process) => process.pid),
      [4711],
    )
  } finally {
    await rm(proc, { recursive: true })
  }
})

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
