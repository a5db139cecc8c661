import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { Bug } from '../../../src/base/errors.ts'
import { silentLog } from '../../../src/base/log.ts'
import { CallQueue } from '../../../src/ipc/call-queue.ts'
import { FrameMessages, FrameReader, FrameWriter } from '../../../src/ipc/frames.ts'
import type { Qop } from '../../../src/ipc/sasl/digest.ts'
import type { TokenAuthenticator } from '../../../src/ipc/sasl/sasl-server.ts'
import { ServerConnection, type ConnectionContext } from '../../../src/ipc/server-connection.ts'
import { serve } from '../../../src/ipc/served-protocol.ts'
import type { RequestHeader } from '../../../src/ipc/wire.ts'
import { containerManagement } from '../../../src/protocol/container-management.ts'
import { hadoop } from '../../../src/protocol/messages.ts'
import { JavaClass, RemoteError } from '../../../src/protocol/remote-error.ts'
import { FakeClock, settle } from '../../helpers/fake-clock.ts'
import { fixture } from '../../helpers/fixtures.ts'
import { MemoryWire } from '../../helpers/memory-wire.ts'

const { RpcRequestHeaderProto, RpcResponseHeaderProto, RequestHeaderProto, IpcConnectionContextProto, RpcSaslProto } =
  hadoop.common

interface Choices {
  readonly authenticator?: TokenAuthenticator
  readonly qop?: readonly Qop[]
  readonly nonce?: string
  readonly queue?: CallQueue
  readonly handle?: () => object | Promise<object>
}

function connected(choices: Choices = {}) {
  const { authenticator, nonce, handle = () => ({}) } = choices
  const served = serve(containerManagement, {
    getContainerStatuses: () => handle(),
    startContainers: () => handle(),
  })
  const clock = new FakeClock()
  const context: ConnectionContext = {
    protocols: new Map([[containerManagement.name, served]]),
    authentication: authenticator === undefined ? { kind: 'simple' } : { kind: 'token', authenticator },
    maxDataLength: 134_217_728,
    qop: choices.qop ?? ['auth'],
    queue: choices.queue ?? new CallQueue(20),
    clock,
    log: silentLog,
    ...(nonce !== undefined && { newNonce: () => nonce }),
  }
  const wire = new MemoryWire()
  return { wire, clock, context, connection: new ServerConnection(wire, context) }
}

const header = (callId: number, changes: Partial<RequestHeader> = {}): RequestHeader => ({
  rpcKind: hadoop.common.RpcKindProto.RPC_PROTOCOL_BUFFER,
  rpcOp: RpcRequestHeaderProto.OperationProto.RPC_FINAL_PACKET,
  callId,
  clientId: Buffer.alloc(16, 7),
  retryCount: callId < 0 ? -1 : 0,
  ...changes,
})
const PREAMBLE = Buffer.from('68727063090000', 'hex')
const SASL_PREAMBLE = Buffer.from('687270630900df', 'hex')
const context = (userInfo: object = { effectiveUser: 'alice' }) =>
  new FrameWriter()
    .message(RpcRequestHeaderProto, header(-3))
    .message(IpcConnectionContextProto, { userInfo, protocol: containerManagement.name })
    .finish()
const call = (callId: number) =>
  new FrameWriter()
    .message(RpcRequestHeaderProto, header(callId))
    .message(RequestHeaderProto, {
      methodName: 'getContainerStatuses',
      declaringClassProtocolName: containerManagement.name,
      clientProtocolVersion: 1,
    })
    .message(containerManagement.methods.getContainerStatuses.request, {})
    .finish()

function replies(sent: Buffer) {
  const reader = new FrameReader(134_217_728)
  reader.push(sent)
  const found = []
  for (let frame = reader.next(); frame !== undefined; frame = reader.next()) {
    const { callId, status, exceptionClassName, errorMsg } = new FrameMessages(frame).next(RpcResponseHeaderProto)
    found.push({ callId: callId | 0, status, exceptionClassName, errorMsg })
  }
  return found
}
const SUCCESS = { status: 0, exceptionClassName: null, errorMsg: null }

// ---- what Java was seen to answer ------------------------------------------------------------------------------

