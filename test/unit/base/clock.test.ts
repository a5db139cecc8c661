import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../src/base/clock.ts'

const MONTH_MS = 30 * 86_400_000
/** What Node's own timers can wait. */
const LONGEST_MS = 2 ** 31 - 1

test('a wait of a month is a month and not a moment', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const done: string[] = []
  systemClock.schedule(MONTH_MS, () => done.push('scheduled'))
  const cancelled = systemClock.schedule(MONTH_MS, () => done.push('cancelled'))
  const sleep = systemClock.sleep(MONTH_MS).then(() => done.push('slept'))
  // A pretended clock does not stop where a timer is due.
  t.mock.timers.tick(LONGEST_MS)
  t.mock.timers.tick(MONTH_MS - LONGEST_MS - 1)
  cancelled.cancel()
  assert.deepEqual(done, [])
  t.mock.timers.tick(1)
  await sleep
  assert.deepEqual(done, ['scheduled', 'slept'])
})
