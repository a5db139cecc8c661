import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import type { IpcClientConfig } from '../../../src/config/node-manager-config.ts'
import { IpcConnection, type Login } from '../../../src/ipc/client.ts'
import { serve, type IpcServer, type ServedProtocol, type TokenAuthenticator } from '../../../src/ipc/server.ts'
import type { Qop } from '../../../src/ipc/sasl/digest.ts'
import { applicationClient } from '../../../src/protocol/application-client.ts'
import { toNumber } from '../../../src/protocol/messages.ts'
import { JavaClass, RemoteError } from '../../../src/protocol/remote-error.ts'
import { resourceTracker } from '../../../src/protocol/resource-tracker.ts'
import type { Caller } from '../../../src/protocol/rpc-caller.ts'
import { ChunkingProxy } from '../../helpers/chunking-proxy.ts'
import { clientOptions, startedServer } from '../../helpers/ipc.ts'

const KEY = Buffer.from('b0cbdfa1e7a02bb1', 'hex')
const hmac = (identifier: Buffer) => createHmac('sha1', KEY).update(identifier).digest()

/** Tokens whose identifier is a user's name. */
const authenticator: TokenAuthenticator = {
  authenticate(identifier) {
    const user = identifier.toString()
    if (user === 'mallory') throw new RemoteError(JavaClass.INVALID_TOKEN, 'mallory is not welcome')
    return { user, password: hmac(identifier) }
  },
}
const login = (user: string): Login => {
  const identifier = Buffer.from(user)
  return { kind: 'token', token: { identifier, password: hmac(identifier), kind: 'T', service: '' } }
}
const simple: Login = { kind: 'simple', user: 'alice' }

/** Answers with the caller's name and the size of what was sent. */
function echo(callers: Caller[] = []): ServedProtocol {
  return serve(applicationClient, {
    getNewApplication: (_request, caller) => {
      callers.push(caller)
      return { applicationId: { id: callers.length, clusterTimestamp: 1_796_121_941_544 } }
    },
    getApplications: ({ users }, caller) => ({
      applications: (users ?? []).map((user) => ({ user: `${caller.user} ${user}` })),
    }),
    getClusterMetrics: () => {
      throw new RemoteError('org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException', 'no such\nthing')
    },
    getClusterNodes: () => Promise.reject(new Error('something unexpected')),
  })
}

function client(t: TestContext, server: IpcServer | ChunkingProxy, as: Login, settings: Partial<IpcClientConfig> = {}) {
  const address = { host: '127.0.0.1', port: server.port }
  const connection = new IpcConnection(applicationClient, address, as, clientOptions(settings))
  t.after(() => connection.close())
  return connection
}

async function server(t: TestContext, choices: Parameters<typeof startedServer>[0]) {
  const started = await startedServer(choices)
  t.after(() => started.stop())
  return started
}

test('a SIMPLE client is who it says it is', async (t) => {
  const callers: Caller[] = []
  const connection = client(t, await server(t, { protocols: [echo(callers)] }), simple)
  const { applicationId } = await connection.call('getNewApplication', {})
  assert.equal(applicationId?.id, 1)
  assert.equal(toNumber(applicationId?.clusterTimestamp, 0), 1_796_121_941_544)
  const [caller] = callers
  assert.deepEqual([caller?.user, caller?.authentication, caller?.tokenIdentifier], ['alice', 'SIMPLE', undefined])
})

const protections: readonly (readonly Qop[])[] = [
  ['auth'],
  ['auth-int'],
  ['auth-conf'],
  ['auth-conf', 'auth-int', 'auth'],
]
for (const qop of protections) {
  test(`a TOKEN client is who its token says, with ${qop.join(',')}`, async (t) => {
    const callers: Caller[] = []
    const listening = await server(t, {
      protocols: [echo(callers)],
      authentication: { kind: 'token', authenticator },
      limits: { qop },
    })
    const connection = client(t, listening, login('appattempt_1_0001_000001'))
    await connection.call('getNewApplication', {})
    assert.equal(callers[0]?.user, 'appattempt_1_0001_000001')
    assert.equal(callers[0]?.authentication, 'TOKEN')
    assert.equal(callers[0]?.tokenIdentifier?.toString(), 'appattempt_1_0001_000001')
    // Larger than one protected message may be, in both directions.
    const users = Array.from({ length: 5000 }, (_, index) => `user-${index}-${'x'.repeat(40)}`)
    const { applications } = await connection.call('getApplications', { users })
    assert.equal(applications?.length, 5000)
    assert.equal(applications?.[4999]?.user, `appattempt_1_0001_000001 ${users[4999]}`)
    assert.equal(listening.connectionCount, 1)
  })

  test(`frames may be cut and joined anywhere, with ${qop.join(',')}`, async (t) => {
    const listening = await server(t, {
      protocols: [echo()],
      authentication: { kind: 'token', authenticator },
      limits: { qop },
    })
    for (const size of [1, 3, 7, 1000]) {
      const proxy = await ChunkingProxy.start(listening.port, size)
      t.after(() => proxy.stop())
      const connection = client(t, proxy, login('bob'))
      const replies = await Promise.all(
        Array.from({ length: 5 }, (_, index) =>
          connection.call('getApplications', { users: [`${index}`, 'y'.repeat(300)] }),
        ),
      )
      assert.deepEqual(
        replies.map(({ applications }) => applications?.[0]?.user),
        ['bob 0', 'bob 1', 'bob 2', 'bob 3', 'bob 4'],
      )
    }
  })
}

