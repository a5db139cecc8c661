import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  masterKeyFromProto,
  masterKeyToProto,
  NodeMasterKeys,
  randomMasterKey,
  RollingMasterKeys,
} from '../../../src/security/master-key.ts'

const key = (keyId: number, text = 'k') => ({ keyId, bytes: Buffer.from(`${text}${keyId}`) })

test('a node keeps the current and the previous key and no older one', () => {
  const keys = new NodeMasterKeys()
  assert.equal(keys.find(1), undefined)
  assert.equal(keys.install(key(1)), true)
  assert.equal(keys.install(key(2)), true)
  assert.deepEqual(keys.find(1), key(1))
  assert.deepEqual(keys.find(2), key(2))
  assert.equal(keys.install(key(3)), true)
  assert.equal(keys.find(1), undefined)
  assert.deepEqual(keys.current, key(3))
})

test('a node ignores a key with the id of the current one', () => {
  const keys = new NodeMasterKeys()
  keys.install(key(1))
  keys.install(key(2))
  assert.equal(keys.install(key(2, 'other')), false)
  assert.deepEqual(keys.current, key(2))
  assert.deepEqual(keys.find(1), key(1))
})

test("a ResourceManager's next key counts up by one and becomes current when activated", () => {
  const keys = new RollingMasterKeys(key(7))
  assert.equal(keys.next, undefined)
  const next = keys.roll()
  assert.equal(next.keyId, 8)
  assert.equal(next.bytes.length, 8)
  assert.deepEqual(keys.current, key(7))
  assert.deepEqual(keys.find(7), key(7))
  assert.deepEqual(keys.find(8), next)
  keys.activate()
  assert.equal(keys.current, next)
  assert.equal(keys.next, undefined)
  assert.equal(keys.find(7), undefined)
  keys.activate()
  assert.equal(keys.current, next)
})

test('the id after the greatest int is the smallest, as Java counts', () => {
  assert.equal(new RollingMasterKeys(key(2 ** 31 - 1)).roll().keyId, -(2 ** 31))
})

test('a first key has 8 bytes and an int for an id, and no two are alike', () => {
  const [one, two] = [randomMasterKey(), randomMasterKey()]
  assert.equal(one.bytes.length, 8)
  assert.equal(one.keyId, one.keyId | 0)
  assert.notDeepEqual(one, two)
})

test('a key goes through its message and back', () => {
  assert.deepEqual(masterKeyFromProto(masterKeyToProto(key(-5))), key(-5))
})
