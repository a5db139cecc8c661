// Captured connections with bits flipped, cut, repeated, left out, and delivered in pieces. How many frames:
// BOBBIN_FUZZ_RUNS; which: BOBBIN_FUZZ_SEED, which a failure names.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { connect, createServer } from 'node:net'
import { test } from 'node:test'
import { systemClock, type Clock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { CallQueue } from '../../src/ipc/call-queue.ts'
import { IpcConnection, type Login } from '../../src/ipc/client.ts'
import type { Qop } from '../../src/ipc/sasl/digest.ts'
import type { TokenAuthenticator } from '../../src/ipc/sasl/sasl-server.ts'
import { serve, type ServedProtocol } from '../../src/ipc/server.ts'
import { ServerConnection, type ConnectionContext } from '../../src/ipc/server-connection.ts'
import { applicationClient } from '../../src/protocol/application-client.ts'
import { applicationMaster } from '../../src/protocol/application-master.ts'
import { containerManagement } from '../../src/protocol/container-management.ts'
import { resourceTracker } from '../../src/protocol/resource-tracker.ts'
import type { RpcMethods, RpcProtocol } from '../../src/protocol/rpc-protocol.ts'
import { capturedFrames, codecNamed, type CapturedFrame } from '../helpers/captures.ts'
import { settle } from '../helpers/fake-clock.ts'
import { fixture } from '../helpers/fixtures.ts'
import { clientOptions, startedServer } from '../helpers/ipc.ts'
import { MemoryWire } from '../helpers/memory-wire.ts'
import { damaged, pieces, Random } from '../helpers/mutations.ts'

const RUNS = Number(process.env['BOBBIN_FUZZ_RUNS'] ?? 100_000)
const SEED = Number(process.env['BOBBIN_FUZZ_SEED'] ?? Date.now() % 2 ** 32)
/** What all runs together may add to the process. Buffers of 128 MB that a few frames announce would not fit. */
const MEMORY_BOUND_BYTES = 200 * 1024 * 1024

/** A client's whole side of a connection, in frames, and what the server needs to get through its login. */
interface Stream {
  readonly parts: readonly Buffer[]
  readonly nonce?: string
  readonly password?: Buffer
  readonly qop?: readonly Qop[]
}

const hex = (text: string) => Buffer.from(text, 'hex')

function capturedStreams(): Stream[] {
  interface Simple {
    readonly preambleHex: string
    readonly frames: readonly CapturedFrame[]
  }
  interface Login extends Simple {
    readonly digestMd5: { readonly nonce: string; readonly passwordHex: string }
  }
  interface Wrapped extends Simple {
    readonly serverChallenge: string
    readonly passwordHex: string
  }
  const sent = ({ preambleHex, frames }: Simple) => [
    hex(preambleHex),
    ...frames.filter(({ direction }) => direction === 'client->server').map(({ frameHex }) => hex(frameHex)),
  ]
  const tracker = fixture<Simple>('vectors/capture-resourcetracker.json')
  const login = fixture<Login>('vectors/capture-startcontainers-am.json')
  const wrapped = fixture<Wrapped>('vectors/capture-auth-int-wrap.json')
  const refused = fixture<{ connections: readonly { clientHex: string }[] }>('vectors/capture-ipc-errors.json')
  const [preamble, context] = sent(tracker)
  assert.ok(preamble !== undefined && context !== undefined)
  const calls = capturedFrames()
    .filter(({ frame }) => frame.requestHeader !== undefined)
    .map(({ frame }) => hex(frame.frameHex))
  const conversations: Stream[] = []
  for (let at = 0; at < calls.length; at += 6)
    conversations.push({ parts: [preamble, context, ...calls.slice(at, at + 6)] })
  const withLogin = { nonce: login.digestMd5.nonce, password: hex(login.digestMd5.passwordHex) }
  const withLayer = {
    nonce: /nonce="([^"]*)"/.exec(wrapped.serverChallenge)?.[1] ?? '',
    password: hex(wrapped.passwordHex),
    qop: ['auth-conf', 'auth-int', 'auth'] as const,
  }
  return [
    { parts: sent(tracker) },
    { parts: [...sent(login), ...calls.slice(0, 5)], ...withLogin },
    { parts: sent(wrapped), ...withLayer },
    ...conversations,
    ...refused.connections.map(({ clientHex }) => ({ parts: [hex(clientHex)], ...withLogin })),
  ]
}

