import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { systemClock } from '../../../src/base/clock.ts'
import { silentLog } from '../../../src/base/log.ts'
import { IpcConnection } from '../../../src/ipc/client.ts'
import { IpcServer, serve } from '../../../src/ipc/server.ts'
import { containerManagement } from '../../../src/protocol/container-management.ts'
import { containerIdToProto } from '../../../src/protocol/ids.ts'
import { hadoop } from '../../../src/protocol/messages.ts'
import type { Token } from '../../../src/security/token.ts'
import { attempt, container, NODE_ID, TestNode } from '../../unit/container-manager/node.ts'

const limits = {
  maxDataLength: 64 * 1024 * 1024,
  listenQueueSize: 128,
  maxConnections: 0,
  idleThreshold: 4000,
  maxIdleTimeMs: 20_000,
  idleScanIntervalMs: 10_000,
  killMax: 10,
  tcpNoDelay: true,
  handlerCount: 20,
  qop: ['auth'],
} as const

const config = {
  connectTimeoutMs: 5000,
  connectMaxRetries: 0,
  connectRetryIntervalMs: 0,
  connectMaxRetriesOnTimeouts: 0,
  rpcTimeoutMs: 5000,
  doPing: false,
  pingIntervalMs: 60_000,
  maxIdleTimeMs: 10_000,
  maxResponseLength: 64 * 1024 * 1024,
  tcpNoDelay: true,
}

/** The node's port, and a way to log in to it as an ApplicationMaster. */
async function served(t: TestContext, node: TestNode) {
  const server = new IpcServer({
    name: 'container-manager',
    listen: { bindHost: '127.0.0.1', port: 0 },
    protocols: [serve(containerManagement, node.manager.handlers())],
    authentication: { kind: 'token', authenticator: node.tokens.nm },
    limits,
    clock: systemClock,
    log: silentLog,
  })
  await server.start(new AbortController().signal)
  t.after(() => server.stop())
  return (token: Token) => {
    const endpoint = { host: '127.0.0.1', port: server.port }
    const options = { config, clock: systemClock, log: silentLog }
    const connection = new IpcConnection(containerManagement, endpoint, { kind: 'token', token }, options)
    t.after(() => connection.close())
    return connection
  }
}

test('an ApplicationMaster logs in with its NM token, starts a container, asks for it and stops it', async (t) => {
  const node = new TestNode().register()
  const login = await served(t, node)
  const master = login(node.rm.nm.createNMToken(attempt, NODE_ID, 'root'))
  const one = container(1)
  const started = await master.call('startContainers', { startContainerRequest: [node.entry(one)] })
  assert.equal(started.succeededRequests?.length, 1)
  assert.equal(started.servicesMetaData?.[0]?.key, 'mapreduce_shuffle')
  const asked = await master.call('getContainerStatuses', { containerId: [containerIdToProto(one)] })
  assert.equal(asked.status?.[0]?.state, hadoop.yarn.ContainerStateProto.C_RUNNING)
  const stopped = await master.call('stopContainers', { containerId: [containerIdToProto(one)] })
  assert.equal(stopped.succeededRequests?.length, 1)
  assert.equal(node.node.findContainer(one)?.exitStatus, -105)
})

test('a login with a token that the node cannot prove is refused with its words', async (t) => {
  const node = new TestNode()
  const login = await served(t, node)
  const master = login(node.rm.nm.createNMToken(attempt, NODE_ID, 'root'))
  await assert.rejects(master.call('getContainerStatuses', {}), {
    className: 'org.apache.hadoop.security.token.SecretManager$InvalidToken',
    message: `Given NMToken for application : ${attempt} seems to have been generated illegally.`,
  })
})

test('a failed call reaches the client with the class and the words of the check', async (t) => {
  const node = new TestNode().register()
  const login = await served(t, node)
  const master = login(node.rm.nm.createNMToken(attempt, NODE_ID, 'root'))
  const call = master.call('startContainers', { startContainerRequest: [{ containerLaunchContext: {} }] })
  await assert.rejects(call, {
    className: 'org.apache.hadoop.yarn.exceptions.YarnException',
    message: 'java.io.IOException: Invalid ContainerToken',
  })
})

test('a method that is not served yet is answered as one that does not exist', async (t) => {
  const node = new TestNode().register()
  const login = await served(t, node)
  const master = login(node.rm.nm.createNMToken(attempt, NODE_ID, 'root'))
  await assert.rejects(master.call('restartContainer', containerIdToProto(container(1))), {
    className: 'org.apache.hadoop.ipc.RpcNoSuchMethodException',
  })
})
