import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog, type Log } from '../../../src/base/log.ts'
import { DeletionService } from '../../../src/deletion/deletion-service.ts'
import { FakeClock, settle } from '../../helpers/fake-clock.ts'

interface Attempt {
  readonly user: string | undefined
  readonly path: string
  readonly finish: (error?: Error) => void
}

function makeService({ debugDelaySec = 0, threads = 4, isHeld = false } = {}) {
  const clock = new FakeClock()
  const lines: string[] = []
  const write = (...args: unknown[]): void => void lines.push(String(args.at(-1)))
  const log: Log = { ...silentLog, warn: write, error: write }
  const attempts: Attempt[] = []
  const failing = new Set<string>()
  const executor = {
    remove: (user: string | undefined, path: string) =>
      new Promise<void>((resolve, reject) => {
        attempts.push({ user, path, finish: (error) => (error === undefined ? resolve() : reject(error)) })
        if (failing.has(path)) reject(new Error(`EACCES: ${path}`))
        else if (!isHeld) resolve()
      }),
  }
  const service = new DeletionService({ debugDelaySec, threads, executor, clock, log })
  return { service, clock, lines, attempts, failing, paths: () => attempts.map(({ path }) => path) }
}

test('paths go at once, as their owner, when there is no delay', async () => {
  const { service, attempts } = makeService()
  service.schedule('alice', ['/a', '/b'])
  service.schedule(undefined, ['/c'])
  await service.idle()
  assert.deepEqual(
    attempts.map(({ user, path }) => [user, path]),
    [
      ['alice', '/a'],
      ['alice', '/b'],
      [undefined, '/c'],
    ],
  )
  assert.equal(service.pendingCount, 0)
})

test('the debug delay is in seconds, and −1 deletes nothing', async () => {
  const delayed = makeService({ debugDelaySec: 600 })
  delayed.service.schedule('alice', ['/a'])
  await delayed.clock.advance(599_999)
  assert.deepEqual(delayed.paths(), [])
  await delayed.clock.advance(1)
  assert.deepEqual(delayed.paths(), ['/a'])
  const never = makeService({ debugDelaySec: -1 })
  never.service.schedule('alice', ['/a'])
  never.service.scheduleInOrder([{ user: 'alice', paths: ['/a/b'] }], { user: undefined, paths: ['/a'] })
  await never.clock.advance(1e9)
  assert.deepEqual(never.paths(), [])
  assert.equal(never.service.pendingCount, 0)
})

test('only so many are removed at a time', async () => {
  const { service, attempts, paths } = makeService({ threads: 2, isHeld: true })
  service.schedule(undefined, ['/a', '/b', '/c'])
  await settle()
  assert.deepEqual(paths(), ['/a', '/b'])
  attempts[1]!.finish()
  await settle()
  assert.deepEqual(paths(), ['/a', '/b', '/c'])
})

test('a failure is tried again after growing pauses and given up by name in the end', async () => {
  const { service, clock, paths, failing, lines } = makeService()
  failing.add('/bad')
  service.schedule('alice', ['/bad', '/good'])
  await settle()
  assert.deepEqual(paths(), ['/bad', '/good'])
  await clock.advance(999)
  assert.equal(paths().length, 2)
  await clock.advance(1)
  assert.equal(paths().length, 3)
  await clock.advance(3999)
  assert.equal(paths().length, 3)
  await clock.advance(1)
  assert.equal(paths().length, 4)
  assert.equal(lines[0], 'deleting /bad failed, next attempt in 1000 ms: EACCES: /bad')
  await clock.advance(3_600_000)
  assert.equal(lines.at(-1), 'gave up deleting /bad after 9 attempts: EACCES: /bad')
  assert.equal(service.pendingCount, 0)
  assert.equal(clock.waiting, 0)
})

test('a path that goes at a later attempt is over', async () => {
  const { service, clock, failing } = makeService()
  failing.add('/bad')
  service.schedule(undefined, ['/bad'])
  await settle()
  failing.clear()
  await clock.advance(1000)
  assert.equal(service.pendingCount, 0)
})

test('the last of an order waits for all before it, also for those that are given up', async () => {
  const { service, clock, failing, paths } = makeService()
  failing.add('/u/bob')
  const users = ['alice', 'bob'].map((user) => ({ user, paths: [`/u/${user}`] }))
  service.scheduleInOrder(users, { user: undefined, paths: ['/u'] })
  await clock.advance(10_000)
  assert.ok(!paths().includes('/u'))
  await clock.advance(3_600_000)
  assert.equal(paths().at(-1), '/u')
  service.scheduleInOrder([], { user: undefined, paths: ['/v'] })
  await service.idle()
  assert.equal(paths().at(-1), '/v')
})

test('nothing but an absolute path below the root is taken', async () => {
  const { service, paths, lines } = makeService()
  service.schedule(undefined, ['relative', '/', '//', '/a/..'])
  await service.idle()
  assert.deepEqual(paths(), [])
  assert.equal(lines[0], 'refused to delete relative: not an absolute path below the root')
})

test('a stop finishes what is due and says what is left', async () => {
  const { service, clock, attempts, lines, paths } = makeService({ threads: 1, isHeld: true })
  service.schedule(undefined, ['/a', '/b'])
  const stopped = service.stop()
  await settle()
  attempts[0]!.finish()
  await settle()
  assert.deepEqual(paths(), ['/a', '/b'])
  await clock.advance(5000)
  await stopped
  assert.equal(lines.at(-1), '1 paths were not deleted before the stop')
  service.schedule(undefined, ['/late'])
  assert.equal(lines.at(-1), '/late is not deleted: the service has stopped')
  await service.stop()
})

test('a stop drops what waits for its delay', async () => {
  const { service, clock, paths, lines } = makeService({ debugDelaySec: 60 })
  service.schedule(undefined, ['/a'])
  await service.stop()
  await clock.advance(600_000)
  assert.deepEqual(paths(), [])
  assert.deepEqual(lines, ['1 paths were not deleted before the stop'])
})
