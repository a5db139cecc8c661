/** Serves Hadoop RPC protocols on one port. Source: org.apache.hadoop.ipc.Server. */
import { createServer, type Server, type Socket } from 'node:net'
import { BobbinError, Bug, messageOf } from '../base/errors.ts'
import type { Clock, Timer } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Service } from '../base/service.ts'
import { addressText } from '../config/addresses.ts'
import type { IpcServerConfig } from '../config/node-manager-config.ts'
import { CallQueue } from './call-queue.ts'
import { IpcErrorCode } from './errors.ts'
import { ServerConnection, type ConnectionContext } from './server-connection.ts'
import type { Authentication } from './server-login.ts'
import type { ServedProtocol } from './served-protocol.ts'
import { SocketWire } from './socket-wire.ts'

export { serve, type ServedProtocol } from './served-protocol.ts'
export type { TokenAuthenticator } from './sasl/sasl-server.ts'

export interface IpcServerOptions {
  /** What the log calls it. */
  readonly name: string
  readonly listen: { readonly bindHost: string; readonly port: number }
  readonly protocols: readonly ServedProtocol[]
  readonly authentication: Authentication
  readonly limits: IpcServerConfig
  readonly clock: Clock
  readonly log: Log
}

export class IpcServer implements Service {
  readonly name: string
  readonly #options: IpcServerOptions
  readonly #context: ConnectionContext
  readonly #connections = new Map<ServerConnection, Socket>()
  #server: Server | undefined
  #idleTimer: Timer | undefined
  #port: number

  constructor(options: IpcServerOptions) {
    const { name, protocols, authentication, limits, clock, log, listen } = options
    this.name = name
    this.#options = options
    this.#port = listen.port
    this.#context = {
      protocols: new Map(protocols.map((served) => [served.protocol.name, served])),
      authentication,
      maxDataLength: limits.maxDataLength,
      qop: limits.qop,
      queue: new CallQueue(limits.handlerCount),
      clock,
      log,
    }
  }

  /** The real one once started; before that the configured one, which may be 0. */
  get port(): number {
    return this.#port
  }

  get connectionCount(): number {
    return this.#connections.size
  }

  /** @throws BobbinError ERR_IPC_LISTEN that the port can't be had */
  async start(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { listen, limits, log } = this.#options
    const server = createServer({ noDelay: limits.tcpNoDelay, keepAlive: true }, (socket) => this.#accept(socket))
    if (limits.maxConnections > 0) server.maxConnections = limits.maxConnections
    server.on('drop', (dropped) => {
      log.warn({ from: dropped?.remoteAddress }, `${this.name}: all ${limits.maxConnections} connections are in use`)
    })
    this.#server = server
    await listening(server, { host: listen.bindHost, port: listen.port, backlog: limits.listenQueueSize }, this.name)
    server.on('error', (error) => log.error({ err: error }, `${this.name}: a connection could not be accepted`))
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Bug(`${this.name} listens on ${address}`)
    this.#port = address.port
    this.#scheduleIdleScan()
    log.info(`${this.name} listens on ${addressText({ host: listen.bindHost, port: this.#port })}`)
  }

  /** Closes all connections; calls under way run on, but nobody hears of their end. */
  async stop(): Promise<void> {
    const server = this.#server
    if (server === undefined) return
    this.#server = undefined
    this.#idleTimer?.cancel()
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve())
    })
    for (const connection of this.#connections.keys()) connection.close()
    await closed
  }

  #accept(socket: Socket): void {
    const { clock, log } = this.#options
    const wire = new SocketWire(socket, clock)
    const connection = new ServerConnection(wire, this.#context)
    this.#connections.set(connection, socket)
    socket.on('data', (chunk: Buffer) => connection.receive(chunk))
    socket.on('drain', () => connection.drained())
    socket.on('end', () => connection.close())
    socket.on('error', (error) => log.debug({ err: error, from: wire.remoteAddress }, `${this.name}: connection broke`))
    socket.on('close', () => {
      this.#connections.delete(connection)
      connection.close()
    })
  }

  #scheduleIdleScan(): void {
    const { clock, limits } = this.#options
    this.#idleTimer = clock.schedule(limits.idleScanIntervalMs, () => {
      this.#closeIdle()
      this.#scheduleIdleScan()
    })
  }

  /** Java: only once more than `idleThreshold` connections exist, after twice the idle time, `killMax` a scan. */
  #closeIdle(): void {
    const { limits, clock, log } = this.#options
    const now = clock.monotonicMs()
    let closed = 0
    for (const connection of this.#connections.keys()) {
      if (this.#connections.size - closed <= limits.idleThreshold || closed >= limits.killMax) break
      if (connection.pendingCalls > 0 || now - connection.lastContactMs <= 2 * limits.maxIdleTimeMs) continue
      connection.close()
      closed++
    }
    if (closed > 0) log.debug(`${this.name}: closed ${closed} idle connections`)
  }
}

function listening(
  server: Server,
  options: { host: string; port: number; backlog: number },
  name: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => {
      const where = addressText(options)
      reject(new BobbinError(IpcErrorCode.LISTEN, `${name} can't listen on ${where}: ${messageOf(error)}`, error))
    }
    server.once('error', failed)
    server.listen(options, () => {
      server.off('error', failed)
      resolve()
    })
  })
}