interface Refused {
  readonly clientHex: string
  readonly serverHex: string
  readonly lastReply?: { readonly errorMsg: string; readonly exceptionClassName: string }
}

const refusals = fixture<{ connections: readonly Refused[] }>('vectors/capture-ipc-errors.json').connections
const nonceIn = (bytes: Buffer) => /nonce="([^"]*)"/.exec(bytes.toString('latin1'))?.[1]

/** Knows the two attempts whose tokens the captured clients present; the NodeManager's own checks are not this layer's. */
const capturedAuthenticator = (refusal: Refused): TokenAuthenticator => {
  const key = Buffer.from(
    fixture<{ nmTokenMasterKey: { hex: string } }>('vectors/capture-startcontainers-am.json').nmTokenMasterKey.hex,
    'hex',
  )
  return {
    authenticate(identifier) {
      const { lastReply } = refusal
      if (lastReply?.exceptionClassName === JavaClass.INVALID_TOKEN) {
        throw new RemoteError(JavaClass.INVALID_TOKEN, lastReply.errorMsg)
      }
      const attempt = hadoop.yarn.NMTokenIdentifierProto.decode(identifier).appAttemptId
      const id = String(attempt?.applicationId?.id).padStart(4, '0')
      return {
        user: `appattempt_${attempt?.applicationId?.clusterTimestamp}_${id}_${String(attempt?.attemptId).padStart(6, '0')}`,
        password: createHmac('sha1', key).update(identifier).digest(),
      }
    },
  }
}

for (const refusal of refusals) {
  const title = refusal.lastReply?.errorMsg ?? (refusal.clientHex.length > 40 ? 'others' : refusal.clientHex)
  test(`a captured connection is refused byte for byte as by Java: ${title.slice(0, 90)}`, async () => {
    const client = Buffer.from(refusal.clientHex, 'hex')
    const server = Buffer.from(refusal.serverHex, 'hex')
    for (const size of [client.length, 1]) {
      const nonce = nonceIn(server)
      const { wire, connection } = connected({
        authenticator: capturedAuthenticator(refusal),
        ...(nonce !== undefined && { nonce }),
      })
      for (let at = 0; at < client.length; at += size) connection.receive(client.subarray(at, at + size))
      await settle()
      assert.equal(wire.sent.toString('hex'), server.toString('hex'))
      assert.equal(wire.ending, server.length === 0 ? 'destroy' : 'end')
    }
  })
}

test('clients of the oldest versions are answered in their form', () => {
  for (const [version, head] of [
    [2, '0000000001'],
    [3, 'ffffffffffffffff'],
    [7, 'ffffffffffffffff'],
  ] as const) {
    const { wire, connection } = connected()
    connection.receive(Buffer.from([0x68, 0x72, 0x70, 0x63, version, 0, 0]))
    assert.ok(wire.sent.toString('hex').startsWith(`${head}00000029`), String(version))
    assert.ok(wire.sent.toString().endsWith(`Server IPC version 9 cannot communicate with client version ${version}`))
    assert.equal(wire.ending, 'end')
  }
})

test('a captured login and call are answered byte for byte as by Java', () => {
  interface Login {
    readonly frames: readonly { readonly direction: string; readonly frameHex: string }[]
    readonly preambleHex: string
    readonly digestMd5: { readonly nonce: string; readonly passwordHex: string }
  }
  const { frames, preambleHex, digestMd5 } = fixture<Login>('vectors/capture-startcontainers-am.json')
  const password = Buffer.from(digestMd5.passwordHex, 'hex')
  const { wire, connection } = connected({
    authenticator: { authenticate: () => ({ user: 'appattempt_1796121941544_0001_000001', password }) },
    nonce: digestMd5.nonce,
    handle: () => {
      const last = new FrameMessages(Buffer.from(frames.at(-1)?.frameHex ?? '', 'hex').subarray(4))
      last.next(RpcResponseHeaderProto)
      return last.next(hadoop.yarn.StartContainersResponseProto)
    },
  })
  const bytes = (direction: string) =>
    frames
      .filter((frame) => frame.direction === direction)
      .map((frame) => frame.frameHex)
      .join('')
  connection.receive(Buffer.from(preambleHex + bytes('client->server'), 'hex'))
  assert.equal(wire.sent.toString('hex'), bytes('server->client'))
  assert.equal(wire.ending, undefined)
})

