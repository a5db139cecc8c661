import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApplicationAttemptId, ContainerId, NodeId } from '../../../src/protocol/ids.ts'
import { RemoteError } from '../../../src/protocol/remote-error.ts'
import { decodeAmrmToken, encodeAmrmToken } from '../../../src/security/amrm-token.ts'
import {
  decodeContainerToken,
  encodeContainerToken,
  type ContainerTokenIdentifier,
} from '../../../src/security/container-token.ts'
import { password, passwordsEqual } from '../../../src/security/master-key.ts'
import { decodeNMToken, encodeNMToken } from '../../../src/security/nm-token.ts'
import { tokenFromProto, tokenToProto } from '../../../src/security/token.ts'
import { fixture } from '../../helpers/fixtures.ts'

interface Vectors {
  masterKeyHex: string
  tokens: { kind: string; rpcUser: string; identifierHex: string; passwordHex: string }[]
}

const vectors = fixture<Vectors>('vectors/token-passwords.json')
const key = { keyId: 1, bytes: Buffer.from(vectors.masterKeyHex, 'hex') }
const attempt = 'appattempt_1796121941544_0007_000001' as ApplicationAttemptId
const node = 'node1.example.com:45454' as NodeId

const containerToken: ContainerTokenIdentifier = {
  containerId: 'container_1796121941544_0007_01_000003' as ContainerId,
  nodeAddress: node,
  user: 'alice',
  resource: { memoryMb: 2048, vcores: 2 },
  expiryTime: 1796122600000,
  masterKeyId: -12345,
  rmIdentifier: 1796121941544,
  priority: 20,
  creationTime: 1796122000000,
  logAggregationContext: undefined,
  nodeLabelExpression: '',
  containerType: 'TASK',
  executionType: 'GUARANTEED',
  version: 0,
  allocationRequestId: -1,
  allocationTags: [],
}

function identifierOf(kind: string): Buffer {
  const token = vectors.tokens.find((token) => token.kind === kind)
  assert.ok(token)
  return Buffer.from(token.identifierHex, 'hex')
}

for (const token of vectors.tokens) {
  test(`the password of a ${token.kind} is the one that Hadoop computes`, () => {
    assert.equal(password(key, Buffer.from(token.identifierHex, 'hex')).toString('hex'), token.passwordHex)
  })
}

test('a container token identifier reads and writes as Hadoop writes it, defaults included', () => {
  const bytes = identifierOf('ContainerToken')
  assert.deepEqual(decodeContainerToken(bytes), containerToken)
  assert.equal(encodeContainerToken(containerToken).toString('hex'), bytes.toString('hex'))
})

test('an NM token identifier reads and writes as Hadoop writes it', () => {
  const bytes = identifierOf('NMToken')
  const identifier = { attemptId: attempt, nodeId: node, user: 'alice', keyId: 338983325 }
  assert.deepEqual(decodeNMToken(bytes), identifier)
  assert.equal(encodeNMToken(identifier).toString('hex'), bytes.toString('hex'))
})

test('an AMRM token identifier with a negative key id reads and writes as Hadoop writes it', () => {
  const bytes = identifierOf('YARN_AM_RM_TOKEN')
  const identifier = { attemptId: attempt, keyId: -1178435601 }
  assert.deepEqual(decodeAmrmToken(bytes), identifier)
  assert.equal(encodeAmrmToken(identifier).toString('hex'), bytes.toString('hex'))
})

test('a container token keeps epoch, tags, log context, opportunistic execution and the master type', () => {
  const identifier: ContainerTokenIdentifier = {
    ...containerToken,
    containerId: 'container_e05_1796121941544_0007_01_000042' as ContainerId,
    containerType: 'APPLICATION_MASTER',
    executionType: 'OPPORTUNISTIC',
    version: 3,
    allocationRequestId: 12,
    allocationTags: ['zk', 'hbase'],
    nodeLabelExpression: 'gpu',
    resource: { memoryMb: 1, vcores: 1, others: { 'yarn.io/gpu': { units: '', value: 2 } } },
  }
  assert.deepEqual(decodeContainerToken(encodeContainerToken(identifier)), identifier)
  const withContext = { ...containerToken, logAggregationContext: { includePattern: 'std.*' } }
  const decoded = decodeContainerToken(encodeContainerToken(withContext))
  assert.equal(decoded.logAggregationContext?.includePattern, 'std.*')
})

test('absent fields of a container token have the defaults of the message', () => {
  const decoded = decodeContainerToken(Buffer.alloc(0))
  assert.equal(decoded.masterKeyId, -1)
  assert.equal(decoded.allocationRequestId, -1)
  assert.equal(decoded.executionType, 'GUARANTEED')
  assert.equal(decoded.version, 0)
})

test('bytes that are no identifier are an invalid token', () => {
  for (const decode of [decodeContainerToken, decodeNMToken, decodeAmrmToken]) {
    assert.throws(() => decode(Buffer.from('0affffffff', 'hex')), {
      className: 'org.apache.hadoop.security.token.SecretManager$InvalidToken',
      message: "Can't de-serialize tokenIdentifier",
    })
  }
  assert.throws(() => decodeNMToken(Buffer.from('0affffffff', 'hex')), RemoteError)
})

test('passwords are equal only when every byte and the length are', () => {
  const right = Buffer.from('143a72491b59a48d2db5c973e50dd737bde614b2', 'hex')
  assert.equal(passwordsEqual(right, Buffer.from(right)), true)
  assert.equal(passwordsEqual(right, Buffer.concat([right, Buffer.from([0])])), false)
  assert.equal(passwordsEqual(right, right.subarray(1)), false)
  const wrong = Buffer.from(right)
  wrong[19] = 0
  assert.equal(passwordsEqual(right, wrong), false)
})

test('a token goes through its message and back', () => {
  const token = { identifier: Buffer.from('id'), password: Buffer.from('pw'), kind: 'NMToken', service: 'h:1' }
  assert.deepEqual(tokenFromProto(tokenToProto(token)), token)
})
