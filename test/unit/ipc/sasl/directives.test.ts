import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listItems, parseDirectives, quoted } from '../../../../src/ipc/sasl/directives.ts'

const parse = (text: string) => Object.fromEntries(parseDirectives(Buffer.from(text)))

test('directives are read in any order, quoted or not, with blanks and escapes', () => {
  assert.deepEqual(parse('a=1,b="2"'), { a: ['1'], b: ['2'] })
  assert.deepEqual(parse(' a = 1 ,\t b\n=\r "2" , '), { a: ['1'], b: ['2'] })
  assert.deepEqual(parse('a="x,y=\\"z\\"\\\\",B=c'), { a: ['x,y="z"\\'], b: ['c'] })
  assert.deepEqual(parse('realm="one",realm="two"'), { realm: ['one', 'two'] })
  assert.deepEqual(parse('digest-uri="/default",a=b=c'), { 'digest-uri': ['/default'], a: ['b=c'] })
  assert.deepEqual(parse('a=,b=1,,,c=2'), { a: [''], b: ['1'], c: ['2'] })
  assert.deepEqual(parse(''), {})
})

test('a word without a value counts as an empty one, as in the JDK', () => {
  assert.deepEqual(parse('junk'), { junk: [''] })
})

test('a malformed list is refused', () => {
  for (const text of ['a="1', 'a="1\\', 'a,b=1', '=1', 'a="1"b="2"']) {
    assert.throws(() => parse(text), { name: 'SaslError' }, text)
  }
})

test('quoting is undone by parsing', () => {
  for (const text of ['', 'plain', 'a"b\\c', '\\"', 'ü, =']) {
    assert.deepEqual(parse(`v=${quoted(text)}`), { v: [text] })
  }
})

test('a list inside quotes is taken apart', () => {
  assert.deepEqual(listItems(['auth-conf, auth-int,auth', 'x']), ['auth-conf', 'auth-int', 'auth', 'x'])
  assert.deepEqual(listItems(undefined), [])
})
