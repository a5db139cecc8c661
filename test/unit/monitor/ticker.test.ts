import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import { runTicker } from '../../../src/monitor/ticker.ts'
import { FakeClock } from '../../helpers/fake-clock.ts'

const options = (clock: FakeClock) => ({ intervalMs: 100, clock, log: silentLog, what: 'the test' })

test('ticks come at a fixed rate; those that a slow run has used up are left out', async () => {
  const clock = new FakeClock()
  const stop = new AbortController()
  const times: number[] = []
  const durations = [30, 250, 0, 0]
  const running = runTicker(options(clock), stop.signal, async () => {
    times.push(clock.monotonicMs())
    await clock.sleep(durations.shift() ?? 0)
  })
  await clock.advance(600)
  assert.deepEqual(times, [0, 100, 400, 500, 600])
  stop.abort()
  await running
})

test('a failed run is logged and the next one comes', async () => {
  const clock = new FakeClock()
  const stop = new AbortController()
  const lines: string[] = []
  let runs = 0
  const log = { ...silentLog, error: (_: unknown, text?: string) => void lines.push(text ?? '') }
  const running = runTicker({ ...options(clock), log }, stop.signal, async () => {
    runs++
    throw new Error('no')
  })
  await clock.advance(100)
  assert.equal(runs, 2)
  assert.deepEqual(lines, ['the test failed', 'the test failed'])
  stop.abort()
  await running
})
