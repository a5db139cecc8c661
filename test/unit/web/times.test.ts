import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { timeText } from '../../../src/web/times.ts'

const before = process.env['TZ']
after(() => {
  if (before === undefined) delete process.env['TZ']
  else process.env['TZ'] = before
})

// Computed with Java's SimpleDateFormat("EEE MMM dd HH:mm:ss Z yyyy").
const CASES = [
  ['UTC', 'Tue Dec 01 11:08:16 +0000 2026'],
  ['Asia/Kolkata', 'Tue Dec 01 16:38:16 +0530 2026'],
  ['America/St_Johns', 'Tue Dec 01 07:38:16 -0330 2026'],
] as const
for (const [zone, text] of CASES)
  test(`a time is written as Java writes it in ${zone}`, () => {
    process.env['TZ'] = zone
    assert.equal(timeText(Date.UTC(2026, 11, 1, 11, 8, 16, 999)), text)
  })
