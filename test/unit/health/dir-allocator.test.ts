import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import { DirAllocator } from '../../../src/health/dir-allocator.ts'
import { FakeClock } from '../../helpers/fake-clock.ts'

function makeAllocator(free: Record<string, number>, draws: number[] = []) {
  const clock = new FakeClock()
  const asked: string[] = []
  const allocator = new DirAllocator({
    clock,
    log: silentLog,
    random: () => draws.shift() ?? 0,
    freeBytes: async (dir) => {
      asked.push(dir)
      const bytes = free[dir]
      if (bytes === undefined) throw new Error('EROFS')
      return bytes
    },
  })
  return { allocator, clock, asked, free }
}

test('an unknown size draws a dir in proportion to its free bytes', async () => {
  const { allocator } = makeAllocator({ '/a': 100, '/b': 0, '/c': 300 }, [0, 0.2499, 0.25, 0.9999])
  const dirs = ['/a', '/b', '/c']
  const drawn: string[] = []
  for (let i = 0; i < 4; i++) drawn.push(await allocator.allocate(dirs, 'x/y', undefined))
  assert.deepEqual(drawn, ['/a/x/y', '/a/x/y', '/c/x/y', '/c/x/y'])
})

test('a known size goes round to the first dir that has more', async () => {
  const { allocator } = makeAllocator({ '/a': 100, '/b': 1000 }, [0])
  const drawn: string[] = []
  for (const size of [10, 10, 10, 100, 100, 10]) drawn.push(await allocator.allocate(['/a', '/b'], 'x', size))
  assert.deepEqual(drawn, ['/a/x', '/b/x', '/a/x', '/b/x', '/b/x', '/a/x'])
})

test('with three dirs and more the step is random', async () => {
  const { allocator } = makeAllocator({ '/a': 9, '/b': 9, '/c': 9 }, [0.5, 0.99, 0.99])
  const drawn: string[] = []
  for (let i = 0; i < 3; i++) drawn.push(await allocator.allocate(['/a', '/b', '/c'], 'x', 1))
  assert.deepEqual(drawn, ['/b/x', '/a/x', '/c/x'])
})

test('without space the words are Hadoop’s', async () => {
  const { allocator } = makeAllocator({ '/a': 0, '/b': 0 })
  await assert.rejects(allocator.allocate(['/a', '/b', '/ro'], 'x', undefined), {
    code: 'ERR_NO_LOCAL_DIR',
    message: `No space available in any of the local directories /a /b /ro on host${hostname()}`,
  })
  const small = makeAllocator({ '/a': 5, '/b': 7 }).allocator
  await assert.rejects(small.allocate(['/a', '/b'], 'filecache', 7), {
    code: 'ERR_NO_LOCAL_DIR',
    message:
      `Could not find any valid local directory for filecache with requested size 7 on host ${hostname()} ` +
      'as the max capacity in any directory ( /a /b ) is 7',
  })
})

test('free space is asked for every 30 seconds', async () => {
  const { allocator, clock, asked, free } = makeAllocator({ '/a': 5 })
  await allocator.allocate(['/a'], 'x', undefined)
  free['/a'] = 0
  await clock.advance(29_999)
  await allocator.allocate(['/a'], 'x', undefined)
  assert.equal(asked.length, 1)
  await clock.advance(1)
  await assert.rejects(allocator.allocate(['/a'], 'x', undefined))
  assert.equal(asked.length, 2)
})
