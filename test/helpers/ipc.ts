import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import type { IpcClientConfig, IpcServerConfig } from '../../src/config/node-manager-config.ts'
import type { IpcClientOptions } from '../../src/ipc/client.ts'
import { IpcServer, type IpcServerOptions } from '../../src/ipc/server.ts'

/** Hadoop's defaults, with a short way to give up connecting. */
export const clientSettings: IpcClientConfig = {
  connectTimeoutMs: 20_000,
  connectMaxRetries: 0,
  connectRetryIntervalMs: 1000,
  connectMaxRetriesOnTimeouts: 0,
  rpcTimeoutMs: 120_000,
  doPing: true,
  pingIntervalMs: 60_000,
  maxIdleTimeMs: 10_000,
  maxResponseLength: 134_217_728,
  tcpNoDelay: true,
}

export const serverLimits: IpcServerConfig = {
  maxDataLength: 134_217_728,
  listenQueueSize: 256,
  maxConnections: 0,
  idleThreshold: 4000,
  maxIdleTimeMs: 10_000,
  idleScanIntervalMs: 10_000,
  killMax: 10,
  tcpNoDelay: true,
  handlerCount: 20,
  qop: ['auth'],
}

export function clientOptions(settings: Partial<IpcClientConfig> = {}): IpcClientOptions {
  return { config: { ...clientSettings, ...settings }, clock: systemClock, log: silentLog }
}

type ServerChoices = Partial<Omit<IpcServerOptions, 'limits'>> & { readonly limits?: Partial<IpcServerConfig> }

/** A server on a free loopback port; the caller stops it. */
export async function startedServer(choices: ServerChoices): Promise<IpcServer> {
  const server = new IpcServer({
    name: 'test server',
    listen: { bindHost: '127.0.0.1', port: 0 },
    protocols: [],
    authentication: { kind: 'simple' },
    clock: systemClock,
    log: silentLog,
    ...choices,
    limits: { ...serverLimits, ...choices.limits },
  })
  await server.start(new AbortController().signal)
  return server
}