test('many calls on one connection are each answered with their own reply', async (t) => {
  const listening = await server(t, { protocols: [echo()] })
  const connection = client(t, listening, simple)
  const replies = await Promise.all(
    Array.from({ length: 2000 }, (_, index) => connection.call('getApplications', { users: [`${index}`] })),
  )
  assert.ok(replies.every(({ applications }, index) => applications?.[0]?.user === `alice ${index}`))
  assert.equal(listening.connectionCount, 1)
  assert.equal(connection.outstandingCalls, 0)
})

test('a slow handler does not hold up others on its connection', async (t) => {
  const { promise: slow, resolve: release } = pending<void>()
  const protocol = serve(applicationClient, {
    getNewApplication: async () => {
      await slow
      return {}
    },
    getClusterMetrics: () => ({}),
  })
  const connection = client(t, await server(t, { protocols: [protocol] }), simple)
  const order: string[] = []
  const first = connection.call('getNewApplication', {}).then(() => order.push('slow'))
  await connection.call('getClusterMetrics', {})
  order.push('quick')
  release()
  await first
  assert.deepEqual(order, ['quick', 'slow'])
})

test('no more handlers run at a time than configured, and none is left out', async (t) => {
  let running = 0
  let most = 0
  const protocol = serve(applicationClient, {
    getClusterMetrics: async () => {
      most = Math.max(most, ++running)
      await nextTurn()
      running--
      return {}
    },
  })
  const listening = await server(t, { protocols: [protocol], limits: { handlerCount: 3 } })
  const connection = client(t, listening, simple)
  const other = client(t, listening, simple)
  // More than the queue of three handlers and what one connection may have pending.
  const calls = [connection, other].flatMap((caller) =>
    Array.from({ length: 500 }, () => caller.call('getClusterMetrics', {})),
  )
  await Promise.all(calls)
  assert.equal(most, 3)
})

test('an error that a handler throws arrives with its class and message, and the connection goes on', async (t) => {
  const listening = await server(t, { protocols: [echo()] })
  const connection = client(t, listening, simple)
  await assert.rejects(connection.call('getClusterMetrics', {}), {
    name: 'RemoteError',
    className: 'org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException',
    message: 'no such\nthing',
  })
  await assert.rejects(connection.call('getClusterNodes', {}), {
    className: JavaClass.YARN,
    message: 'something unexpected',
  })
  await assert.rejects(connection.call('getQueueInfo', { queueName: 'root' }), {
    className: 'org.apache.hadoop.ipc.RpcNoSuchMethodException',
    message: `Unknown method getQueueInfo called on ${applicationClient.name} protocol.`,
  })
  await connection.call('getNewApplication', {})
  assert.equal(listening.connectionCount, 1)
})

test('a call of another protocol or version is answered as Java does', async (t) => {
  const listening = await server(t, { protocols: [echo()] })
  const address = { host: '127.0.0.1', port: listening.port }
  const stranger = new IpcConnection(resourceTracker, address, simple, clientOptions())
  const newer = new IpcConnection({ ...applicationClient, version: 7 }, address, simple, clientOptions())
  t.after(() => [stranger, newer].forEach((connection) => connection.close()))
  await assert.rejects(stranger.call('unRegisterNodeManager', {}), {
    className: 'org.apache.hadoop.ipc.RpcNoSuchProtocolException',
    message: `Unknown protocol: ${resourceTracker.name}`,
  })
  await assert.rejects(newer.call('getNewApplication', {}), {
    className: 'org.apache.hadoop.ipc.RPC$VersionMismatch',
    message: `Protocol ${applicationClient.name} version mismatch. (client = 7, server = 1)`,
  })
})

test('a refused login rejects the call with what the server said', async (t) => {
  const listening = await server(t, { protocols: [echo()], authentication: { kind: 'token', authenticator } })
  await assert.rejects(client(t, listening, login('mallory')).call('getNewApplication', {}), {
    className: JavaClass.INVALID_TOKEN,
    message: 'mallory is not welcome',
  })
  const forged = login('bob')
  assert.ok(forged.kind === 'token')
  const guessed: Login = { kind: 'token', token: { ...forged.token, password: Buffer.alloc(20) } }
  await assert.rejects(client(t, listening, guessed).call('getNewApplication', {}), {
    className: JavaClass.SASL,
    message: 'DIGEST-MD5: digest response format violation. Mismatched response.',
  })
  await assert.rejects(client(t, listening, simple).call('getNewApplication', {}), {
    className: JavaClass.ACCESS_CONTROL,
    message: 'SIMPLE authentication is not enabled.  Available:[TOKEN]',
  })
})

