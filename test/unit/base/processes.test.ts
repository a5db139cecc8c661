import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseStat, readProcess, readProcesses } from '../../../src/base/processes.ts'

// A line as Linux writes it, with field 24 (rss) 320 and so on.
const line = (name: string) =>
  `4711 (${name}) S 4700 4699 4698 0 -1 4194304 169 0 0 0 12 34 5 6 20 0 1 0 4402 5300224 320 18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n`

for (const name of ['sleep', 'a b', ')', '((', 'x) R 1 1 1', 'tmux: server', ''])
  test(`a process called "${name}" is read right`, () => {
    assert.deepEqual(parseStat(line(name)), {
      pid: 4711,
      state: 'S',
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

test('a process that is not there is undefined', async () => {
  assert.equal(await readProcess(2 ** 30), undefined)
  assert.equal((await readProcess(process.pid))?.parentPid, process.ppid)
})
