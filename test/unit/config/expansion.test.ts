import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expandVariables, ExpansionError, unboundVariable } from '../../../src/config/expansion.ts'

function expand(text: string, keys: Record<string, string> = {}, environment: Record<string, string> = {}): string {
  const systemProperties = { 'user.name': 'yarn' }
  return expandVariables(text, { environment, systemProperties, raw: (key) => new Map(Object.entries(keys)).get(key) })
}

test('a system property comes before a key of the same name', () => {
  assert.equal(expand('${user.name}', { 'user.name': 'other' }), 'yarn')
})

test('the innermost of nested variables is replaced first', () => {
  assert.equal(expand('${a.${b}}', { 'a.x': 'inner', b: 'x' }), 'inner')
})

test('the first variable without a value leaves the rest as it is', () => {
  assert.equal(expand('${a}/${nope}/${a}', { a: '1' }), '1/${nope}/${a}')
  assert.equal(unboundVariable('1/${nope}/${a}'), '${nope}')
})

test('a value that contains itself stays as it was, also behind another variable', () => {
  assert.equal(expand('${x}/y', { x: '${x}/y' }), '${x}/y')
  assert.equal(expand('${a}${x}', { a: '1', x: '-${x}' }), '${a}${x}')
})

test('twenty replacements are the most, and the text after the twentieth is not looked at', () => {
  assert.equal(expand('${a}'.repeat(19), { a: 'x' }), 'x'.repeat(19))
  assert.throws(() => expand('${a}'.repeat(20), { a: 'x' }), ExpansionError)
})

test('an environment variable has three forms', () => {
  const environment = { SET: 's', EMPTY: '' }
  const cases = [
    ['${env.SET}', 's'],
    ['${env.UNSET}', '${env.UNSET}'],
    ['${env.EMPTY}', ''],
    ['${env.UNSET:-d}', 'd'],
    ['${env.EMPTY:-d}', 'd'],
    ['${env.SET:-d}', 's'],
    ['${env.UNSET-d}', 'd'],
    ['${env.EMPTY-d}', ''],
    ['${env.UNSET:-}x', 'x'],
    ['${env.UNSET-a-b}', 'a-b'],
  ] as const
  for (const [text, expected] of cases) assert.equal(expand(text, {}, environment), expected, text)
})

test('an unset environment variable falls to a key of that whole name', () => {
  assert.equal(expand('${env.HOME}', { 'env.HOME': 'key' }), 'key')
})

test('a dollar in a value is no pattern of a replacement', () => {
  assert.equal(expand('<${a}>', { a: '$& $1 $$' }), '<$& $1 $$>')
})