test('a captured connection with integrity protection is understood and answered as by Java', () => {
  interface Wrapped {
    readonly frames: readonly { readonly direction: string; readonly frameHex: string }[]
    readonly preambleHex: string
    readonly serverChallenge: string
    readonly passwordHex: string
  }
  const { frames, preambleHex, serverChallenge, passwordHex } = fixture<Wrapped>('vectors/capture-auth-int-wrap.json')
  const { wire, connection } = connected({
    authenticator: { authenticate: () => ({ user: 'attempt', password: Buffer.from(passwordHex, 'hex') }) },
    nonce: nonceIn(Buffer.from(serverChallenge)) ?? '',
    qop: ['auth-conf', 'auth-int', 'auth'],
  })
  const bytes = (direction: string) =>
    frames.filter((frame) => frame.direction === direction).map((frame) => frame.frameHex)
  connection.receive(Buffer.from(preambleHex + bytes('client->server').join(''), 'hex'))
  // Java's offer names ciphers that we do not have; all that follows is the same.
  assert.ok(wire.sent.toString('hex').endsWith(bytes('server->client').slice(1).join('')))
  assert.equal(wire.ending, undefined)
})

// ---- the rest --------------------------------------------------------------------------------------------------

test('a port without tokens answers NEGOTIATE with SUCCESS, and goes on without SASL', () => {
  const { wire, connection } = connected()
  connection.receive(Buffer.concat([SASL_PREAMBLE, Buffer.from('0000000e0a08021000184122002801021001', 'hex')]))
  assert.equal(wire.sent.toString('hex'), '000000120e08dfffffff0f100018093a004001021000')
  connection.receive(Buffer.concat([context(), call(5)]))
  assert.deepEqual(replies(wire.sent).at(-1), { callId: 5, ...SUCCESS })
  connection.receive(Buffer.from('0000000e0a08021000184122002801021001', 'hex'))
  assert.equal(replies(wire.sent).at(-1)?.errorMsg, 'SASL protocol not requested by client')
})

test('a SASL message that does not fit is answered with the words of Java', () => {
  const sasl = (message: Parameters<typeof RpcSaslProto.encode>[0]) =>
    new FrameWriter()
      .message(RpcRequestHeaderProto, header(-33, { clientId: Buffer.alloc(0) }))
      .message(RpcSaslProto, message)
      .finish()
  const token = { method: 'TOKEN', mechanism: 'DIGEST-MD5', protocol: '', serverId: 'default' }
  const { NEGOTIATE, INITIATE, CHALLENGE, RESPONSE, WRAP } = RpcSaslProto.SaslState
  const none = Buffer.alloc(0)
  const cases = [
    [[{ state: NEGOTIATE }, { state: INITIATE, token: none }], 'Client mechanism is malformed'],
    [[{ state: NEGOTIATE }, { state: INITIATE, token: none, auths: [token, token] }], 'Client mechanism is malformed'],
    [[{ state: NEGOTIATE }, { state: INITIATE, auths: [token] }], 'Client did not send a token'],
    [[{ state: INITIATE, auths: [token], token: Buffer.from('x') }], 'DIGEST-MD5 must not have an initial response'],
    [[{ state: CHALLENGE }], 'Client sent unsupported state CHALLENGE'],
    [[{ state: RESPONSE, token: none }], 'Client sent unsupported state RESPONSE'],
    [[{ state: WRAP, token: none }], 'Server is not wrapping data'],
  ] as const
  for (const [messages, expected] of cases) {
    const { wire, connection } = connected({ authenticator: { authenticate: () => assert.fail('asked') } })
    connection.receive(
      Buffer.concat([
        SASL_PREAMBLE,
        ...messages.map((message) => sasl({ ...message, auths: [...('auths' in message ? message.auths : [])] })),
      ]),
    )
    const last = replies(wire.sent).at(-1)
    assert.deepEqual([last?.callId, last?.exceptionClassName, last?.errorMsg], [-33, JavaClass.SASL, expected])
    assert.equal(wire.ending, 'end')
  }
  // A client that begins with INITIATE and knows the mechanism gets the challenge.
  const { wire, connection } = connected({ authenticator: { authenticate: () => assert.fail('asked') }, nonce: 'n' })
  connection.receive(Buffer.concat([SASL_PREAMBLE, sasl({ state: INITIATE, token: none, auths: [token] })]))
  const frame = new FrameMessages(wire.sent.subarray(4))
  frame.next(RpcResponseHeaderProto)
  const answer = frame.next(RpcSaslProto)
  assert.equal(answer.state, CHALLENGE)
  assert.match(Buffer.from(answer.token ?? none).toString(), /^realm="default",nonce="n",/)
})

