import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import { LocalLogHandler } from '../../../src/logs/local-log-handler.ts'
import { applicationId } from '../../../src/protocol/ids.ts'
import { FakeClock } from '../../helpers/fake-clock.ts'

const ID = applicationId(1, 1)

function make(retainSec: number) {
  const clock = new FakeClock(77)
  const deleted: (readonly [string | undefined, readonly string[]])[] = []
  const dirs = { readableLogDirs: ['/logs0'] }
  const deletion = {
    schedule: (user: string | undefined, paths: readonly string[]) => void deleted.push([user, paths]),
  }
  const handler = new LocalLogHandler({ retainSec, dirs, deletion, clock, log: silentLog })
  const ended: string[] = []
  const end = (id = ID) => void handler.applicationFinished(id, 'alice').then(() => ended.push(id))
  return { clock, deleted, dirs, handler, ended, end }
}

test('logs go from every readable dir when their time has come, as their user', async () => {
  const { clock, deleted, dirs, handler, ended, end } = make(10)
  assert.equal(await handler.applicationStarted(), 77)
  end()
  await clock.advance(9999)
  assert.deepEqual([deleted, ended], [[], []])
  // The dirs of then, not of now.
  dirs.readableLogDirs = ['/logs0', '/logs1']
  await clock.advance(1)
  assert.deepEqual(deleted, [['alice', [`/logs0/${ID}`, `/logs1/${ID}`]]])
  assert.deepEqual(ended, [ID])
})

test('with 0 or less they go at once', async () => {
  for (const retainSec of [0, -1]) {
    const { clock, deleted, ended, end } = make(retainSec)
    end()
    await clock.advance(0)
    assert.deepEqual([deleted.length, ended], [1, [ID]])
  }
})

test('a stop waits for none, and nothing is deleted after it', async () => {
  const { clock, deleted, handler, ended, end } = make(10)
  for (let n = 1; n <= 3; n++) end(applicationId(1, n))
  assert.equal(clock.waiting, 3)
  await handler.stop()
  assert.equal(clock.waiting, 0)
  await clock.advance(20_000)
  assert.deepEqual([deleted, ended], [[], []])
})
