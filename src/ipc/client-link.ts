/** One connection of a client, from connecting to its end; it is never used again after it has broken. */
import { connect as connectSocket, type Socket } from 'node:net'
import { asError, messageOf, type BobbinError } from '../base/errors.ts'
import type { Clock, Timer } from '../base/clock.ts'
import type { Address, IpcClientConfig } from '../config/node-manager-config.ts'
import { hadoop } from '../protocol/messages.ts'
import type { Token } from '../security/token.ts'
import { JavaClass, RemoteError } from '../protocol/remote-error.ts'
import { connectError, IpcErrorCode, ipcError } from './errors.ts'
import { FrameLengthError, FrameMessages, FrameReader, FrameWriter } from './frames.ts'
import type { SecurityLayer } from './sasl/layers.ts'
import { SaslClient } from './sasl/sasl-client.ts'
import { SaslError } from './sasl/sasl-error.ts'
import { SocketWire } from './socket-wire.ts'
import { AuthProtocol, CallId, NO_CLIENT_ID, NO_RETRY, preamble, type RequestHeader, type SaslMessage } from './wire.ts'

const { RpcRequestHeaderProto, RpcResponseHeaderProto, RpcSaslProto, IpcConnectionContextProto, RpcKindProto } =
  hadoop.common
const { RPC_FINAL_PACKET } = RpcRequestHeaderProto.OperationProto
const { SUCCESS, FATAL } = RpcResponseHeaderProto.RpcStatusProto
const { WRAP } = RpcSaslProto.SaslState

export type Login =
  | { readonly kind: 'simple'; readonly user: string }
  | { readonly kind: 'token'; readonly token: Token }

export interface LinkOptions extends Pick<IpcClientConfig, 'connectTimeoutMs' | 'maxResponseLength' | 'tcpNoDelay'> {
  readonly address: Address
  readonly protocolName: string
  readonly clientId: Buffer
  readonly login: Login
  readonly clock: Clock
}

/** What a link tells its owner. */
export interface LinkListener {
  /** @param body the bytes of the response message, to be decoded by whoever made the call */
  replied(callId: number, body: Buffer): void
  failed(callId: number, error: RemoteError): void
  /** Told once, and not after close(): nothing more comes. */
  broke(link: ClientLink, error: Error): void
}

/** Java takes a response length of zero or less to mean "no limit". */
const NO_LIMIT = 2 ** 31 - 1

export class ClientLink {
  readonly #options: LinkOptions
  readonly #listener: LinkListener
  readonly #wire: SocketWire
  readonly #frames: FrameReader
  readonly #unwrapped: FrameReader
  readonly #sasl: SaslClient | undefined
  #layer: SecurityLayer | undefined
  /** Frames that wait for the end of the login, in order. */
  #waiting: Buffer[] | undefined = []
  #isClosed = false
  #brokenBy: Error | undefined
  #lastReadMs: number

  private constructor(socket: Socket, options: LinkOptions, listener: LinkListener) {
    const limit = options.maxResponseLength > 0 ? options.maxResponseLength : NO_LIMIT
    this.#options = options
    this.#listener = listener
    this.#wire = new SocketWire(socket, options.clock)
    this.#frames = new FrameReader(limit)
    this.#unwrapped = new FrameReader(limit)
    this.#sasl = options.login.kind === 'token' ? new SaslClient(options.login.token) : undefined
    this.#lastReadMs = options.clock.monotonicMs()
  }

  /**
   * Connects; the login then runs while the first calls wait.
   * @throws BobbinError ERR_IPC_CONNECT, ERR_IPC_CONNECT_TIMEOUT; the signal's reason when aborted
   */
  static open(options: LinkOptions, listener: LinkListener, signal: AbortSignal): Promise<ClientLink> {
    return connected(options, signal, (socket) => {
      const link = new ClientLink(socket, options, listener)
      link.#begin(socket)
      return link
    })
  }