test('an identifier that can not be read is answered as an invalid token', () => {
  const refusal = refusals.find(({ lastReply }) => lastReply?.errorMsg.includes('Mismatched response') === true)
  const { wire, connection } = connected({
    authenticator: {
      authenticate() {
        throw new RangeError('index out of range')
      },
    },
    nonce: nonceIn(Buffer.from(refusal?.serverHex ?? '', 'hex')) ?? '',
  })
  connection.receive(Buffer.from(refusal?.clientHex ?? '', 'hex'))
  assert.equal(replies(wire.sent).at(-1)?.exceptionClassName, JavaClass.INVALID_TOKEN)
})

test('a context without a user, or for somebody else, is refused', () => {
  const refusedWith = (userInfo: object) => {
    const { wire, connection } = connected()
    connection.receive(Buffer.concat([PREAMBLE, context(userInfo)]))
    assert.equal(wire.ending, 'end')
    return replies(wire.sent)[0]?.errorMsg
  }
  assert.equal(refusedWith({}), 'The connection context names no user')
  assert.equal(
    refusedWith({ effectiveUser: 'alice', realUser: 'oozie' }),
    'User: oozie is not allowed to impersonate alice',
  )
})

test('a ping is not answered and keeps the connection fresh', async () => {
  const { wire, clock, connection } = connected()
  connection.receive(Buffer.concat([PREAMBLE, context()]))
  await clock.advance(5000)
  connection.receive(new FrameWriter().message(RpcRequestHeaderProto, header(-4)).finish())
  assert.equal(wire.sent.length, 0)
  assert.equal(connection.lastContactMs, clock.monotonicMs())
})

test('a request that is no message is answered, and the connection goes on', () => {
  const { wire, connection } = connected()
  const broken = new FrameWriter()
    .message(RpcRequestHeaderProto, header(1))
    .message(RequestHeaderProto, {
      methodName: 'getContainerStatuses',
      declaringClassProtocolName: containerManagement.name,
      clientProtocolVersion: 1,
    })
    .message(hadoop.common.RPCCallerContextProto, { context: 'x'.repeat(21) })
    .finish()
  connection.receive(Buffer.concat([PREAMBLE, context(), broken, call(2)]))
  const [first, second] = replies(wire.sent)
  assert.equal(first?.exceptionClassName, 'org.apache.hadoop.thirdparty.protobuf.InvalidProtocolBufferException')
  assert.deepEqual(second, { callId: 2, ...SUCCESS })
})

test('a header that is no message ends the connection', () => {
  const { wire, connection } = connected()
  connection.receive(Buffer.concat([PREAMBLE, context(), Buffer.from('0000000403ffffff', 'hex')]))
  assert.match(replies(wire.sent)[0]?.errorMsg ?? '', /^Error decoding RpcRequestHeaderProto: /)
  assert.equal(wire.ending, 'end')
})

test('a response that can not be encoded is an error of that call', () => {
  const { wire, connection } = connected({
    handle: () => ({ status: [{ containerId: { id: 1, appAttemptId: 'x' } }, null] }),
  })
  connection.receive(Buffer.concat([PREAMBLE, context(), call(1)]))
  assert.equal(replies(wire.sent)[0]?.status, 1)
  assert.equal(wire.ending, undefined)
})

test('a broken invariant in a handler is not turned into an answer', () => {
  const { wire, connection } = connected({
    handle() {
      throw new Bug('impossible')
    },
  })
  assert.throws(() => connection.receive(Buffer.concat([PREAMBLE, context(), call(1)])), Bug)
  assert.equal(wire.sent.length, 0)
})

