import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatIso8601 } from '../../../src/localization/fetch/iso8601.ts'

test('a time is written in the local zone with its offset', (t) => {
  const before = process.env['TZ']
  t.after(() => {
    if (before === undefined) delete process.env['TZ']
    else process.env['TZ'] = before
  })
  const ms = Date.UTC(2026, 11, 1, 10, 45, 30, 123)
  process.env['TZ'] = 'UTC'
  assert.equal(formatIso8601(ms), '2026-12-01T10:45:30.123+0000')
  process.env['TZ'] = 'Asia/Kolkata'
  assert.equal(formatIso8601(ms), '2026-12-01T16:15:30.123+0530')
  process.env['TZ'] = 'America/St_Johns'
  assert.equal(formatIso8601(ms), '2026-12-01T07:15:30.123-0330')
})

test('a time beyond any calendar is written as it came', () => {
  assert.equal(formatIso8601(1e19), '10000000000000000000')
  assert.equal(formatIso8601(Number.NaN), 'NaN')
})
