/** Calls one Hadoop RPC protocol at one address. Source: org.apache.hadoop.ipc.Client. */
import { randomUUID } from 'node:crypto'
import { asError, BobbinError, messageOf } from '../base/errors.ts'
import type { Clock, Timer } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { addressText } from '../config/addresses.ts'
import type { Address, IpcClientConfig } from '../config/node-manager-config.ts'
import { hadoop } from '../protocol/messages.ts'
import { RemoteError } from '../protocol/remote-error.ts'
import type { RpcCaller } from '../protocol/rpc-caller.ts'
import type { AnyCodec, RequestOf, ResponseOf, RpcMethods, RpcProtocol } from '../protocol/rpc-protocol.ts'
import { ClientLink, requestHeader, type Login } from './client-link.ts'
import { IpcErrorCode, ipcError } from './errors.ts'
import { FrameWriter } from './frames.ts'

export type { Login } from './client-link.ts'

const { RpcRequestHeaderProto, RequestHeaderProto } = hadoop.common

export interface IpcClientOptions {
  readonly config: IpcClientConfig
  readonly clock: Clock
  readonly log: Log
}

interface Outstanding {
  readonly method: string
  readonly response: AnyCodec
  readonly sentAtMs: number
  readonly settle: () => void
  readonly resolve: (response: unknown) => void
  readonly reject: (reason: unknown) => void
}

/** What the connection to the other side is at the moment. */
type Connection =
  | { readonly kind: 'none' }
  | { readonly kind: 'opening'; readonly unsent: Map<number, Buffer>; readonly abort: AbortController }
  | { readonly kind: 'open'; readonly link: ClientLink }
  | { readonly kind: 'closed' }

const CALL_ID_MASK = 0x7fffffff

/**
 * One connection, made at the first call and again at the first call after it broke or was idle. Any number of calls
 * may be outstanding; when the connection breaks they are all rejected, for nobody knows whether they were carried out.
 */
export class IpcConnection<M extends RpcMethods> implements RpcCaller<M> {
  readonly #protocol: RpcProtocol<M>
  readonly #address: Address
  readonly #login: Login
  readonly #options: IpcClientOptions
  readonly #clientId = Buffer.from(randomUUID().replaceAll('-', ''), 'hex')
  readonly #outstanding = new Map<number, Outstanding>()
  #connection: Connection = { kind: 'none' }
  #lastCallId = -1
  #idleSinceMs = 0
  #idleTimer: Timer | undefined
  #pingTimer: Timer | undefined

  constructor(protocol: RpcProtocol<M>, address: Address, login: Login, options: IpcClientOptions) {
    this.#protocol = protocol
    this.#address = address
    this.#login = login
    this.#options = options
  }

  /** Calls sent and not answered. */
  get outstandingCalls(): number {
    return this.#outstanding.size
  }

