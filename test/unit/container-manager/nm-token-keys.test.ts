import assert from 'node:assert/strict'
import { test } from 'node:test'
import { container, onlyFailure, TestNode } from './node.ts'

const one = container(1)

test('a start that is refused, or can not be stored, does not keep the key of its NM token', async () => {
  const serviceData = [{ key: 'spark_shuffle', value: Buffer.from('x') }]
  for (const isRefused of [true, false]) {
    const node = new TestNode().register()
    const caller = node.caller()
    if (isRefused) {
      const answer = await node.start([node.entry(one, {}, { serviceData })], caller)
      assert.equal(onlyFailure(answer).message, 'The auxService:spark_shuffle does not exist')
    } else {
      node.store.fail = 'application'
      await assert.rejects(node.start([node.entry(one)], caller), /could not be stored/)
    }
    for (const keyId of [1, 2]) {
      node.manager.masterKeys({ containerToken: undefined, nmToken: { keyId, bytes: Buffer.from([keyId]) } })
    }
    assert.throws(() => node.tokens.nm.authenticate(caller.tokenIdentifier!), /generated illegally/)
  }
})
