import type { Configuration } from './configuration.ts'
import { freeze } from './freeze.ts'
import type { IpcClientConfig, IpcServerConfig } from './node-manager-config.ts'
import { Settings } from './settings.ts'

/** @throws ConfigError */
export function ipcClientConfig(configuration: Configuration): IpcClientConfig {
  const settings = new Settings(configuration)
  const config = readIpcClient(settings)
  settings.finish()
  return freeze(config)
}

export function readIpcClient(settings: Settings): IpcClientConfig {
  return {
    connectTimeoutMs: settings.read('ipc.client.connect.timeout'),
    connectMaxRetries: settings.read('ipc.client.connect.max.retries'),
    connectRetryIntervalMs: settings.read('ipc.client.connect.retry.interval'),
    connectMaxRetriesOnTimeouts: settings.read('ipc.client.connect.max.retries.on.timeouts'),
    // Java: negative is none too.
    rpcTimeoutMs: Math.max(0, settings.read('ipc.client.rpc-timeout.ms')),
    doPing: settings.read('ipc.client.ping'),
    pingIntervalMs: settings.read('ipc.ping.interval'),
    maxIdleTimeMs: settings.read('ipc.client.connection.maxidletime'),
    maxResponseLength: settings.read('ipc.maximum.response.length'),
    tcpNoDelay: settings.read('ipc.client.tcpnodelay'),
  }
}

const QOP = { authentication: 'auth', integrity: 'auth-int', privacy: 'auth-conf' } as const

/** @param handlerCount calls of one port that are handled at a time */
export function readIpcServer(settings: Settings, handlerCount: number): IpcServerConfig {
  const protections = settings.read('hadoop.rpc.protection')
  return {
    maxDataLength: settings.read('ipc.maximum.data.length'),
    listenQueueSize: settings.read('ipc.server.listen.queue.size'),
    maxConnections: settings.read('ipc.server.max.connections'),
    idleThreshold: settings.read('ipc.client.idlethreshold'),
    maxIdleTimeMs: settings.read('ipc.client.connection.maxidletime'),
    idleScanIntervalMs: settings.read('ipc.client.connection.idle-scan-interval.ms'),
    killMax: settings.read('ipc.client.kill.max'),
    tcpNoDelay: settings.read('ipc.server.tcpnodelay'),
    handlerCount,
    qop: protections.map((protection) => QOP[protection as keyof typeof QOP]),
  }
}
