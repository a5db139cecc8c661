import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { preamble } from '../../../src/ipc/wire.ts'
import { FrameWriter } from '../../../src/ipc/frames.ts'
import type { IpcServer } from '../../../src/ipc/server.ts'
import { hadoop } from '../../../src/protocol/messages.ts'
import { FakeClock } from '../../helpers/fake-clock.ts'
import { startedServer } from '../../helpers/ipc.ts'

const { RpcRequestHeaderProto, IpcConnectionContextProto, RpcKindProto } = hadoop.common

/** Preamble and context of somebody who then says nothing. */
const hello = Buffer.concat([
  preamble(0),
  new FrameWriter()
    .message(RpcRequestHeaderProto, {
      rpcKind: RpcKindProto.RPC_PROTOCOL_BUFFER,
      rpcOp: RpcRequestHeaderProto.OperationProto.RPC_FINAL_PACKET,
      callId: -3,
      clientId: Buffer.alloc(16),
    })
    .message(IpcConnectionContextProto, { userInfo: { effectiveUser: 'alice' } })
    .finish(),
])

async function silent(t: TestContext, server: IpcServer, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(server.port, '127.0.0.1'))
  t.after(() => sockets.forEach((socket) => socket.destroy()))
  for (const socket of sockets) {
    socket.on('error', () => {})
    socket.resume()
    socket.write(hello)
  }
  await until(() => server.connectionCount === count)
  return sockets
}

test('idle connections are closed above the threshold, so many a scan, after twice the idle time', async (t) => {
  const clock = new FakeClock()
  const server = await startedServer({ clock, limits: { idleThreshold: 3, killMax: 2 } })
  t.after(() => server.stop())
  await silent(t, server, 8)
  // The context has to have been read: until then the time limit of the login runs.
  await until(() => clock.waiting === 1)
  await clock.advance(20_000)
  assert.equal(server.connectionCount, 8)
  for (const left of [6, 4, 3, 3]) {
    await clock.advance(10_000)
    await until(() => server.connectionCount <= left)
    assert.equal(server.connectionCount, left)
  }
})

test('a client that never says who it is does not keep its place', async (t) => {
  const clock = new FakeClock()
  const server = await startedServer({ clock })
  t.after(() => server.stop())
  const mute = connect(server.port, '127.0.0.1')
  t.after(() => mute.destroy())
  mute.on('error', () => {})
  await until(() => server.connectionCount === 1)
  await clock.advance(30_000)
  await until(() => server.connectionCount === 0)
})

test('the end of a server closes its connections, twice if asked', async (t) => {
  const server = await startedServer({})
  const sockets = await silent(t, server, 3)
  const closed = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)))
  await Promise.all([server.stop(), server.stop()])
  await Promise.all(closed)
  await server.stop()
})

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise<void>((resolve) => setImmediate(resolve))
}
