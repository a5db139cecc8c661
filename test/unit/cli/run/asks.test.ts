import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Asks } from '../../../../src/cli/run/asks.ts'

const counts = (asks: Asks) => asks.next().map((ask) => ask.numContainers)

test('the number is sent when it grows and when it reaches zero, not between', () => {
  const asks = new Asks({ memoryMb: 512, vcores: 2 })
  assert.deepEqual(counts(asks), [])
  asks.add()
  asks.add()
  asks.add()
  assert.deepEqual(counts(asks), [3])
  assert.equal(asks.take(), true)
  assert.deepEqual(counts(asks), [])
  asks.take()
  asks.take()
  assert.equal(asks.wanted, 0)
  assert.deepEqual(counts(asks), [0])
  assert.deepEqual(counts(asks), [])
})

test('a container too many is told from one that is wanted', () => {
  const asks = new Asks({ memoryMb: 512, vcores: 2 })
  asks.add()
  assert.equal(asks.take(), true)
  assert.equal(asks.take(), false)
  asks.add()
  assert.deepEqual(counts(asks), [1])
})

test('after a restart of the ResourceManager everything is asked for again', () => {
  const asks = new Asks({ memoryMb: 512, vcores: 2 })
  asks.add()
  asks.next()
  asks.resend()
  assert.deepEqual(counts(asks), [1])
})

test('an ask names priority 0, any node, request 0 and the size in both forms', () => {
  const asks = new Asks({ memoryMb: 512, vcores: 2 })
  asks.add()
  const [ask] = asks.next()
  assert.deepEqual(ask?.priority, { priority: 0 })
  assert.equal(ask?.resourceName, '*')
  assert.equal(ask?.allocationRequestId, 0)
  assert.equal(ask?.relaxLocality, true)
  assert.equal(ask?.capability?.memory, 512)
  assert.deepEqual(
    ask?.capability?.resourceValueMap?.map(({ key, value }) => [key, value]),
    [
      ['memory-mb', 512],
      ['vcores', 2],
    ],
  )
})
