import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import type { ResourceManagerMember } from '../../../src/config/node-manager-config.ts'
import { UnreachableError } from '../../../src/ipc/errors.ts'
import type { RetryConfig } from '../../../src/config/node-manager-config.ts'
import { ResourceManagerConnection } from '../../../src/ipc/failover.ts'
import { serve, type IpcServer } from '../../../src/ipc/server.ts'
import { JavaClass, RemoteError } from '../../../src/protocol/remote-error.ts'
import { resourceTracker } from '../../../src/protocol/resource-tracker.ts'
import { FakeClock } from '../../helpers/fake-clock.ts'
import { clientSettings, startedServer } from '../../helpers/ipc.ts'

const retry: RetryConfig = {
  maxWaitMs: 900_000,
  retryIntervalMs: 30_000,
  failoverMaxAttempts: -1,
  failoverSleepBaseMs: 30_000,
  failoverSleepMaxMs: 30_000,
  failoverRetries: 0,
  failoverRetriesOnTimeouts: 0,
}

const NOWHERE = { host: '127.0.0.1', port: 1 }

function member(port: number): ResourceManagerMember {
  return {
    id: `rm${port}`,
    resourceTracker: { host: '127.0.0.1', port },
    client: NOWHERE,
    scheduler: NOWHERE,
    web: NOWHERE,
  }
}

/** A ResourceManager that answers each beat by `answer`. */
async function listening(t: TestContext, answer: () => object = () => ({})): Promise<IpcServer> {
  const server = await startedServer({ protocols: [serve(resourceTracker, { nodeHeartbeat: answer })] })
  t.after(() => server.stop())
  return server
}

/** A port on which nothing listens. */
async function vacant(): Promise<number> {
  const server = await startedServer({})
  await server.stop()
  return server.port
}

function connected(t: TestContext, ports: readonly number[], isHa: boolean, changes: Partial<RetryConfig> = {}) {
  const clock = new PausesClock()
  const connection = new ResourceManagerConnection({
    protocol: resourceTracker,
    resourceManager: { members: ports.map(member), isHa, retry: { ...retry, ...changes } },
    addressOf: ({ resourceTracker }) => resourceTracker,
    login: { kind: 'simple', user: 'root' },
    ipcClient: { ...clientSettings, connectTimeoutMs: 0, rpcTimeoutMs: 0, doPing: false, maxIdleTimeMs: 1e12 },
    clock,
    log: silentLog,
  })
  t.after(() => connection.close())
  return { connection, clock, beat: (signal?: AbortSignal) => connection.call('nodeHeartbeat', {}, signal) }
}

/** Keeps what it was asked to sleep. */
class PausesClock extends FakeClock {
  readonly pauses: number[] = []

  override sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    this.pauses.push(delayMs)
    return super.sleep(delayMs, signal)
  }
}

/** Lets time pass whenever the call sleeps, until it is over. */
async function passing(clock: FakeClock, call: Promise<unknown>): Promise<void> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  call.then(over, over)
  while (!isOver) {
    if (clock.waiting > 0) await clock.advance(1000)
    else await nextTurn()
  }
}

test('without HA a call is repeated at the interval until the time is used up', async (t) => {
  const port = await vacant()
  const { clock, beat } = connected(t, [port], false, { maxWaitMs: 90_000 })
  const call = beat()
  const failure = assert.rejects(call, (error) => {
    assert.ok(error instanceof UnreachableError)
    assert.equal(error.code, 'ERR_RM_UNREACHABLE')
    assert.deepEqual(error.addresses, [`127.0.0.1:${port}`])
    assert.match(
      error.message,
      /at 127\.0\.0\.1:\d+ \(4 attempts in .* s\): nodeHeartbeat: cannot connect to .*refused/,
    )
    assert.ok(error.cause instanceof Error && 'code' in error.cause && error.cause.code === 'ERR_IPC_CONNECT')
    return true
  })
  await passing(clock, call)
  await failure
  assert.deepEqual(clock.pauses, [30_000, 30_000, 30_000])
})

test('a maximum that is shorter than the interval means one attempt', async (t) => {
  const { beat } = connected(t, [await vacant()], false, { maxWaitMs: 29_999 })
  await assert.rejects(beat(), { code: 'ERR_RM_UNREACHABLE', message: /1 attempt in 0\.0 s/ })
})