const streams = capturedStreams()

/** Every method answered; every third one later. */
function answering<M extends RpcMethods>(protocol: RpcProtocol<M>): ServedProtocol {
  let calls = 0
  const handle = () => (++calls % 3 === 0 ? Promise.resolve({}) : {})
  const handlers = new Map(
    Object.entries(protocol.methods).map(([name, { request, response }]) => [name, { request, response, handle }]),
  )
  return { protocol, handlers }
}

const protocols = [applicationClient, applicationMaster, containerManagement, resourceTracker].map((protocol) =>
  answering<RpcMethods>(protocol),
)

/** Time stands still, and what is scheduled is forgotten: thousands of connections, none of which is too late. */
const still: Clock = { ...systemClock, monotonicMs: () => 0, schedule: () => ({ cancel: () => {} }) }

function contextFor({ nonce, password, qop }: Stream): ConnectionContext {
  const authenticator = { authenticate: () => ({ user: 'attempt', password: password ?? Buffer.alloc(20) }) }
  return {
    protocols: new Map(protocols.map((served) => [served.protocol.name, served])),
    authentication: password === undefined ? { kind: 'simple' } : { kind: 'token', authenticator },
    maxDataLength: 134_217_728,
    qop: qop ?? ['auth'],
    queue: new CallQueue(20),
    clock: still,
    log: silentLog,
    ...(nonce !== undefined && { newNonce: () => nonce }),
  }
}

/** One to all frames of a stream damaged, the damage anywhere or in one frame only. */
function damagedStream({ parts }: Stream, random: Random): Buffer {
  if (random.below(2) === 0) return damaged(Buffer.concat(parts), random)
  const chosen = random.below(parts.length)
  return Buffer.concat(parts.map((part, index) => (index === chosen ? damaged(part, random) : part)))
}

function rssGrowth(): () => number {
  const before = process.memoryUsage().rss
  return () => process.memoryUsage().rss - before
}

test(`${RUNS} damaged frames at connections of a server: none breaks out, none is waited for`, async () => {
  const random = new Random(SEED)
  const growth = rssGrowth()
  let frames = 0
  for (let run = 0; frames < RUNS; run++) {
    const stream = random.pick(streams)
    const wire = new MemoryWire()
    const connection = new ServerConnection(wire, contextFor(stream))
    try {
      for (const piece of pieces(damagedStream(stream, random), random)) connection.receive(piece)
      if (run % 100 === 0) await settle()
      connection.close()
    } catch (thrown) {
      throw new Error(`run ${run} of seed ${SEED}`, { cause: thrown })
    }
    frames += stream.parts.length
  }
  await settle()
  assert.ok(growth() < MEMORY_BOUND_BYTES, `the process grew by ${growth()} bytes, seed ${SEED}`)
})

test(`${RUNS} damaged messages at the decoders: an error or a message, nothing else`, () => {
  const random = new Random(SEED)
  const growth = rssGrowth()
  const bodies = capturedFrames().flatMap(({ frame }) => {
    try {
      return frame.messageType === undefined
        ? []
        : [{ codec: codecNamed(frame.messageType), bytes: hex(frame.frameHex) }]
    } catch {
      // A message of a protocol that Bobbin does not speak.
      return []
    }
  })
  for (let run = 0; run < RUNS; run++) {
    const { codec, bytes } = random.pick(bodies)
    try {
      codec.decode(damaged(bytes.subarray(4 + random.below(100)), random))
    } catch (thrown) {
      assert.ok(thrown instanceof Error, `run ${run} of seed ${SEED}`)
      assert.notEqual(thrown.name, 'TypeError', `run ${run} of seed ${SEED}: ${thrown.message}`)
    }
  }
  assert.ok(growth() < MEMORY_BOUND_BYTES, `the process grew by ${growth()} bytes, seed ${SEED}`)
})