test('whoever does not log in is dropped after thirty seconds', async () => {
  for (const [authenticator, bytes] of [
    [undefined, Buffer.alloc(0)],
    [undefined, PREAMBLE],
    [{ authenticate: () => assert.fail('asked') }, SASL_PREAMBLE],
  ] as const) {
    const { wire, clock, connection } = connected(authenticator === undefined ? {} : { authenticator })
    connection.receive(bytes)
    await clock.advance(29_999)
    assert.equal(wire.ending, undefined)
    await clock.advance(1)
    assert.equal(wire.ending, 'destroy')
    assert.equal(clock.waiting, 0)
  }
  const { wire, clock, connection } = connected()
  connection.receive(Buffer.concat([PREAMBLE, context()]))
  assert.equal(clock.waiting, 0)
  await clock.advance(1_000_000)
  assert.equal(wire.ending, undefined)
})

test('before the login a frame may have 64 KiB, afterwards what is configured', () => {
  const large = new FrameWriter()
    .message(RpcRequestHeaderProto, header(-4, { routerFederatedState: Buffer.alloc(70_000) }))
    .finish()
  const early = connected()
  early.connection.receive(Buffer.concat([PREAMBLE, large.subarray(0, 4)]))
  assert.equal(early.wire.ending, 'destroy')
  const late = connected()
  late.connection.receive(Buffer.concat([PREAMBLE, context(), large, call(3)]))
  assert.deepEqual(replies(late.wire.sent), [{ callId: 3, ...SUCCESS }])
})

test('reading stops while a connection has too many calls, and goes on as they are answered', async () => {
  const waiting: (() => void)[] = []
  const { wire, connection } = connected({
    queue: new CallQueue(1000),
    handle: () =>
      new Promise((resolve) => {
        waiting.push(() => resolve({}))
      }),
  })
  const calls = Array.from({ length: 300 }, (_, index) => call(index))
  connection.receive(Buffer.concat([PREAMBLE, context(), ...calls]))
  assert.equal(waiting.length, 256)
  assert.ok(wire.isPaused)
  for (const answer of waiting.splice(0, 100)) answer()
  await settle()
  assert.equal(waiting.length, 200)
  assert.ok(!wire.isPaused)
  for (const answer of waiting.splice(0)) answer()
  await settle()
  assert.equal(replies(wire.sent).length, 300)
  assert.equal(connection.pendingCalls, 0)
})

test('reading stops while the client does not read, and while the port is busy with others', async () => {
  const queue = new CallQueue(1)
  const { wire, connection } = connected({ queue })
  connection.receive(Buffer.concat([PREAMBLE, context()]))
  wire.isCongested = true
  connection.receive(call(1))
  assert.ok(wire.isPaused)
  assert.equal(wire.sent.length, 0)
  wire.isCongested = false
  connection.drained()
  assert.ok(!wire.isPaused)
  assert.equal(replies(wire.sent).length, 1)

  let release = (): void => {}
  const busy = new Promise<void>((resolve) => {
    release = resolve
  })
  for (let job = 0; job < 101; job++) queue.submit(() => busy)
  assert.ok(queue.isFull)
  connection.receive(call(2))
  assert.ok(wire.isPaused)
  assert.equal(replies(wire.sent).length, 1)
  release()
  await settle()
  assert.ok(!wire.isPaused)
  assert.equal(replies(wire.sent).length, 2)
})

test('a frame outside of the agreed protection is refused', () => {
  interface Wrapped {
    readonly frames: readonly { readonly frameHex: string }[]
    readonly serverChallenge: string
    readonly passwordHex: string
  }
  const { frames, serverChallenge, passwordHex } = fixture<Wrapped>('vectors/capture-auth-int-wrap.json')
  const { wire, connection } = connected({
    authenticator: { authenticate: () => ({ user: 'attempt', password: Buffer.from(passwordHex, 'hex') }) },
    nonce: nonceIn(Buffer.from(serverChallenge)) ?? '',
    qop: ['auth-int'],
  })
  const login = [frames[0], frames[2]].map((frame) => Buffer.from(frame?.frameHex ?? '', 'hex'))
  connection.receive(Buffer.concat([SASL_PREAMBLE, ...login, context({})]))
  assert.equal(wire.ending, 'end')
  assert.equal(connection.pendingCalls, 0)
})