test('a client with a token does not go on without proof', async (t) => {
  const listening = await server(t, { protocols: [echo()] })
  await assert.rejects(client(t, listening, login('bob')).call('getNewApplication', {}), { code: 'ERR_IPC_LOGIN' })
})

test('the end of a server rejects what is outstanding; the next call connects anew', async (t) => {
  const { promise: asked, resolve: wasAsked } = pending<void>()
  const stuck = serve(applicationClient, {
    getNewApplication: () => {
      wasAsked()
      return new Promise(() => {})
    },
  })
  const first = await startedServer({ protocols: [stuck] })
  const connection = client(t, first, simple)
  const outstanding = [connection.call('getNewApplication', {}), connection.call('getNewApplication', {})]
  const outcomes = Promise.allSettled(outstanding)
  await asked
  await first.stop()
  for (const outcome of await outcomes) {
    assert.ok(outcome.status === 'rejected')
    assert.equal(outcome.reason.code, 'ERR_IPC_CONNECTION_LOST')
    assert.match(outcome.reason.message, new RegExp(`^getNewApplication: 127\\.0\\.0\\.1:${first.port}: `))
  }
  await assert.rejects(connection.call('getNewApplication', {}), {
    code: 'ERR_IPC_CONNECT',
    message: `getNewApplication: cannot connect to 127.0.0.1:${first.port}: connection refused; nothing listens there`,
  })
  await server(t, { protocols: [echo()], listen: { bindHost: '127.0.0.1', port: first.port } })
  await connection.call('getNewApplication', {})
})

test('an aborted call is rejected with the reason, whether it waits for a reply or for the connection', async (t) => {
  const { promise: asked, resolve: wasAsked } = pending<void>()
  const stuck = serve(applicationClient, {
    getNewApplication: () => {
      wasAsked()
      return new Promise(() => {})
    },
    getClusterMetrics: () => ({}),
  })
  const connection = client(t, await server(t, { protocols: [stuck] }), simple)
  const abort = new AbortController()
  const call = connection.call('getNewApplication', {}, abort.signal)
  await asked
  abort.abort(new Error('enough'))
  await assert.rejects(call, { message: 'enough' })
  await connection.call('getClusterMetrics', {})

  const early = new AbortController()
  const unconnected = client(t, await server(t, { protocols: [stuck] }), simple)
  const refused = unconnected.call('getClusterMetrics', {}, early.signal)
  early.abort(new Error('too late'))
  await assert.rejects(refused, { message: 'too late' })
  await assert.rejects(unconnected.call('getClusterMetrics', {}, AbortSignal.abort(new Error('never'))), {
    message: 'never',
  })
  await unconnected.call('getClusterMetrics', {})
})

test('a connection without calls is closed after the idle time, and at once when that is zero', async (t) => {
  const listening = await server(t, { protocols: [echo()] })
  const connection = client(t, listening, simple, { maxIdleTimeMs: 0 })
  for (let call = 0; call < 3; call++) {
    await connection.call('getNewApplication', {})
    await until(() => listening.connectionCount === 0)
  }
})

test('a response beyond the limit ends the connection', async (t) => {
  const connection = client(t, await server(t, { protocols: [echo()] }), simple, { maxResponseLength: 1000 })
  await connection.call('getApplications', { users: ['x'] })
  await assert.rejects(connection.call('getApplications', { users: ['x'.repeat(2000)] }), {
    code: 'ERR_IPC_BAD_RESPONSE',
  })
  await connection.call('getApplications', { users: ['x'] })
})

test('a request beyond the limit ends the connection without a reply', async (t) => {
  const listening = await server(t, { protocols: [echo()], limits: { maxDataLength: 1000 } })
  const connection = client(t, listening, simple)
  await assert.rejects(connection.call('getApplications', { users: ['x'.repeat(2000)] }), {
    code: 'ERR_IPC_CONNECTION_LOST',
  })
})

test('a port that is taken is named', async (t) => {
  const taken = await server(t, {})
  await assert.rejects(startedServer({ name: 'second', listen: { bindHost: '127.0.0.1', port: taken.port } }), {
    code: 'ERR_IPC_LISTEN',
    message: new RegExp(`^second can't listen on 127\\.0\\.0\\.1:${taken.port}: .*EADDRINUSE`),
  })
})

test('connections beyond the limit are closed at once', async (t) => {
  const listening = await server(t, { protocols: [echo()], limits: { maxConnections: 1 }, log: silentLog })
  await client(t, listening, simple).call('getNewApplication', {})
  await assert.rejects(client(t, listening, simple).call('getNewApplication', {}), { code: 'ERR_IPC_CONNECTION_LOST' })
})

function pending<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

/** Waits for what another socket's turn brings. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await nextTurn()
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
