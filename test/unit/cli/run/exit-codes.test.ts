import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exitCodeOf, exitStatusText, isReplaceable } from '../../../../src/cli/run/exit-codes.ts'

test('all succeeded is 0', () => {
  assert.equal(exitCodeOf([0]), 0)
  assert.equal(exitCodeOf([0, 0, 0]), 0)
})

test("a single container's own code is the run's", () => {
  for (const code of [1, 3, 127, 143, 255]) assert.equal(exitCodeOf([code]), code)
})

test('what no exit code can say is 1', () => {
  assert.equal(exitCodeOf([-104]), 1)
  assert.equal(exitCodeOf([256]), 1)
})

test('one of several failed is 1', () => {
  assert.equal(exitCodeOf([0, 3]), 1)
  assert.equal(exitCodeOf([3, 3]), 1)
})

test('only ends without fault of the command are replaced', () => {
  assert.deepEqual([-100, -101, -102].map(isReplaceable), [true, true, true])
  assert.deepEqual([0, 1, 137, -103, -104, -105, -106, -1000].some(isReplaceable), false)
})

test("YARN's own statuses are explained", () => {
  assert.equal(exitStatusText(3), '3')
  assert.equal(exitStatusText(-104), '-104 (killed: over its memory)')
})
