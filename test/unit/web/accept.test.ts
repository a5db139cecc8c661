import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceptsJson } from '../../../src/web/accept.ts'

test('JSON is served to everything that does not leave it out', () => {
  const accepted = [
    undefined,
    '',
    ' ',
    '*/*',
    'application/*',
    'APPLICATION/JSON',
    'text/html;level=1',
    'a/b, */*;q=0.1',
  ]
  for (const accept of accepted) assert.ok(acceptsJson(accept), String(accept))
  const refused = [
    'application/xml',
    'text/plain',
    'application/json;q=0',
    '*/*;q=0',
    'application/json;q=0.0, text/xml',
  ]
  for (const accept of refused) assert.ok(!acceptsJson(accept), accept)
})

test('the most specific range decides', () => {
  assert.ok(!acceptsJson('application/json;q=0, text/html;q=0, */*;q=1'))
  assert.ok(acceptsJson('application/json;q=1, */*;q=0'))
})