test('a ResourceManager that comes back is found again', async (t) => {
  const first = await startedServer({ protocols: [serve(resourceTracker, { nodeHeartbeat: () => ({}) })] })
  const { clock, beat } = connected(t, [first.port], false)
  await beat()
  await first.stop()
  const call = beat()
  while (clock.waiting === 0) await nextTurn()
  const second = await startedServer({
    protocols: [serve(resourceTracker, { nodeHeartbeat: () => ({ responseId: 7 }) })],
    listen: { bindHost: '127.0.0.1', port: first.port },
  })
  t.after(() => second.stop())
  await passing(clock, call)
  assert.equal((await call).responseId, 7)
})

test('with HA the next one is asked at once, and stays the one that is asked', async (t) => {
  let beats = 0
  const active = await listening(t, () => ({ responseId: ++beats }))
  const { clock, beat, connection } = connected(t, [await vacant(), active.port], true)
  const call = beat()
  await passing(clock, call)
  assert.equal((await call).responseId, 1)
  assert.equal(connection.address, `127.0.0.1:${active.port}`)
  const beganMs = clock.monotonicMs()
  assert.equal((await beat()).responseId, 2)
  assert.equal(clock.monotonicMs(), beganMs)
})

test('with HA a standby is left, and one that fails over later is followed', async (t) => {
  let activeIs = 'second'
  const answering = (name: string) => () => {
    if (activeIs !== name) throw new RemoteError(JavaClass.STANDBY, `ResourceManager ${name} is standby`)
    return {}
  }
  const [first, second] = [await listening(t, answering('first')), await listening(t, answering('second'))]
  const { clock, beat, connection } = connected(t, [first.port, second.port], true)
  await passing(clock, beat())
  assert.equal(connection.address, `127.0.0.1:${second.port}`)
  activeIs = 'first'
  await passing(clock, beat())
  assert.equal(connection.address, `127.0.0.1:${first.port}`)
})

test('with HA two calls that fail together move on by one', async (t) => {
  const active = await listening(t)
  const { clock, beat, connection } = connected(t, [await vacant(), active.port, await vacant()], true)
  await passing(clock, Promise.all([beat(), beat()]))
  assert.equal(connection.address, `127.0.0.1:${active.port}`)
})

test('with HA attempts end after the configured number, with pauses that grow up to the maximum', async (t) => {
  const ports = [await vacant(), await vacant()]
  const { clock, beat } = connected(t, ports, true, {
    failoverMaxAttempts: 4,
    failoverSleepBaseMs: 100,
    failoverSleepMaxMs: 400,
  })
  const call = beat()
  const failure = assert.rejects(call, {
    code: 'ERR_RM_UNREACHABLE',
    addresses: ports.map((port) => `127.0.0.1:${port}`),
  })
  await passing(clock, call)
  await failure
  const [first, ...others] = clock.pauses
  assert.equal(first, 0)
  assert.equal(others.length, 3)
  for (const [index, base] of [200, 400, 400].entries()) {
    const pause = others[index] ?? 0
    assert.ok(pause >= base * 0.5 && pause <= base * 1.5, `pause ${pause} around ${base}`)
  }
})

test('what a ResourceManager answers is not repeated', async (t) => {
  let beats = 0
  const server = await listening(t, () => {
    beats++
    throw new RemoteError(JavaClass.YARN, 'no')
  })
  for (const isHa of [false, true]) {
    await assert.rejects(connected(t, [server.port], isHa).beat(), { className: JavaClass.YARN, message: 'no' })
  }
  assert.equal(beats, 2)
})

test('a call that may be repeated is, at the same ResourceManager', async (t) => {
  let beats = 0
  const server = await listening(t, () => {
    if (++beats < 3) throw new RemoteError(JavaClass.RETRIABLE, 'later')
    return {}
  })
  const { clock, beat, connection } = connected(t, [server.port, await vacant()], true)
  await passing(clock, beat())
  assert.equal(beats, 3)
  assert.equal(connection.address, `127.0.0.1:${server.port}`)
})

test('the signal ends a pause and the call', async (t) => {
  const { clock, beat } = connected(t, [await vacant()], false, { maxWaitMs: -1 })
  const abort = new AbortController()
  const call = assert.rejects(beat(abort.signal), { message: 'shutting down' })
  while (clock.waiting === 0) await nextTurn()
  abort.abort(new Error('shutting down'))
  await call
  assert.equal(clock.waiting, 0)
})

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