  call<N extends keyof M & string>(
    method: N,
    request: RequestOf<M[N]>,
    signal?: AbortSignal,
  ): Promise<ResponseOf<M[N]>> {
    return new Promise<ResponseOf<M[N]>>((resolve, reject) => {
      signal?.throwIfAborted()
      if (this.#connection.kind === 'closed') throw ipcError(IpcErrorCode.CLOSED, this.#address, 'closed by us')
      const codecs = this.#protocol.methods[method]
      if (codecs === undefined) throw new TypeError(`${this.#protocol.name} has no method ${method}`)
      const callId = this.#takeCallId()
      const frame = this.#frame(callId, method, codecs.request, request)
      const { rpcTimeoutMs } = this.#options.config
      const timer = rpcTimeoutMs > 0 ? this.#clock.schedule(rpcTimeoutMs, () => this.#timedOut(callId)) : undefined
      const aborted = (): void => this.#finish(callId, (call) => call.reject(signal?.reason))
      signal?.addEventListener('abort', aborted, { once: true })
      this.#outstanding.set(callId, {
        method,
        response: codecs.response,
        sentAtMs: this.#clock.monotonicMs(),
        settle: () => {
          timer?.cancel()
          signal?.removeEventListener('abort', aborted)
        },
        // The codec of this method decoded it.
        resolve: (response) => resolve(response as ResponseOf<M[N]>),
        reject,
      })
      this.#send(callId, frame)
    })
  }

  close(): void {
    if (this.#connection.kind === 'closed') return
    this.#disconnect()
    this.#connection = { kind: 'closed' }
    this.#idleTimer?.cancel()
    this.#pingTimer?.cancel()
    this.#rejectAll(ipcError(IpcErrorCode.CLOSED, this.#address, 'closed by us'))
  }

  get #clock(): Clock {
    return this.#options.clock
  }

  #takeCallId(): number {
    do this.#lastCallId = (this.#lastCallId + 1) & CALL_ID_MASK
    while (this.#outstanding.has(this.#lastCallId))
    return this.#lastCallId
  }

  #frame(callId: number, method: string, codec: AnyCodec, request: unknown): Buffer {
    const { name, version } = this.#protocol
    return new FrameWriter()
      .message(RpcRequestHeaderProto, requestHeader(callId, this.#clientId, 0))
      .message(RequestHeaderProto, {
        methodName: method,
        declaringClassProtocolName: name,
        clientProtocolVersion: version,
      })
      .anyMessage(codec, request)
      .finish()
  }

  #send(callId: number, frame: Buffer): void {
    const connection = this.#connection
    switch (connection.kind) {
      case 'open':
        connection.link.send(frame)
        this.#schedulePing()
        return
      case 'opening':
        connection.unsent.set(callId, frame)
        return
      case 'none':
      case 'closed':
        void this.#open(new Map([[callId, frame]]))
    }
  }

  // ---- connecting ----------------------------------------------------------------------------------------------

  /** Never rejects: a failure is that of the calls that wait. */
  async #open(unsent: Map<number, Buffer>): Promise<void> {
    const abort = new AbortController()
    const opening: Connection = { kind: 'opening', unsent, abort }
    this.#connection = opening
    try {
      const link = await this.#connect(abort.signal)
      if (this.#connection !== opening) {
        link.close()
        return
      }
      if (link.brokenBy !== undefined) throw link.brokenBy
      this.#connection = { kind: 'open', link }
      for (const frame of unsent.values()) link.send(frame)
      this.#schedulePing()
    } catch (thrown) {
      // Whoever ended the attempt has dealt with the calls.
      if (this.#connection !== opening) return
      this.#connection = { kind: 'none' }
      this.#rejectAll(asError(thrown))
    }
  }

  async #connect(signal: AbortSignal): Promise<ClientLink> {
    const { config, clock, log } = this.#options
    let refusals = 0
    let timeouts = 0
    for (;;) {
      try {
        return await this.#openLink(signal)
      } catch (thrown) {
        signal.throwIfAborted()
        const isTimeout = thrown instanceof BobbinError && thrown.code === IpcErrorCode.CONNECT_TIMEOUT
        if (isTimeout ? timeouts++ >= config.connectMaxRetriesOnTimeouts : refusals++ >= config.connectMaxRetries) {
          throw thrown
        }
        log.info(
          `Retrying connect to server: ${addressText(this.#address)}. Already tried ${refusals + timeouts} time(s): ${messageOf(thrown)}`,
        )
        if (!isTimeout) await clock.sleep(config.connectRetryIntervalMs, signal)
        signal.throwIfAborted()
      }
    }
  }

  #openLink(signal: AbortSignal): Promise<ClientLink> {
    const { config, clock } = this.#options
    return ClientLink.open(
      {
        address: this.#address,
        protocolName: this.#protocol.name,
        clientId: this.#clientId,
        login: this.#login,
        connectTimeoutMs: config.connectTimeoutMs,
        maxResponseLength: config.maxResponseLength,
        tcpNoDelay: config.tcpNoDelay,
        clock,
      },
      {
        replied: (callId, body) => this.#replied(callId, body),
        failed: (callId, error) => this.#finish(callId, (call) => call.reject(error)),
        broke: (link, error) => this.#broke(link, error),
      },
      signal,
    )
  }

  /** A link that breaks before it is ours is seen by #open. */
  #broke(link: ClientLink, error: Error): void {
    if (this.#connection.kind !== 'open' || this.#connection.link !== link) return
    this.#connection = { kind: 'none' }
    this.#rejectAll(error)
  }

  #disconnect(): void {
    const connection = this.#connection
    if (connection.kind === 'open') connection.link.close()
    this.#connection = { kind: 'none' }
    if (connection.kind === 'opening') connection.abort.abort()
  }

  // ---- outcomes ------------------------------------------------------------------------------------------------

  #replied(callId: number, body: Buffer): void {
    this.#finish(callId, (call) => {
      try {
        call.resolve(call.response.decode(body))
      } catch (thrown) {
        const what = `the response of ${call.method} can't be decoded: ${messageOf(thrown)}`
        call.reject(ipcError(IpcErrorCode.BAD_RESPONSE, this.#address, what, thrown))
      }
    })
  }

  /** A call that is not there any more was aborted or took too long. */
  #finish(callId: number, tell: (call: Outstanding) => void): void {
    const call = this.#outstanding.get(callId)
    if (call === undefined) return
    this.#outstanding.delete(callId)
    call.settle()
    if (this.#connection.kind === 'opening') this.#connection.unsent.delete(callId)
    tell(call)
    if (this.#outstanding.size === 0) this.#becameIdle()
  }

  #rejectAll(error: Error): void {
    const calls = [...this.#outstanding.values()]
    this.#outstanding.clear()
    for (const call of calls) {
      call.settle()
      call.reject(naming(call.method, error))
    }
  }

  #timedOut(callId: number): void {
    const connection = this.#connection
    const call = this.#outstanding.get(callId)
    if (call === undefined) return
    const what = `${call.method} got no answer within ${this.#options.config.rpcTimeoutMs} ms`
    const error = ipcError(IpcErrorCode.CALL_TIMEOUT, this.#address, what)
    this.#finish(callId, () => call.reject(error))
    // Not a byte came in all that time: the other side, or the way to it, is gone.
    if (connection.kind === 'open' && connection.link.lastReadMs <= call.sentAtMs) {
      this.#disconnect()
      this.#rejectAll(ipcError(IpcErrorCode.CONNECTION_LOST, this.#address, `given up, for ${what}`, error))
    }
  }

  // ---- idle and ping -------------------------------------------------------------------------------------------

  #becameIdle(): void {
    const { maxIdleTimeMs } = this.#options.config
    this.#idleSinceMs = this.#clock.monotonicMs()
    if (maxIdleTimeMs <= 0 || this.#connection.kind === 'opening') {
      if (this.#connection.kind !== 'closed') this.#disconnect()
    } else if (this.#idleTimer === undefined) {
      this.#idleTimer = this.#clock.schedule(maxIdleTimeMs, () => this.#idleTimerRang())
    }
  }

  /** One timer, however many calls: when it rings early, it is set to when it would be due. */
  #idleTimerRang(): void {
    this.#idleTimer = undefined
    if (this.#outstanding.size > 0 || this.#connection.kind !== 'open') return
    const dueInMs = this.#idleSinceMs + this.#options.config.maxIdleTimeMs - this.#clock.monotonicMs()
    if (dueInMs <= 0) this.#disconnect()
    else this.#idleTimer = this.#clock.schedule(dueInMs, () => this.#idleTimerRang())
  }

  #schedulePing(): void {
    const { doPing, pingIntervalMs } = this.#options.config
    if (!doPing || pingIntervalMs <= 0 || this.#pingTimer !== undefined) return
    this.#pingTimer = this.#clock.schedule(pingIntervalMs, () => {
      this.#pingTimer = undefined
      if (this.#connection.kind !== 'open' || this.#outstanding.size === 0) return
      const { link } = this.#connection
      if (this.#clock.monotonicMs() - link.lastReadMs >= pingIntervalMs) link.ping()
      this.#schedulePing()
    })
  }
}

/** Says which call it was that a broken connection took along. What the other side said stays as it is. */
function naming(method: string, error: Error): Error {
  if (error instanceof RemoteError || !(error instanceof BobbinError)) return error
  return new BobbinError(error.code, `${method}: ${error.message}`, error)
}
