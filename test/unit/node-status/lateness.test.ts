import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Lateness } from '../../../src/node-status/lateness.ts'
import { FakeClock } from '../../helpers/fake-clock.ts'
import { recordingLog } from './scripted.ts'

test('a heartbeat more than a second late is a warning, once a minute; less is none', async () => {
  const clock = new FakeClock()
  const lines: string[] = []
  const stalls = { enable: () => {}, disable: () => {}, takeMaxMs: () => 0 }
  const lateness = new Lateness({ clock, log: recordingLog(lines), stalls })
  await clock.advance(60_000)
  lateness.check(1000)
  assert.deepEqual(lines, [])
  lateness.check(1001)
  lateness.check(5000)
  assert.equal(lines.length, 1)
  assert.match(lines[0] ?? '', /^warn Heartbeat is 1001 ms late/)
  await clock.advance(60_000)
  lateness.check(2000)
  assert.equal(lines.length, 2)
})
