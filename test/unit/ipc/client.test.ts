import assert from 'node:assert/strict'
import { createServer, type Server, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import type { IpcClientConfig } from '../../../src/config/node-manager-config.ts'
import { IpcConnection, type Login } from '../../../src/ipc/client.ts'
import { FrameMessages, FrameReader, FrameWriter } from '../../../src/ipc/frames.ts'
import { preamble } from '../../../src/ipc/wire.ts'
import { hadoop } from '../../../src/protocol/messages.ts'
import { JavaClass } from '../../../src/protocol/remote-error.ts'
import { resourceTracker } from '../../../src/protocol/resource-tracker.ts'
import { FakeClock } from '../../helpers/fake-clock.ts'
import { fixture } from '../../helpers/fixtures.ts'
import { clientSettings } from '../../helpers/ipc.ts'

const { RpcRequestHeaderProto, RpcResponseHeaderProto, RpcSaslProto } = hadoop.common
const { SUCCESS, ERROR, FATAL } = RpcResponseHeaderProto.RpcStatusProto
const { yarn } = hadoop

/** The other side, played by the test: it sees the raw bytes and answers with raw bytes. */
class Peer {
  readonly #server: Server
  readonly #waiting: ((socket: Socket) => void)[] = []
  readonly #sockets: Socket[] = []
  socket: Socket | undefined
  received: Buffer = Buffer.alloc(0)
  #onBytes = (): void => {}

  private constructor(server: Server) {
    this.#server = server
    server.on('connection', (socket) => {
      this.#sockets.push(socket)
      this.socket = socket
      this.received = Buffer.alloc(0)
      socket.on('error', () => {})
      socket.on('data', (chunk: Buffer) => {
        this.received = Buffer.concat([this.received, chunk])
        this.#onBytes()
      })
      this.#waiting.shift()?.(socket)
    })
  }

  static async start(t: TestContext): Promise<Peer> {
    const server = createServer()
    const peer = new Peer(server)
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    t.after(() => {
      server.close()
      for (const socket of peer.#sockets) socket.destroy()
    })
    return peer
  }

  get port(): number {
    const address = this.#server.address()
    return address === null || typeof address === 'string' ? 0 : address.port
  }

  /** Resolves when `isSo` holds for what was received on the newest connection. */
  async until(isSo: (received: Buffer) => boolean): Promise<Buffer> {
    if (this.socket === undefined) await new Promise<Socket>((resolve) => this.#waiting.push(resolve))
    await new Promise<void>((resolve) => {
      this.#onBytes = () => {
        if (isSo(this.received)) resolve()
      }
      this.#onBytes()
    })
    return this.received
  }

  /** The ids of the messages after the preamble. */
  callIds(): number[] {
    return idsIn(this.received)
  }

  send(bytes: Buffer): void {
    this.socket?.write(bytes)
  }
}

function idsIn(received: Buffer): number[] {
  const reader = new FrameReader(1_000_000)
  reader.push(received.subarray(7))
  const ids: number[] = []
  for (let frame = reader.next(); frame !== undefined; frame = reader.next()) {
    ids.push(new FrameMessages(frame).next(RpcRequestHeaderProto).callId)
  }
  return ids
}

const calls = (count: number) => (received: Buffer) => idsIn(received).filter((id) => id >= 0).length >= count

function reply(callId: number, nextHeartBeatInterval = 1000): Buffer {
  return new FrameWriter()
    .message(RpcResponseHeaderProto, { callId, status: SUCCESS })
    .message(yarn.NodeHeartbeatResponseProto, { nextHeartBeatInterval })
    .finish()
}

function failure(callId: number, status: typeof ERROR | typeof FATAL, errorMsg: string): Buffer {
  const exceptionClassName = JavaClass.YARN
  return new FrameWriter().message(RpcResponseHeaderProto, { callId, status, exceptionClassName, errorMsg }).finish()
}

const simple: Login = { kind: 'simple', user: 'root' }

function connected(t: TestContext, peer: { port: number }, settings: Partial<IpcClientConfig> = {}, login = simple) {
  const clock = new FakeClock()
  const config = { ...clientSettings, ...settings }
  const address = { host: '127.0.0.1', port: peer.port }
  const connection = new IpcConnection(resourceTracker, address, login, { config, clock, log: silentLog })
  t.after(() => connection.close())
  return { connection, clock, beat: () => connection.call('nodeHeartbeat', {}) }
}

test('preamble, context and first call are those of Java', async (t) => {
  interface Capture {
    readonly preambleHex: string
    readonly frames: readonly { readonly frameHex: string; readonly callId: number }[]
  }
  const captured = fixture<Capture>('vectors/capture-resourcetracker.json')
  const peer = await Peer.start(t)
  const { connection } = connected(t, peer)
  const [context, register] = captured.frames.map(({ frameHex }) => Buffer.from(frameHex, 'hex'))
  assert.ok(context !== undefined && register !== undefined)
  const frame = new FrameMessages(register.subarray(4))
  frame.nextBytes()
  frame.nextBytes()
  connection.call('registerNodeManager', frame.next(yarn.RegisterNodeManagerRequestProto)).catch(() => {})
  const received = await peer.until(calls(1))
  const [contextMessages, ours] = [7, 7 + context.length].map((at) => new FrameMessages(received.subarray(at + 4)))
  const clientId = contextMessages?.next(RpcRequestHeaderProto).clientId
  assert.deepEqual(clientId, ours?.next(RpcRequestHeaderProto).clientId)
  // The client id is random, and Java's calls are numbered in the process.
  const asCaptured = (bytes: Buffer) => {
    const id = new FrameMessages(bytes.subarray(4)).next(RpcRequestHeaderProto).clientId
    return bytes.toString('hex').replaceAll(Buffer.from(id).toString('hex'), 'ID')
  }
  assert.equal(received.subarray(0, 7).toString('hex'), captured.preambleHex)
  assert.equal(asCaptured(received.subarray(7, 7 + context.length)), asCaptured(context))
  assert.equal(asCaptured(received.subarray(7 + context.length)), asCaptured(withCallId(register, 0)))
})

function withCallId(frame: Buffer, callId: number): Buffer {
  const messages = new FrameMessages(frame.subarray(4))
  const header = messages.next(RpcRequestHeaderProto)
  const { rpcKind, rpcOp, clientId, retryCount } = header
  const withId = { rpcKind, rpcOp, callId, clientId, retryCount }
  const rest = frame.subarray(frame.length - messages.remaining)
  const changed = new FrameWriter().message(RpcRequestHeaderProto, withId).finish()
  const bytes = Buffer.concat([changed, rest])
  bytes.writeInt32BE(bytes.length - 4)
  return bytes
}

test('replies in any order and in pieces reach their calls', async (t) => {
  const peer = await Peer.start(t)
  const { beat } = connected(t, peer)
  const beats = [beat(), beat(), beat()]
  await peer.until(calls(3))
  const bytes = Buffer.concat([reply(2, 22), reply(0, 20), reply(7, 99), reply(1, 21)])
  for (const byte of bytes) peer.send(Buffer.from([byte]))
  const intervals = (await Promise.all(beats)).map(({ nextHeartBeatInterval }) => Number(nextHeartBeatInterval))
  assert.deepEqual(intervals, [20, 21, 22])
})

test('a ping goes out when nothing has come for the ping interval while a call waits, and only then', async (t) => {
  const peer = await Peer.start(t)
  const { beat, clock } = connected(t, peer, { rpcTimeoutMs: 0 })
  const first = beat()
  await peer.until(calls(1))
  await clock.advance(59_999)
  assert.deepEqual(peer.callIds(), [-3, 0])
  await clock.advance(1)
  await peer.until(() => peer.callIds().length === 3)
  await clock.advance(60_000)
  await peer.until(() => peer.callIds().length === 4)
  assert.deepEqual(peer.callIds(), [-3, 0, -4, -4])
  peer.send(reply(0))
  await first
  await clock.advance(9_999)
  assert.deepEqual(peer.callIds(), [-3, 0, -4, -4])
})

test('a call that is not answered in time is rejected, and with it the connection that was silent', async (t) => {
  const peer = await Peer.start(t)
  const { beat, clock } = connected(t, peer, { rpcTimeoutMs: 5000 })
  const first = beat()
  await peer.until(calls(1))
  await clock.advance(1)
  const second = beat()
  const outcomes = Promise.allSettled([first, second])
  await peer.until(calls(2))
  await clock.advance(4999)
  const [one, other] = await outcomes
  assert.ok(one.status === 'rejected' && other.status === 'rejected')
  assert.equal(one.reason.code, 'ERR_IPC_CALL_TIMEOUT')
  assert.equal(one.reason.message, `127.0.0.1:${peer.port}: nodeHeartbeat got no answer within 5000 ms`)
  assert.equal(other.reason.code, 'ERR_IPC_CONNECTION_LOST')
  assert.equal(clock.waiting, 1, 'the destruction of the old socket')
  peer.socket = undefined
  const third = beat()
  await peer.until(calls(1))
  peer.send(reply(2))
  await third
})

test('a call that is not answered in time leaves a connection alone on which others are', async (t) => {
  const peer = await Peer.start(t)
  const { beat, clock } = connected(t, peer, { rpcTimeoutMs: 5000 })
  const first = assert.rejects(beat(), { code: 'ERR_IPC_CALL_TIMEOUT' })
  const second = beat()
  await peer.until(calls(2))
  await clock.advance(1000)
  peer.send(reply(1))
  await second
  await clock.advance(4000)
  await first
  const third = beat()
  await peer.until(calls(3))
  peer.send(Buffer.concat([reply(0), reply(2)]))
  await third
})

test('an idle connection is closed after the idle time, counted from the last call', async (t) => {
  const peer = await Peer.start(t)
  const { beat, clock } = connected(t, peer, { rpcTimeoutMs: 0, doPing: false })
  for (let call = 0; call < 3; call++) {
    const answered = beat()
    await peer.until(calls(call + 1))
    peer.send(reply(call))
    await answered
    await clock.advance(9000)
  }
  const closed = new Promise((resolve) => peer.socket?.once('end', resolve))
  await clock.advance(1000)
  await closed
})

test('connecting is tried again at the interval, and given up after the last attempt', async (t) => {
  const peer = await Peer.start(t)
  const { port } = peer
  const vacant = await vacantPort()
  const { beat, clock } = connected(t, { port: vacant }, { connectMaxRetries: 2, rpcTimeoutMs: 0 })
  const outcome = assert.rejects(beat(), { code: 'ERR_IPC_CONNECT', message: /connection refused/ })
  let attempts = 0
  const advancing = (async () => {
    while (attempts < 2) {
      while (clock.waiting < 1) await nextTurn()
      attempts++
      await clock.advance(1000)
    }
  })()
  await outcome
  await advancing
  assert.equal(attempts, 2)
  assert.notEqual(port, vacant)
})

test('nothing listens to calls after close', async (t) => {
  const peer = await Peer.start(t)
  const { beat, connection } = connected(t, peer)
  const waiting = beat()
  await peer.until(calls(1))
  connection.close()
  connection.close()
  await assert.rejects(waiting, { code: 'ERR_IPC_CLOSED' })
  await assert.rejects(beat(), { code: 'ERR_IPC_CLOSED' })
})

test('the trace that Java sends behind the message of an error is cut off', async (t) => {
  const peer = await Peer.start(t)
  const { beat } = connected(t, peer)
  const first = beat()
  await peer.until(calls(1))
  peer.send(failure(0, ERROR, 'first line\nsecond line\n\tat a.b.C.d(C.java:1)\n\tat e.f\n\t... 3 more\n'))
  await assert.rejects(first, { className: JavaClass.YARN, message: 'first line\nsecond line' })
})

test('a fatal reply rejects all calls with what it says', async (t) => {
  const peer = await Peer.start(t)
  const { beat } = connected(t, peer)
  const both = Promise.allSettled([beat(), beat()])
  await peer.until(calls(2))
  peer.send(failure(-1, FATAL, 'you may not'))
  for (const outcome of await both) {
    assert.ok(outcome.status === 'rejected')
    assert.deepEqual([outcome.reason.className, outcome.reason.message], [JavaClass.YARN, 'you may not'])
  }
})

const malformed: readonly (readonly [string, Buffer, RegExp])[] = [
  ['has bytes behind its message', withTrailingByte(reply(0)), /RPC response length mismatch/],
  ['has no body', failureWithoutStatus(), /frame ends inside a length/],
  ['is longer than the limit', Buffer.from('7fffffff', 'hex'), /RPC response has length 2147483647/],
  ['has a negative length', Buffer.from('ffffffff', 'hex'), /RPC response has length -1/],
  ['is no message', Buffer.from('0000000203ff', 'hex'), /frame with 1 left/],
]
for (const [what, bytes, message] of malformed) {
  test(`a response that ${what} ends the connection`, async (t) => {
    const peer = await Peer.start(t)
    const { beat } = connected(t, peer)
    const waiting = beat()
    await peer.until(calls(1))
    peer.send(bytes)
    await assert.rejects(waiting, { code: 'ERR_IPC_BAD_RESPONSE', message })
  })
}

function withTrailingByte(frame: Buffer): Buffer {
  const longer = Buffer.concat([frame, Buffer.alloc(1)])
  longer.writeInt32BE(longer.length - 4)
  return longer
}

function failureWithoutStatus(): Buffer {
  return new FrameWriter().message(RpcResponseHeaderProto, { callId: 0, status: SUCCESS }).finish()
}

test('a server that can not prove that it knows the token is not spoken to', async (t) => {
  const peer = await Peer.start(t)
  const token = { identifier: Buffer.from('id'), password: Buffer.from('pw'), kind: 'T', service: '' }
  const { beat } = connected(t, peer, {}, { kind: 'token', token })
  const sasl = (message: Parameters<typeof RpcSaslProto.encode>[0]) =>
    new FrameWriter()
      .message(RpcResponseHeaderProto, { callId: -33, status: SUCCESS })
      .message(RpcSaslProto, message)
      .finish()
  const waiting = assert.rejects(beat(), { code: 'ERR_IPC_LOGIN', message: /rspauth/ })
  const { SaslState } = RpcSaslProto
  assert.deepEqual((await peer.until((bytes) => bytes.length > 7)).subarray(0, 7), preamble(-33))
  const challenge = Buffer.from('realm="default",nonce="n",qop="auth",charset=utf-8,algorithm=md5-sess')
  const auth = { method: 'TOKEN', mechanism: 'DIGEST-MD5', protocol: '', serverId: 'default', challenge }
  peer.send(sasl({ state: SaslState.NEGOTIATE, auths: [{ method: 'KERBEROS', mechanism: 'GSSAPI' }, auth] }))
  await peer.until(() => peer.callIds().length === 2)
  peer.send(sasl({ state: SaslState.SUCCESS, token: Buffer.from(`rspauth=${'0'.repeat(32)}`) }))
  await waiting
  assert.deepEqual(peer.callIds(), [-33, -33])
})

async function vacantPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return address === null || typeof address === 'string' ? 0 : address.port
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
