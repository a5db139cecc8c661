import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { silentLog } from '../../src/base/log.ts'
import { containerId, nodeId } from '../../src/protocol/ids.ts'
import { RemoteError } from '../../src/protocol/remote-error.ts'
import {
  decodeContainerToken,
  encodeContainerToken,
  type ContainerTokenIdentifier,
} from '../../src/security/container-token.ts'
import { NodeContainerTokens } from '../../src/security/node-container-tokens.ts'
import { NodeNMTokens } from '../../src/security/node-nm-tokens.ts'
import { AmrmTokens } from '../../src/security/rm-amrm-tokens.ts'
import { RmContainerTokens } from '../../src/security/rm-tokens.ts'
import { FakeClock } from '../helpers/fake-clock.ts'

const int = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const natural = fc.nat(2 ** 31 - 1)
const long = fc.maxSafeNat()
const text = fc.string({ unit: 'grapheme', maxLength: 30 })

const identifiers: fc.Arbitrary<ContainerTokenIdentifier> = fc.record(
  {
    containerId: fc
      .record({
        clusterTimestamp: long,
        application: natural,
        attempt: natural,
        epoch: fc.nat(2 ** 20),
        sequence: fc.nat(2 ** 31),
      })
      .map(containerId),
    nodeAddress: text,
    user: text,
    resource: fc.record({ memoryMb: long, vcores: natural }, { noNullPrototype: true }),
    expiryTime: long,
    masterKeyId: int,
    rmIdentifier: long,
    priority: int,
    creationTime: long,
    logAggregationContext: fc.constant(undefined),
    nodeLabelExpression: text,
    containerType: fc.constantFrom('APPLICATION_MASTER', 'TASK'),
    executionType: fc.constantFrom('GUARANTEED', 'OPPORTUNISTIC'),
    version: natural,
    allocationRequestId: fc.integer({ min: -1 }),
    allocationTags: fc.array(text, { maxLength: 3 }),
  },
  { noNullPrototype: true },
)

test('a container token identifier of any content comes back from its bytes', () => {
  fc.assert(
    fc.property(identifiers, (identifier) => {
      assert.deepEqual(decodeContainerToken(encodeContainerToken(identifier)), identifier)
    }),
  )
})

test('a token with one changed byte is never accepted', () => {
  const rm = new RmContainerTokens()
  const node = new NodeContainerTokens(new FakeClock(), silentLog)
  node.setMasterKey(rm.keys.current)
  fc.assert(
    fc.property(identifiers, fc.nat(), fc.integer({ min: 1, max: 255 }), (identifier, at, change) => {
      const token = rm.createContainerToken(identifier)
      assert.deepEqual(node.verify(token), { ...identifier, masterKeyId: rm.keys.current.keyId })
      const forged = Buffer.from(token.identifier)
      const index = at % forged.length
      forged[index] = (forged[index] ?? 0) ^ change
      assert.throws(() => node.verify({ ...token, identifier: forged }), RemoteError)
    }),
    { numRuns: 500 },
  )
})

test('random bytes at login are an invalid token, on the node and on the ResourceManager', () => {
  const node = new NodeNMTokens(silentLog)
  node.setNodeId(nodeId('localhost', 1))
  const rm = new AmrmTokens()
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (array) => {
      assert.throws(() => node.authenticate(Buffer.from(array)), RemoteError)
      assert.throws(() => rm.authenticate(Buffer.from(array)), RemoteError)
    }),
    { numRuns: 2000 },
  )
})
