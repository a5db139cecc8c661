import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { silentLog } from '../../../src/base/log.ts'
import { applicationId, attemptId, nodeId } from '../../../src/protocol/ids.ts'
import { fitsIn, NOTHING, plus } from '../../../src/rm/amounts.ts'
import type { Ask } from '../../../src/rm/asks.ts'
import type { RmContainer } from '../../../src/rm/containers.ts'
import { RmNode, RmNodes } from '../../../src/rm/nodes.ts'
import { FifoScheduler } from '../../../src/rm/scheduler.ts'
import type { SchedulerAttempt } from '../../../src/rm/scheduler-attempt.ts'
import { FakeClock } from '../../helpers/fake-clock.ts'

class Cluster {
  readonly clock = new FakeClock()
  readonly nodes = new RmNodes()
  readonly completed: { id: string; exitStatus: number | null | undefined; diagnostics: string | null | undefined }[] =
    []
  readonly scheduler = new FifoScheduler({
    nodes: this.nodes,
    minimumAllocation: { memoryMb: 1, vcores: 1 },
    maximumAllocation: { memoryMb: 8192, vcores: 8 },
    containerExpiryMs: 6000,
    listener: {
      masterAllocated: () => {},
      containerCompleted: ({ id }, { exitStatus, diagnostics }) => this.completed.push({ id, exitStatus, diagnostics }),
    },
    clock: this.clock,
    log: silentLog,
  })
  #order = 0

  addNode(host: string, memoryMb = 8, vcores = 8): RmNode {
    const fields = {
      id: nodeId(host, 1),
      httpPort: 1,
      total: { memoryMb, vcores },
      physical: NOTHING,
      version: '',
      remoteAddress: '',
    }
    const node = new RmNode(fields, silentLog)
    this.nodes.add(node)
    return node
  }

  addAttempt(order = ++this.#order): SchedulerAttempt {
    const id = attemptId(applicationId(1, order), 1)
    return this.scheduler.add({ id, user: 'u', order, isMasterWanted: false })
  }

  /** Asks, schedules and pulls; returns the hosts. */
  serve(attempt: SchedulerAttempt, ...asks: Ask[]): string[] {
    attempt.asks.update(asks)
    this.scheduler.schedule()
    return this.scheduler.pull(attempt).map(({ fields }) => fields.nodeId.split(':')[0]!)
  }
}

function ask(resourceName: string, count: number, more: Partial<Ask> = {}): Ask {
  const capability = { memoryMb: 1, vcores: 1 }
  return { priority: 0, allocationRequestId: -1, resourceName, capability, count, relaxLocality: true, ...more }
}

const RACK = '/default-rack'

test('memory and vcores both limit a node', () => {
  const cluster = new Cluster()
  cluster.addNode('a', 4, 2)
  cluster.addNode('b', 2, 4)
  const attempt = cluster.addAttempt()
  assert.deepEqual(cluster.serve(attempt, ask('*', 9)).sort(), ['a', 'a', 'b', 'b'])
  assert.equal(attempt.asks.pendingCount, 5)
})

test('without an ask on any node nothing is served, whatever is asked by host', () => {
  const cluster = new Cluster()
  cluster.addNode('a')
  assert.deepEqual(cluster.serve(cluster.addAttempt(), ask('a', 1), ask(RACK, 1)), [])
})

test('a host that is asked for is preferred, and counted down with its rack and the total', () => {
  const cluster = new Cluster()
  cluster.addNode('a', 100, 100)
  cluster.addNode('b', 2, 2)
  const attempt = cluster.addAttempt()
  assert.deepEqual(cluster.serve(attempt, ask('b', 1), ask(RACK, 1), ask('*', 1)), ['b'])
  assert.equal(attempt.asks.pendingCount, 0)
  assert.deepEqual(cluster.serve(attempt, ask('*', 1)), ['a'], 'nothing is left of the ask for the host')
})

