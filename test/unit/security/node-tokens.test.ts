import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import type { ApplicationAttemptId, ApplicationId, NodeId } from '../../../src/protocol/ids.ts'
import { encodeContainerToken } from '../../../src/security/container-token.ts'
import { decodeNMToken, encodeNMToken, type NMTokenIdentifier } from '../../../src/security/nm-token.ts'
import { NodeContainerTokens } from '../../../src/security/node-container-tokens.ts'
import { NodeNMTokens } from '../../../src/security/node-nm-tokens.ts'
import { createToken } from '../../../src/security/token.ts'
import { FakeClock } from '../../helpers/fake-clock.ts'
import { fixture } from '../../helpers/fixtures.ts'

interface Capture {
  nmTokenMasterKey: { keyId: number; hex: string }
  containerTokenMasterKey: { keyId: number; hex: string }
  digestMd5: { nmTokenIdentifierHex: string; passwordHex: string }
  containerToken: { identifierHex: string; passwordHex: string }
}

const capture = fixture<Capture>('vectors/capture-startcontainers-am.json')
const hex = (text: string) => Buffer.from(text, 'hex')
const masterKey = ({ keyId, hex: bytes }: { keyId: number; hex: string }) => ({ keyId, bytes: hex(bytes) })
const INVALID_TOKEN = 'org.apache.hadoop.security.token.SecretManager$InvalidToken'
const ownNode = 'localhost:40454' as NodeId

const containerKey = masterKey(capture.containerTokenMasterKey)
const captured = {
  identifier: hex(capture.containerToken.identifierHex),
  password: hex(capture.containerToken.passwordHex),
}

function containerTokens(nodeId: NodeId = ownNode) {
  const clock = new FakeClock(1796122011800)
  const tokens = new NodeContainerTokens(clock, silentLog)
  tokens.setNodeId(nodeId)
  tokens.setMasterKey(containerKey)
  return { tokens, clock }
}

test("a real ResourceManager's container token is accepted", () => {
  const identifier = containerTokens().tokens.verify(captured)
  assert.equal(identifier.containerId, 'container_1796121941544_0001_01_000001')
  assert.equal(identifier.user, 'root')
  assert.equal(identifier.containerType, 'APPLICATION_MASTER')
})

test('a container token stays good for one roll of the key, and not for two', () => {
  const { tokens } = containerTokens()
  tokens.setMasterKey({ keyId: 1, bytes: Buffer.from('one') })
  tokens.verify(captured)
  tokens.setMasterKey({ keyId: 2, bytes: Buffer.from('two') })
  assert.throws(() => tokens.verify(captured), {
    className: INVALID_TOKEN,
    message: 'Given Container container_1796121941544_0001_01_000001 seems to have an illegally generated token.',
  })
})

test('a container token for another node is refused before its key is looked at', () => {
  const { tokens } = containerTokens('other:1' as NodeId)
  tokens.setMasterKey({ keyId: 1, bytes: Buffer.from('one') })
  tokens.setMasterKey({ keyId: 2, bytes: Buffer.from('two') })
  assert.throws(() => tokens.verify(captured), {
    className: INVALID_TOKEN,
    message:
      'Given Container container_1796121941544_0001_01_000001 identifier is not valid for current Node manager. Expected : other:1 Found : localhost:40454',
  })
})

test('a container token whose identifier or password was changed is refused', () => {
  const refused = {
    className: INVALID_TOKEN,
    message: 'Invalid container token used for starting container on : localhost:40454',
  }
  const { tokens } = containerTokens()
  const identifier = tokens.verify(captured)
  const forged = { ...captured, identifier: encodeContainerToken({ ...identifier, user: 'eve' }) }
  assert.throws(() => tokens.verify(forged), refused)
  assert.throws(() => tokens.verify({ ...captured, password: Buffer.alloc(20, 'x') }), refused)
  assert.throws(() => tokens.verify({ ...captured, password: Buffer.alloc(0) }), refused)
})

test('a container token is proven over the bytes received, fields of newer ResourceManagers included', () => {
  const { tokens } = containerTokens()
  const unknownField = Buffer.from([0x98, 0x06, 0x01])
  const identifier = Buffer.concat([captured.identifier, unknownField])
  tokens.verify(createToken(containerKey, 'ContainerToken', identifier, ''))
})

test('before the first registration every container token is refused', () => {
  const tokens = new NodeContainerTokens(new FakeClock(), silentLog)
  assert.throws(() => tokens.verify(captured), {
    className: INVALID_TOKEN,
    message: 'Given Container container_1796121941544_0001_01_000001 seems to have an illegally generated token.',
  })
})