const KEY = hex('b0cbdfa1e7a02bb1')
const signing: TokenAuthenticator = {
  authenticate: (identifier) => ({ user: 'attempt', password: createHmac('sha1', KEY).update(identifier).digest() }),
}
const identifier = Buffer.from('identifier')
const token: Login = {
  kind: 'token',
  token: { identifier, password: signing.authenticate(identifier).password, kind: 'NMToken', service: '' },
}

for (const kind of ['simple', 'token'] as const) {
  test(`damaged connections at a ${kind} server leave it to serve good clients`, async () => {
    const random = new Random(SEED)
    const growth = rssGrowth()
    const server = await startedServer({
      protocols: [serve(applicationClient, { getNewApplication: () => ({}) }), ...protocols.slice(1)],
      authentication: kind === 'simple' ? { kind } : { kind, authenticator: signing },
      limits: { qop: ['auth', 'auth-int'] },
    })
    const address = { host: '127.0.0.1', port: server.port }
    const login: Login = kind === 'simple' ? { kind, user: 'alice' } : token
    const good = new IpcConnection(applicationClient, address, login, clientOptions())
    const connections = Math.ceil(RUNS / 100)
    let begun = 0
    const attack = async (): Promise<void> => {
      while (begun++ < connections)
        await deliver(server.port, pieces(damagedStream(random.pick(streams), random), random))
    }
    await Promise.all(Array.from({ length: 20 }, attack))
    await good.call('getNewApplication', {})
    await Promise.all(Array.from({ length: 100 }, () => good.call('getNewApplication', {})))
    good.close()
    await server.stop()
    await settle()
    assert.equal(server.connectionCount, 0)
    assert.ok(growth() < MEMORY_BOUND_BYTES, `the process grew by ${growth()} bytes, seed ${SEED}`)
  })
}

/** Sends and hangs up; resolves when the connection is gone. */
function deliver(port: number, chunks: readonly Buffer[]): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => {
      for (const chunk of chunks) socket.write(chunk)
      socket.end()
    })
    // The server may have hung up first.
    socket.on('error', () => {})
    socket.resume()
    socket.on('close', () => resolve())
  })
}

test('damaged replies at a client end its calls, one way or the other', async () => {
  const random = new Random(SEED)
  const growth = rssGrowth()
  const replies = capturedFrames()
    .filter(({ frame }) => frame.direction === 'server->client')
    .map(({ frame }) => hex(frame.frameHex))
  const hostile = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      const answer = Array.from({ length: 1 + random.below(4) }, () => damaged(random.pick(replies), random))
      for (const piece of pieces(Buffer.concat(answer), random)) socket.write(piece)
      socket.end()
    })
  })
  await new Promise<void>((resolve) => {
    hostile.listen(0, '127.0.0.1', resolve)
  })
  const bound = hostile.address()
  assert.ok(bound !== null && typeof bound === 'object')
  const address = { host: '127.0.0.1', port: bound.port }
  for (let run = 0; run < RUNS / 100; run++) {
    const login: Login = run % 2 === 0 ? token : { kind: 'simple', user: 'alice' }
    const client = new IpcConnection(resourceTracker, address, login, clientOptions())
    const outcomes = await Promise.allSettled([client.call('nodeHeartbeat', {}), client.call('nodeHeartbeat', {})])
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') assert.match(outcome.reason.name, /BobbinError|RemoteError/, `seed ${SEED}`)
    }
    client.close()
  }
  await new Promise((resolve) => hostile.close(resolve))
  assert.ok(growth() < MEMORY_BOUND_BYTES, `the process grew by ${growth()} bytes, seed ${SEED}`)
})
