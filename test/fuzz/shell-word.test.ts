import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { array, constantFrom, sample } from 'fast-check'
import { launchScript } from '../../src/containers/launch/script.ts'
import { isOneWord } from '../../src/containers/launch/shell-word.ts'

/** Pieces that matter to a shell's quoting; none of them runs a program. */
const piece = constantFrom('a', ' ', '"', "'", '\\', '`', '$', '$(', ')', '${X:-', '}', '(', '\n', ';', 'é', '#', '|')
const value = array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''))
const values = sample(value, { numRuns: 20_000, seed: 7 })

/** The lines of the launch script that set these variables, each followed by one that says so. */
function scriptThatSets(texts: readonly string[]): string {
  const lines = launchScript({
    logDir: '/dev/null',
    environment: { whitelisted: [], ofNode: [], ofContainer: texts.map((text) => ['V', text]) },
    links: [],
    commands: [],
    hasDebugInfo: false,
  })
  const exports = lines.slice(lines.indexOf('export V='), lines.indexOf('echo "Setting up job resources"'))
  return `set -e\n${exports.replaceAll(/^export V=/gm, 'printf "%s\\0" "$V"\nexport V=')}printf "%s\\0" "$V"\n`
}

function run(script: string): string[] {
  const { stdout, stderr } = spawnSync('/bin/bash', { input: script, encoding: 'utf8', env: { PATH: '' } })
  assert.equal(stderr, '')
  return stdout.split('\0').slice(1, -1)
}

test('a value that is one word leaves the rest of the script as it is', () => {
  const words = values.filter(isOneWord)
  assert.ok(words.length > 1000)
  // A command substitution may still be nonsense, which is the value's own affair: bash says so and goes on.
  const harmless = words.filter((text) => !/\$\(|`/.test(text)).slice(0, 3000)
  assert.equal(run(scriptThatSets(harmless)).length, harmless.length)
})

test('a value that is none arrives exactly as it was given', () => {
  const others = values.filter((text) => !isOneWord(text)).slice(0, 3000)
  assert.equal(others.length, 3000)
  assert.deepEqual(run(scriptThatSets(others)), others)
})