test('a token that has started a container is remembered with its expiry, until that has passed', async () => {
  const { tokens, clock } = containerTokens()
  const identifier = tokens.verify(captured)
  assert.equal(tokens.hasStarted(identifier), false)
  tokens.rememberStarted(identifier)
  assert.equal(tokens.hasStarted(identifier), true)
  assert.equal(tokens.hasStarted({ ...identifier, expiryTime: identifier.expiryTime + 1 }), false)
  await clock.advance(identifier.expiryTime - clock.now())
  assert.equal(tokens.hasStarted(identifier), true)
  await clock.advance(1)
  assert.equal(tokens.hasStarted(identifier), false)
  tokens.rememberStarted({ ...identifier, expiryTime: clock.now() + 1000 })
  assert.equal(tokens.startedCount, 1)
})

test('a token whose start did not come about may be used again', () => {
  const { tokens } = containerTokens()
  const identifier = tokens.verify(captured)
  tokens.rememberStarted(identifier)
  tokens.forgetStarted(identifier)
  assert.equal(tokens.hasStarted(identifier), false)
})

const nmIdentifier = hex(capture.digestMd5.nmTokenIdentifierHex)
const attempt = 'appattempt_1796121941544_0001_000001' as ApplicationAttemptId
const application = 'application_1796121941544_0001' as ApplicationId
const illegal = {
  className: INVALID_TOKEN,
  message: `Given NMToken for application : ${attempt} seems to have been generated illegally.`,
}

function nmTokens(nodeId: NodeId = ownNode) {
  const tokens = new NodeNMTokens(silentLog)
  tokens.setNodeId(nodeId)
  tokens.setMasterKey(masterKey(capture.nmTokenMasterKey))
  return tokens
}

function rollTwice(tokens: NodeNMTokens) {
  tokens.setMasterKey({ keyId: 1, bytes: Buffer.from('one') })
  tokens.setMasterKey({ keyId: 2, bytes: Buffer.from('two') })
}

test("a login with a real ResourceManager's NM token is the attempt, with the password that Java expects", () => {
  const { user, password } = nmTokens().authenticate(nmIdentifier)
  assert.equal(user, attempt)
  assert.equal(password.toString('hex'), capture.digestMd5.passwordHex)
})

test('an NM token for another node is refused with both names, though its key is unknown too', () => {
  const tokens = nmTokens('other:1' as NodeId)
  rollTwice(tokens)
  assert.throws(() => tokens.authenticate(nmIdentifier), {
    className: INVALID_TOKEN,
    message: `Given NMToken for application : ${attempt} is not valid for current node manager.expected : other:1 found : localhost:40454`,
  })
})

test('before the first registration an NM token is an invalid token, not a crash', () => {
  assert.throws(() => new NodeNMTokens(silentLog).authenticate(nmIdentifier), illegal)
})

test('an NM token is refused once its key is older than the previous one', () => {
  const tokens = nmTokens()
  tokens.setMasterKey({ keyId: 1, bytes: Buffer.from('one') })
  tokens.authenticate(nmIdentifier)
  tokens.setMasterKey({ keyId: 2, bytes: Buffer.from('two') })
  assert.throws(() => tokens.authenticate(nmIdentifier), illegal)
})

const remember = (tokens: NodeNMTokens, token: NMTokenIdentifier) =>
  tokens.rememberKey(token.attemptId, tokens.keyForStart(token))

test('an attempt that has started a container logs in with its old key until its application finishes', () => {
  const tokens = nmTokens()
  remember(tokens, decodeNMToken(nmIdentifier))
  rollTwice(tokens)
  assert.equal(tokens.authenticate(nmIdentifier).password.toString('hex'), capture.digestMd5.passwordHex)
  const otherAttempt = encodeNMToken({
    ...decodeNMToken(nmIdentifier),
    attemptId: 'appattempt_1796121941544_0001_000002' as ApplicationAttemptId,
  })
  assert.throws(() => tokens.authenticate(otherAttempt), { className: INVALID_TOKEN })
  tokens.applicationFinished(application)
  assert.throws(() => tokens.authenticate(nmIdentifier), illegal)
})

test('an old key starts nothing more, unless it is the one that the attempt started with', () => {
  const tokens = nmTokens()
  const old = decodeNMToken(nmIdentifier)
  remember(tokens, old)
  rollTwice(tokens)
  remember(tokens, old)
  remember(tokens, { ...old, keyId: 1 })
  assert.throws(() => tokens.keyForStart(old), {
    className: INVALID_TOKEN,
    message: 'Older NMToken should not be used while starting the container.',
  })
})

test('bytes that are no NM token are an invalid token at login', () => {
  assert.throws(() => nmTokens().authenticate(Buffer.from('not a token')), { className: INVALID_TOKEN })
})
