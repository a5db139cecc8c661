import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import type { ApplicationAttemptId, ContainerId, NodeId } from '../../../src/protocol/ids.ts'
import { decodeAmrmToken } from '../../../src/security/amrm-token.ts'
import { password, RollingMasterKeys } from '../../../src/security/master-key.ts'
import { NodeContainerTokens } from '../../../src/security/node-container-tokens.ts'
import { NodeNMTokens } from '../../../src/security/node-nm-tokens.ts'
import { AmrmTokens } from '../../../src/security/rm-amrm-tokens.ts'
import { RmContainerTokens, RmNMTokens } from '../../../src/security/rm-tokens.ts'
import { FakeClock } from '../../helpers/fake-clock.ts'

const attempt = 'appattempt_1796121941544_0007_000001' as ApplicationAttemptId
const nodeId = 'localhost:40454' as NodeId
const fields = {
  containerId: 'container_1796121941544_0007_01_000003' as ContainerId,
  nodeAddress: nodeId,
  user: 'alice',
  resource: { memoryMb: 1024, vcores: 1 },
  expiryTime: 1796122600000,
  rmIdentifier: 1796121941544,
  priority: 0,
  creationTime: 1796122000000,
  logAggregationContext: undefined,
  nodeLabelExpression: '',
  containerType: 'TASK',
  executionType: 'GUARANTEED',
  version: 0,
  allocationRequestId: -1,
  allocationTags: [],
} as const

test("a node with the ResourceManager's keys accepts its container tokens before, during and after a roll", () => {
  const rm = new RmContainerTokens()
  const node = new NodeContainerTokens(new FakeClock(), silentLog)
  node.setNodeId(nodeId)
  node.setMasterKey(rm.keys.current)
  const before = rm.createContainerToken(fields, '127.0.0.1:40454')
  assert.equal(before.kind, 'ContainerToken')
  assert.equal(before.service, '127.0.0.1:40454')
  node.verify(before)
  rm.keys.roll()
  const next = rm.keys.next
  assert.ok(next)
  node.setMasterKey(next)
  node.verify(rm.createContainerToken(fields))
  rm.keys.activate()
  assert.equal(rm.keys.next, undefined)
  assert.equal(rm.keys.current, next)
  assert.equal(node.verify(rm.createContainerToken(fields)).masterKeyId, next.keyId)
})

test("a node with the ResourceManager's key accepts its NM tokens", () => {
  const rm = new RmNMTokens()
  const node = new NodeNMTokens(silentLog)
  node.setNodeId(nodeId)
  node.setMasterKey(rm.keys.current)
  const token = rm.createNMToken(attempt, nodeId, 'alice', '127.0.0.1:40454')
  assert.deepEqual([token.kind, token.service], ['NMToken', '127.0.0.1:40454'])
  assert.deepEqual(node.authenticate(token.identifier), { user: attempt, password: token.password })
})

test('an attempt gets one NM token for each node, and again when its master starts or the node registers', () => {
  const rm = new RmNMTokens()
  const isNew = () => rm.tokenIfNew(attempt, nodeId, 'alice') !== undefined
  assert.equal(isNew(), true)
  assert.equal(isNew(), false)
  rm.clearNodes(attempt)
  assert.equal(isNew(), true)
  rm.nodeRegistered('other:1' as NodeId)
  assert.equal(isNew(), false)
  rm.nodeRegistered(nodeId)
  assert.equal(isNew(), true)
})

test('after the NM-token key was activated each attempt gets tokens with the new key', () => {
  const rm = new RmNMTokens()
  const first = rm.tokenIfNew(attempt, nodeId, 'alice')
  rm.keys.roll()
  assert.equal(rm.tokenIfNew(attempt, nodeId, 'alice'), undefined)
  rm.keys.activate()
  const second = rm.tokenIfNew(attempt, nodeId, 'alice')
  assert.ok(first && second)
  assert.notDeepEqual(second.identifier, first.identifier)
  assert.deepEqual(second.password, password(rm.keys.current, second.identifier))
})

test('an ApplicationMaster logs in with its token from its creation to the end of the attempt', () => {
  const tokens = new AmrmTokens()
  const token = tokens.createAmrmToken(attempt)
  assert.deepEqual([token.kind, token.service], ['YARN_AM_RM_TOKEN', ''])
  assert.deepEqual(tokens.authenticate(token.identifier), { user: attempt, password: token.password })
  tokens.attemptFinished(attempt)
  assert.throws(() => tokens.authenticate(token.identifier), {
    className: 'org.apache.hadoop.security.token.SecretManager$InvalidToken',
    message: `${attempt} not found in AMRMTokenSecretManager.`,
  })
  assert.equal(tokens.renewed(token.identifier), undefined)
})

test('in a roll of the AMRM key both keys log in, and the holder of the old one is given the new token', () => {
  const tokens = new AmrmTokens(new RollingMasterKeys({ keyId: -7, bytes: Buffer.from('old') }))
  const old = tokens.createAmrmToken(attempt)
  assert.equal(tokens.renewed(old.identifier), undefined)
  tokens.keys.roll()
  tokens.authenticate(old.identifier)
  const renewed = tokens.renewed(old.identifier)
  assert.ok(renewed)
  assert.equal(decodeAmrmToken(renewed.identifier).keyId, -6)
  assert.equal(tokens.renewed(renewed.identifier), undefined)
  assert.deepEqual(tokens.authenticate(renewed.identifier).password, renewed.password)
  tokens.keys.activate()
  tokens.authenticate(renewed.identifier)
  assert.throws(() => tokens.authenticate(old.identifier), {
    className: 'org.apache.hadoop.security.token.SecretManager$InvalidToken',
    message: `Invalid AMRMToken from ${attempt}`,
  })
})
