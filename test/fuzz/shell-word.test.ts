import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { array, constantFrom, sample } from 'fast-check'
import { quotingFault } from '../../src/containers/launch/shell-word.ts'

/** Pieces that matter to a shell's quoting; none of them runs a program. */
const piece = constantFrom('a', ' ', '"', "'", '\\', '`', '$', '$(', ')', '${X:-', '}', '(', '\n', ';', 'é', '#', '|')
const value = array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''))

test('a value that is let through leaves the rest of the script as it is', () => {
  const values = sample(value, { numRuns: 20_000, seed: 7 }).filter((text) => quotingFault(text) === undefined)
  assert.ok(values.length > 1000)
  // A command substitution may still be nonsense, which is the value's own affair: bash says so and goes on.
  const harmless = values.filter((text) => !/\$\(|`/.test(text)).slice(0, 3000)
  const script = harmless.map((text, index) => `export V="${text}"\necho "line ${index}"\n`).join('')
  const { stdout } = spawnSync('/bin/bash', { input: script, encoding: 'utf8' })
  assert.deepEqual(
    stdout.split('\n').filter((line) => line !== ''),
    harmless.map((_, index) => `line ${index}`),
  )
})