test('locality that is not relaxed waits for the host', () => {
  const cluster = new Cluster()
  cluster.addNode('a')
  const attempt = cluster.addAttempt()
  const strict = { relaxLocality: false }
  assert.deepEqual(cluster.serve(attempt, ask('b', 1), ask(RACK, 1, strict), ask('*', 1, strict)), [])
  cluster.addNode('b')
  assert.deepEqual(cluster.serve(attempt), ['b'])
})

test('locality that is relaxed up to the rack takes any node of it', () => {
  const cluster = new Cluster()
  cluster.addNode('a')
  const attempt = cluster.addAttempt()
  assert.deepEqual(cluster.serve(attempt, ask('b', 1), ask(RACK, 1), ask('*', 1, { relaxLocality: false })), ['a'])
})

test('hosts that the master has excluded are not used until it takes them back', () => {
  const cluster = new Cluster()
  cluster.addNode('a')
  const attempt = cluster.addAttempt()
  attempt.blacklist.add('a')
  assert.deepEqual(cluster.serve(attempt, ask('*', 1)), [])
  assert.deepEqual(cluster.scheduler.headroom(attempt), NOTHING)
  attempt.blacklist.delete('a')
  assert.deepEqual(cluster.serve(attempt), ['a'])
})

test('lower priority numbers are served first, then lower allocation request ids', () => {
  const cluster = new Cluster()
  cluster.addNode('a', 3, 3)
  const attempt = cluster.addAttempt()
  attempt.asks.update([
    ask('*', 1, { priority: 20 }),
    ask('*', 1, { priority: 5, allocationRequestId: 2 }),
    ask('*', 1, { priority: 5, allocationRequestId: 1 }),
    ask('*', 1, { priority: 10 }),
  ])
  cluster.scheduler.schedule()
  assert.deepEqual(
    cluster.scheduler.pull(attempt).map(({ fields }) => [fields.priority, fields.allocationRequestId]),
    [
      [5, 1],
      [5, 2],
      [10, -1],
    ],
  )
})

test('an ask replaces the earlier one, and zero takes it away', () => {
  const cluster = new Cluster()
  const attempt = cluster.addAttempt()
  attempt.asks.update([ask('*', 5), ask('*', 2)])
  assert.equal(attempt.asks.pendingCount, 2)
  attempt.asks.update([ask('*', 3, { priority: 1 }), ask('*', 0)])
  assert.equal(attempt.asks.pendingCount, 3)
})

test('a container that its master has not heard of is asked for again when its node is lost', () => {
  const cluster = new Cluster()
  const node = cluster.addNode('a')
  const attempt = cluster.addAttempt()
  attempt.asks.update([ask('a', 1), ask(RACK, 1), ask('*', 1)])
  cluster.scheduler.schedule()
  node.depart('EXPIRED')
  cluster.nodes.retire(node)
  cluster.scheduler.nodeUnusable(node)
  assert.deepEqual(cluster.completed, [])
  assert.equal(attempt.asks.pendingCount, 1)
  cluster.addNode('b')
  cluster.addNode('a')
  assert.deepEqual(cluster.serve(attempt), ['a'], 'the host is still preferred')
})

test('a container that is not used in time is taken back', async () => {
  const cluster = new Cluster()
  const node = cluster.addNode('a')
  cluster.scheduler.start()
  const attempt = cluster.addAttempt()
  attempt.asks.update([ask('*', 2)])
  cluster.scheduler.schedule()
  const [used, unused] = cluster.scheduler.pull(attempt)
  cluster.scheduler.launched(used!.id)
  await cluster.clock.advance(9000)
  cluster.scheduler.stop()
  assert.deepEqual(cluster.completed, [
    { id: unused!.id, exitStatus: -100, diagnostics: 'Container expired since it was unused' },
  ])
  assert.deepEqual([...node.orders.containersToCleanup], [unused!.id])
  assert.deepEqual(node.used, { memoryMb: 1, vcores: 1 })
})

