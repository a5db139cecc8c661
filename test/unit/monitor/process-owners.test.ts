import assert from 'node:assert/strict'
import { test } from 'node:test'
import { containerId, type ContainerId } from '../../../src/protocol/ids.ts'
import type { ProcessStat } from '../../../src/base/processes.ts'
import { processesByContainer } from '../../../src/monitor/process-owners.ts'

const id = (sequence: number): ContainerId =>
  containerId({ clusterTimestamp: 1, application: 1, attempt: 1, epoch: 0, sequence })

const proc = (pid: number, parentPid: number, group = pid, session = group): ProcessStat => ({
  pid,
  state: 'S',
  parentPid,
  group,
  session,
  cpuTicks: 1,
  vmemBytes: 1,
  rssPages: 1,
})

function owners(processes: ProcessStat[], roots: [number, ContainerId][]): Record<string, number[]> {
  const result = processesByContainer(processes, new Map(roots))
  return Object.fromEntries([...result].map(([key, own]) => [key, own.map((process) => process.pid)]))
}

test('descendants, and orphans of the session or the group, belong to the container', () => {
  const processes = [
    proc(1, 0),
    proc(50, 1), // the daemon
    proc(100, 50), // the container's first process, leader of session and group
    proc(101, 100, 100, 100),
    proc(102, 101, 100, 100),
    proc(103, 102, 103, 103), // has made a session of its own, but its parent is known
    proc(104, 1, 100, 100), // an orphan in the group
    proc(105, 1, 105, 100), // an orphan in the session
    proc(106, 1, 106, 106), // an orphan of another session: nothing leads to the container
    proc(200, 50),
    proc(201, 200, 200, 200),
  ]
  const expected = { [id(1)]: [100, 101, 102, 103, 104, 105], [id(2)]: [200, 201] }
  const roots: [number, ContainerId][] = [
    [100, id(1)],
    [200, id(2)],
  ]
  assert.deepEqual(owners(processes, roots), expected)
  assert.deepEqual(
    Object.values(owners(processes.toReversed(), roots))
      .map((own) => own.toSorted((a, b) => a - b))
      .toSorted(),
    Object.values(expected).toSorted(),
  )
})

test('what remains of a container whose first process is gone is still counted', () => {
  assert.deepEqual(owners([proc(1, 0), proc(101, 1, 100, 100)], [[100, id(1)]]), { [id(1)]: [101] })
})

test('a container without a process has no entry, and a ring of parents ends', () => {
  assert.deepEqual(owners([proc(1, 0), proc(2, 3), proc(3, 2)], [[100, id(1)]]), {})
})

test('a chain of ten thousand processes is walked', () => {
  const chain = Array.from({ length: 10_000 }, (_, index) => proc(index + 2, index + 1, index + 2))
  const own = processesByContainer(chain.toReversed(), new Map([[2, id(1)]])).get(id(1))
  assert.equal(own?.length, 10_000)
})
