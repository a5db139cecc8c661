import assert from 'node:assert/strict'
import { open } from 'node:fs/promises'
import { test } from 'node:test'
import { asText, createLogger } from '../../../src/base/logger.ts'

test('a log line reads like one of Hadoop: local time, level, component, text, then what else was said', () => {
  const time = new Date(2026, 11, 1, 10, 46, 6, 535).toISOString()
  const json = JSON.stringify({ level: 30, time, component: 'NodeStatusUpdater', port: 8041, msg: 'Registered' })
  assert.equal(asText(json), '2026-12-01 10:46:06,535 INFO NodeStatusUpdater: Registered {"port":8041}\n')
})

test('an error brings its stack on the lines after', () => {
  const json = JSON.stringify({
    level: 50,
    time: '2026-12-01T00:00:00.000Z',
    msg: 'failed',
    err: { stack: 'Error: x\n  at y' },
  })
  assert.match(asText(json), /ERROR bobbin: failed\nError: x\n  at y\n$/)
})

test('a log on a full disk throws nothing', async (t) => {
  const full = await open('/dev/full', 'w')
  t.after(() => full.close())
  const log = createLogger({ level: 'info', format: 'text', fd: full.fd })
  for (let line = 0; line < 3; line++) log.info('there is no room for this')
})