  /** When bytes last arrived, as Clock.monotonicMs. */
  get lastReadMs(): number {
    return this.#lastReadMs
  }

  /** What it broke of; undefined while it is whole, and after close(). */
  get brokenBy(): Error | undefined {
    return this.#brokenBy
  }

  send(frame: Buffer): void {
    if (this.#isClosed) return
    if (this.#waiting !== undefined) this.#waiting.push(frame)
    else this.#write(frame)
  }

  /** An ordinary frame without a body, which is never answered. Not sent during the login. */
  ping(): void {
    if (this.#isClosed || this.#waiting !== undefined) return
    this.#write(new FrameWriter().message(RpcRequestHeaderProto, this.#header(CallId.PING)).finish())
  }

  /** Ends the connection without telling the listener. Idempotent. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#wire.end()
  }

  #begin(socket: Socket): void {
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('error', (error) => this.#lost(`the connection broke: ${error.message}`, error))
    socket.on('close', () => this.#lost('the connection was closed by the other side'))
    socket.on('end', () => socket.destroy())
    this.#wire.write(preamble(this.#sasl === undefined ? AuthProtocol.NONE : AuthProtocol.SASL))
    if (this.#sasl === undefined) this.#finishLogin(undefined)
    else this.#wire.write(this.#saslFrame(this.#sasl.first()))
  }

  /** The context goes out together with the calls that have waited. */
  #finishLogin(layer: SecurityLayer | undefined): void {
    this.#layer = layer
    const { login, protocolName } = this.#options
    const userInfo = login.kind === 'simple' ? { effectiveUser: login.user } : {}
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    const context = new FrameWriter()
      .message(RpcRequestHeaderProto, this.#header(CallId.CONTEXT))
      .message(IpcConnectionContextProto, { userInfo, protocol: protocolName })
      .finish()
    if (layer === undefined) for (const frame of [context, ...waiting]) this.#wire.write(frame)
    else this.#write(Buffer.concat([context, ...waiting]))
  }

  // ---- reading -------------------------------------------------------------------------------------------------

  #receive(chunk: Buffer): void {
    if (this.#isClosed) return
    this.#lastReadMs = this.#options.clock.monotonicMs()
    this.#frames.push(chunk)
    try {
      for (;;) {
        const inner = this.#unwrapped.next()
        const frame = inner ?? this.#frames.next()
        if (frame === undefined) return
        this.#takeFrame(frame, inner !== undefined)
        if (this.#isClosed) return
      }
    } catch (thrown) {
      this.#break(this.#readError(thrown))
    }
  }

  #takeFrame(frame: Buffer, isUnwrapped: boolean): void {
    const messages = new FrameMessages(frame)
    const header = messages.next(RpcResponseHeaderProto)
    // uint32 on the wire, but a signed number in meaning.
    const callId = header.callId | 0
    if (this.#layer !== undefined && !isUnwrapped && callId !== CallId.SASL) {
      throw new SaslError('Server sent non-wrapped response')
    }
    if (header.status !== SUCCESS) {
      const error = new RemoteError(header.exceptionClassName ?? JavaClass.IO, withoutTrace(header.errorMsg ?? ''))
      if (header.status === FATAL || callId < 0) this.#break(error)
      else this.#listener.failed(callId, error)
      return
    }
    const body = messages.nextBytes()
    if (messages.remaining > 0) throw new RangeError('RPC response length mismatch')
    if (callId === CallId.SASL) this.#takeSasl(RpcSaslProto.decode(body))
    else this.#listener.replied(callId, body)
  }

  #takeSasl(message: SaslMessage): void {
    if (message.state === WRAP) {
      if (this.#layer === undefined) throw new SaslError('Server sent a wrapped response without a security layer')
      const token = message.token ?? NO_CLIENT_ID
      this.#unwrapped.push(this.#layer.unwrap(Buffer.from(token.buffer, token.byteOffset, token.byteLength)))
      return
    }
    if (this.#sasl === undefined || this.#waiting === undefined) throw new SaslError('unexpected SASL message')
    const step = this.#sasl.next(message)
    if (step.kind === 'send') this.#wire.write(this.#saslFrame(step.message))
    else this.#finishLogin(step.layer)
  }

  #readError(thrown: unknown): BobbinError {
    const { address } = this.#options
    if (thrown instanceof SaslError) return ipcError(IpcErrorCode.LOGIN, address, thrown.message, thrown)
    const what = thrown instanceof FrameLengthError ? `RPC response has length ${thrown.length}` : messageOf(thrown)
    return ipcError(IpcErrorCode.BAD_RESPONSE, address, what, asError(thrown))
  }

  // ---- writing -------------------------------------------------------------------------------------------------

  #write(frame: Buffer): void {
    const layer = this.#layer
    if (layer === undefined) {
      this.#wire.write(frame)
      return
    }
    for (let at = 0; at < frame.length; at += layer.maxPlainBytes) {
      const token = layer.wrap(frame.subarray(at, at + layer.maxPlainBytes))
      this.#wire.write(this.#saslFrame({ state: WRAP, token }))
    }
  }

  #saslFrame(message: SaslMessage): Buffer {
    const header = { ...this.#header(CallId.SASL), clientId: NO_CLIENT_ID }
    return new FrameWriter().message(RpcRequestHeaderProto, header).message(RpcSaslProto, message).finish()
  }

  #header(callId: number): RequestHeader {
    return requestHeader(callId, this.#options.clientId, NO_RETRY)
  }

  #lost(what: string, cause?: Error): void {
    if (this.#isClosed) return
    this.#break(ipcError(IpcErrorCode.CONNECTION_LOST, this.#options.address, what, cause))
  }

  #break(error: Error): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#wire.destroy()
    this.#brokenBy = error
    this.#listener.broke(this, error)
  }
}

export function requestHeader(callId: number, clientId: Buffer, retryCount: number): RequestHeader {
  return { rpcKind: RpcKindProto.RPC_PROTOCOL_BUFFER, rpcOp: RPC_FINAL_PACKET, callId, clientId, retryCount }
}

/** Java sends the message and behind it the stack trace, which says nothing to us. */
function withoutTrace(errorMessage: string): string {
  const trace = errorMessage.search(/\n\tat |\n\t\.\.\. \d+ more/)
  return (trace === -1 ? errorMessage : errorMessage.slice(0, trace)).replace(/\n$/, '')
}

/** @param use is called in the turn in which the socket connects, so that nothing the socket tells is missed */
function connected<T>(options: LinkOptions, signal: AbortSignal, use: (socket: Socket) => T): Promise<T> {
  const { address, connectTimeoutMs, tcpNoDelay, clock } = options
  return new Promise((resolve, reject) => {
    const socket = connectSocket({ host: address.host, port: address.port, noDelay: tcpNoDelay, keepAlive: true })
    let timer: Timer | undefined
    const settle = (): void => {
      timer?.cancel()
      signal.removeEventListener('abort', aborted)
      socket.off('error', refused)
    }
    const fail = (error: unknown): void => {
      settle()
      // What a destroyed socket may still say concerns nobody.
      socket.on('error', () => {})
      socket.destroy()
      reject(asError(error))
    }
    const aborted = (): void => fail(signal.reason)
    const refused = (error: Error): void => fail(connectError(address, error))
    if (connectTimeoutMs > 0) {
      timer = clock.schedule(connectTimeoutMs, () => {
        fail(ipcError(IpcErrorCode.CONNECT_TIMEOUT, address, `no connection within ${connectTimeoutMs} ms`))
      })
    }
    signal.addEventListener('abort', aborted, { once: true })
    socket.once('error', refused)
    socket.once('connect', () => {
      settle()
      resolve(use(socket))
    })
  })
}
