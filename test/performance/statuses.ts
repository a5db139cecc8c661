// What getContainerStatuses costs a node in CPU time: node dist/test/performance/statuses.js [SECONDS EACH]
// The server is a process of its own; each connection has one call under way.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { containerStatuses, type ContainerStatusesOptions } from '../../src/container-manager/container-statuses.ts'
import type { ContainerView } from '../../src/containers/container-view.ts'
import { IpcConnection } from '../../src/ipc/client.ts'
import { IpcServer, serve } from '../../src/ipc/server.ts'
import { containerManagement } from '../../src/protocol/container-management.ts'
import { containerIdToProto, nodeId, parseAttemptId, parseContainerId } from '../../src/protocol/ids.ts'
import { password } from '../../src/security/master-key.ts'
import { encodeNMToken } from '../../src/security/nm-token.ts'
import { clientOptions, serverLimits } from '../helpers/ipc.ts'

const CONNECTIONS = [1, 8, 32]
const key = { keyId: 1, bytes: Buffer.from('b0cbdfa1e7a02bb1', 'hex') }
const attemptId = parseAttemptId('appattempt_1796121941544_0001_000001')
const identifier = encodeNMToken({ attemptId, nodeId: nodeId('localhost', 40454), user: 'root', keyId: key.keyId })
const ids = [2, 3].map((n) => parseContainerId(`container_1796121941544_0001_01_00000${n}`))

async function serveStatuses(): Promise<void> {
  const options = {
    node: { findContainer: (id: string) => running.get(id) },
    recentlyStopped: { isRecentlyStopped: () => false },
    log: silentLog,
  } as unknown as ContainerStatusesOptions
  const running = new Map<string, Partial<ContainerView>>(
    ids.map((id) => [
      id,
      {
        id,
        state: 'RUNNING',
        diagnostics: '',
        exitStatus: -1000,
        resource: { memoryMb: 128, vcores: 1 },
        executionType: 'GUARANTEED',
        host: 'localhost',
        ips: ['127.0.0.1'],
      },
    ]),
  )
  const server = new IpcServer({
    name: 'benchmark',
    listen: { bindHost: '127.0.0.1', port: 0 },
    protocols: [
      serve(containerManagement, {
        getContainerStatuses: (request, caller) => containerStatuses(options, request, caller),
      }),
    ],
    authentication: {
      kind: 'token',
      authenticator: { authenticate: (bytes) => ({ user: attemptId, password: password(key, bytes) }) },
    },
    limits: serverLimits,
    clock: systemClock,
    log: silentLog,
  })
  await server.start(new AbortController().signal)
  process.on('message', () => process.send?.(process.cpuUsage()))
  process.on('disconnect', () => process.exit())
  process.send?.(server.port)
}

async function measure(seconds: number): Promise<void> {
  const server = fork(process.argv[1] ?? '', ['server'])
  const answer = async (): Promise<unknown> => (await once(server, 'message'))[0]
  const address = { host: '127.0.0.1', port: Number(await answer()) }
  const usedUs = async (): Promise<number> => {
    server.send('usage')
    const { user, system } = (await answer()) as NodeJS.CpuUsage
    return user + system
  }
  const token = { identifier, password: password(key, identifier), kind: 'NMToken', service: '' }
  const request = { containerId: ids.map(containerIdToProto) }
  const load = async (connections: number, seconds: number): Promise<number> => {
    const endMs = performance.now() + seconds * 1000
    const calls = Array.from({ length: connections }, async () => {
      const connection = new IpcConnection(containerManagement, address, { kind: 'token', token }, clientOptions())
      let count = 0
      for (; performance.now() < endMs; count++) await connection.call('getContainerStatuses', request)
      connection.close()
      return count
    })
    return (await Promise.all(calls)).reduce((sum, count) => sum + count)
  }
  for (const connections of CONNECTIONS) {
    await load(connections, seconds / 2)
    const before = await usedUs()
    const calls = await load(connections, seconds)
    const each = ((await usedUs()) - before) / calls
    console.log(
      `${connections} connections: ${(calls / seconds).toFixed(0)} calls/s, ${each.toFixed(1)} µs of CPU time a call`,
    )
  }
  server.disconnect()
}

await (process.argv[2] === 'server' ? serveStatuses() : measure(Number(process.argv[2] ?? 2)))