const size = fc.record({ memoryMb: fc.integer({ min: 1, max: 5 }), vcores: fc.integer({ min: 1, max: 3 }) })
const step = fc.oneof(
  fc.record({
    kind: fc.constant('ask' as const),
    attempt: fc.nat(3),
    host: fc.constantFrom('*', 'n0', 'n1', RACK),
    count: fc.nat(4),
    priority: fc.nat(2),
    capability: size,
    relaxLocality: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('complete' as const), container: fc.nat(20) }),
  fc.record({ kind: fc.constant('lose' as const), node: fc.nat(2) }),
  fc.record({ kind: fc.constant('remove' as const), attempt: fc.nat(3) }),
)

test('no node is ever given more than it has, and what is taken is always accounted for', () => {
  fc.assert(
    fc.property(fc.array(size, { minLength: 1, maxLength: 3 }), fc.array(step, { maxLength: 40 }), (sizes, steps) => {
      const cluster = new Cluster()
      const nodes = sizes.map(({ memoryMb, vcores }, n) => cluster.addNode(`n${n}`, memoryMb * 3, vcores * 3))
      const attempts = [1, 2, 3, 4].map((order) => cluster.addAttempt(order))
      const live: RmContainer[] = []
      for (const one of steps) {
        if (one.kind === 'ask') {
          const { host, count, ...more } = one
          attempts[one.attempt]!.asks.update([ask(host, count, more)])
        } else if (one.kind === 'complete') {
          const container = live[one.container % Math.max(1, live.length)]
          if (container !== undefined) cluster.scheduler.completed(container.id, { exitStatus: 0 })
        } else if (one.kind === 'remove') cluster.scheduler.remove(attempts[one.attempt]!.id)
        else {
          const node = nodes[one.node % nodes.length]!
          node.reportHealth({ isHealthy: !node.isUsable, report: '', reportTime: 0 })
          cluster.scheduler.nodeUnusable(node)
        }
        cluster.scheduler.schedule()
        for (const attempt of attempts) live.push(...cluster.scheduler.pull(attempt))
        for (const node of nodes) {
          assert.ok(fitsIn(node.used, node.total), `${node.id} has ${JSON.stringify([node.used, node.total])}`)
          const sum = [...node.containersById.values()].reduce((all, { fields }) => plus(all, fields.resource), NOTHING)
          assert.deepEqual(node.used, sum)
          if (!node.isUsable) assert.equal(node.containersById.size, 0)
        }
        const held = attempts.flatMap((attempt) => [...attempt.containersById.keys()]).sort()
        assert.deepEqual(held, nodes.flatMap((node) => [...node.containersById.keys()]).sort())
      }
    }),
    { numRuns: 200 },
  )
})

test('what was submitted first is served first: nothing of a later one is placed while an earlier ask fits', () => {
  fc.assert(
    fc.property(
      fc.array(size, { minLength: 1, maxLength: 3 }),
      fc.array(fc.record({ capability: size, count: fc.integer({ min: 1, max: 5 }) }), { minLength: 2, maxLength: 5 }),
      (sizes, wanted) => {
        const cluster = new Cluster()
        const nodes = sizes.map(({ memoryMb, vcores }, n) => cluster.addNode(`n${n}`, memoryMb * 2, vcores * 2))
        const attempts = wanted.map(({ capability, count }) => {
          const attempt = cluster.addAttempt()
          attempt.asks.update([ask('*', count, { capability })])
          return attempt
        })
        cluster.scheduler.schedule()
        attempts.forEach((attempt, place) => {
          if (attempt.asks.pendingCount === 0) return
          // It waits: not even without those behind it would another one of its containers have had room.
          const ahead = new Set(attempts.slice(0, place + 1).map(({ id }) => id))
          for (const node of nodes) {
            const taken = [...node.containersById.values()]
              .filter(({ fields }) => ahead.has(fields.attemptId))
              .reduce((all, { fields }) => plus(all, fields.resource), NOTHING)
            assert.ok(!fitsIn(plus(taken, wanted[place]!.capability), node.total))
          }
        })
      },
    ),
    { numRuns: 200 },
  )
})
