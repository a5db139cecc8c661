// SASL logins, calls and their cost in CPU time: node dist/test/performance/ipc.js [SECONDS EACH]
// Server and client run in this one process, so a number is the sum of both sides.
import { createHmac } from 'node:crypto'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { IpcConnection, type Login } from '../../src/ipc/client.ts'
import { IpcServer, serve, type TokenAuthenticator } from '../../src/ipc/server.ts'
import type { Qop } from '../../src/ipc/sasl/digest.ts'
import { containerManagement } from '../../src/protocol/container-management.ts'
import { containerIdToProto, parseContainerId } from '../../src/protocol/ids.ts'
import { clientOptions, serverLimits } from '../helpers/ipc.ts'

const SECONDS = Number(process.argv[2] ?? 2)
const KEY = Buffer.from('b0cbdfa1e7a02bb1', 'hex')
const identifier = Buffer.from(
  '0a0d0a09080110a8acd789a3341001120f0a096c6f63616c686f73741086bc021a04726f6f74209df3d1a101',
  'hex',
)
const authenticator: TokenAuthenticator = {
  authenticate: (bytes) => ({
    user: 'appattempt_1796121941544_0001_000001',
    password: createHmac('sha1', KEY).update(bytes).digest(),
  }),
}
const { password } = authenticator.authenticate(identifier)
const token: Login = { kind: 'token', token: { identifier, password, kind: 'NMToken', service: '' } }
const simple: Login = { kind: 'simple', user: 'root' }

const containerIds = ['container_1796121941544_0001_01_000002', 'container_1796121941544_0001_01_000003'].map((id) =>
  containerIdToProto(parseContainerId(id)),
)
const statuses = serve(containerManagement, {
  getContainerStatuses: ({ containerId }) => ({
    status: (containerId ?? []).map((id) => ({ containerId: id, diagnostics: '', exitStatus: -1000 })),
  }),
})

interface Setting {
  readonly name: string
  readonly login: Login
  readonly qop: readonly Qop[]
  /** Each call on a connection of its own, as most masters make them. */
  readonly isFresh: boolean
  /** Calls under way at a time. */
  readonly atOnce: number
}

const settings: readonly Setting[] = [
  { name: 'connect, SIMPLE, call', login: simple, qop: ['auth'], isFresh: true, atOnce: 1 },
  { name: 'connect, TOKEN auth, call', login: token, qop: ['auth'], isFresh: true, atOnce: 1 },
  { name: 'connect, TOKEN auth-int, call', login: token, qop: ['auth-int'], isFresh: true, atOnce: 1 },
  { name: 'connect, TOKEN auth-conf, call', login: token, qop: ['auth-conf'], isFresh: true, atOnce: 1 },
  { name: 'call, SIMPLE, one at a time', login: simple, qop: ['auth'], isFresh: false, atOnce: 1 },
  { name: 'call, SIMPLE, 32 at a time', login: simple, qop: ['auth'], isFresh: false, atOnce: 32 },
  { name: 'call, TOKEN auth-int, 32 at a time', login: token, qop: ['auth-int'], isFresh: false, atOnce: 32 },
  { name: 'call, TOKEN auth-conf, 32 at a time', login: token, qop: ['auth-conf'], isFresh: false, atOnce: 32 },
]

/** @returns how many calls, in how many seconds of time and of CPU */
async function measured(setting: Setting, seconds: number) {
  const { login, qop, isFresh, atOnce } = setting
  const server = new IpcServer({
    name: 'benchmark',
    listen: { bindHost: '127.0.0.1', port: 0 },
    protocols: [statuses],
    authentication: login.kind === 'simple' ? { kind: 'simple' } : { kind: 'token', authenticator },
    limits: { ...serverLimits, qop },
    clock: systemClock,
    log: silentLog,
  })
  await server.start(new AbortController().signal)
  const address = { host: '127.0.0.1', port: server.port }
  const options = clientOptions(isFresh ? { maxIdleTimeMs: 0 } : {})
  const client = new IpcConnection(containerManagement, address, login, options)
  const beganMs = performance.now()
  const cpu = process.cpuUsage()
  let calls = 0
  const work = async (): Promise<void> => {
    while (performance.now() - beganMs < seconds * 1000) {
      await client.call('getContainerStatuses', { containerId: containerIds })
      calls++
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  const used = process.cpuUsage(cpu)
  const elapsedSec = (performance.now() - beganMs) / 1000
  client.close()
  await server.stop()
  return { calls, elapsedSec, cpuSec: (used.user + used.system) / 1e6 }
}

const row = (name: string, ...cells: readonly string[]) =>
  console.log(name.padEnd(36) + cells.map((cell) => cell.padStart(14)).join(''))

row('', 'calls/s', 'CPU µs/call')
for (const setting of settings) {
  await measured(setting, SECONDS / 4)
  const { calls, elapsedSec, cpuSec } = await measured(setting, SECONDS)
  row(setting.name, (calls / elapsedSec).toFixed(0), ((cpuSec / calls) * 1e6).toFixed(0))
}
