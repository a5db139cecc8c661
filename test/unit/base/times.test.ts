import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { dayAndTime, iso8601, javaDate } from '../../../src/base/times.ts'

const before = process.env['TZ']
after(() => {
  if (before === undefined) delete process.env['TZ']
  else process.env['TZ'] = before
})

const MS = Date.UTC(2026, 11, 1, 11, 8, 16, 999)

// The dates were computed with Java's SimpleDateFormat("EEE MMM dd HH:mm:ss Z yyyy").
const CASES = [
  ['UTC', 'Tue Dec 01 11:08:16 +0000 2026', '2026-12-01T11:08:16.999+0000'],
  ['Asia/Kolkata', 'Tue Dec 01 16:38:16 +0530 2026', '2026-12-01T16:38:16.999+0530'],
  ['America/St_Johns', 'Tue Dec 01 07:38:16 -0330 2026', '2026-12-01T07:38:16.999-0330'],
] as const
for (const [zone, date, iso] of CASES)
  test(`a time is written as Java writes it in ${zone}`, () => {
    process.env['TZ'] = zone
    assert.equal(javaDate(MS), date)
    assert.equal(iso8601(MS), iso)
    assert.equal(dayAndTime(MS), iso.slice(0, 23).replace('T', ' '))
  })

test('the day is that of the zone', () => {
  process.env['TZ'] = 'Asia/Kolkata'
  assert.equal(javaDate(Date.UTC(2026, 11, 31, 20, 0, 0)), 'Fri Jan 01 01:30:00 +0530 2027')
  assert.equal(dayAndTime(Date.UTC(2026, 11, 31, 20, 0, 0)), '2027-01-01 01:30:00.000')
})

test('a time beyond any calendar is written as it came', () => {
  assert.equal(iso8601(1e19), '10000000000000000000')
  assert.equal(iso8601(Number.NaN), 'NaN')
})
