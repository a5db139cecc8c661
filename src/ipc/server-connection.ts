/** One connection to a server, from its preamble to its last reply. Source: Server.Connection of hadoop-common. */
import { asError, Bug, messageOf } from '../base/errors.ts'
import type { Clock, Timer } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { hadoop } from '../protocol/messages.ts'
import { JavaClass } from '../protocol/remote-error.ts'
import { answer, callParameters, findMethod, type Call } from './call-dispatch.ts'
import type { CallQueue } from './call-queue.ts'
import { FrameLengthError, FrameMessages, FrameReader } from './frames.ts'
import { readPreamble } from './preamble.ts'
import {
  CallError,
  errorFrame,
  fatalFrame,
  FatalRpcError,
  invalidHeader,
  saslFailure,
  saslFrame,
  undecodable,
  wrapFrame,
  type CallHeader,
} from './responses.ts'
import type { Qop } from './sasl/digest.ts'
import type { SecurityLayer } from './sasl/layers.ts'
import { SaslError } from './sasl/sasl-error.ts'
import { ServerLogin, type Authentication } from './server-login.ts'
import type { ServedProtocol } from './served-protocol.ts'
import { CallId, NO_RETRY, PREAMBLE_LENGTH, type RequestHeader, type SaslMessage } from './wire.ts'

const { RpcRequestHeaderProto, RpcSaslProto, IpcConnectionContextProto, RpcKindProto } = hadoop.common
const { OperationProto } = RpcRequestHeaderProto
const { WRAP } = RpcSaslProto.SaslState

/** Frames before the connection context hold a few hundred bytes; a stranger gets no more than this. */
const MAX_LOGIN_FRAME_BYTES = 64 * 1024
/** From connecting to the connection context. Hadoop has no such limit; a client that is alive needs milliseconds. */
const LOGIN_TIME_LIMIT_MS = 30_000
/** Calls of one connection that are read and not answered. Java's clients have one to a few. */
const MAX_PENDING_CALLS = 256
/** The same in bytes; a single call may exceed it. */
const MAX_PENDING_BYTES = 16 * 1024 * 1024

/** What a connection needs of its socket. */
export interface Wire {
  readonly remoteAddress: string
  readonly remotePort: number
  /** More is waiting to be sent than a client should let pile up. */
  readonly isCongested: boolean
  write(bytes: Buffer): void
  /** Stops and starts the flow of `receive` calls. */
  pause(): void
  resume(): void
  /** Sends what was written, then closes. */
  end(): void
  destroy(): void
}

/** What the connections of one server share. */
export interface ConnectionContext {
  readonly protocols: ReadonlyMap<string, ServedProtocol>
  readonly authentication: Authentication
  readonly maxDataLength: number
  readonly qop: readonly Qop[]
  readonly queue: CallQueue
  readonly clock: Clock
  readonly log: Log
  readonly newNonce?: () => string
}

export class ServerConnection {
  readonly #wire: Wire
  readonly #context: ConnectionContext
  readonly #log: Log
  readonly #loginTimer: Timer
  readonly #onRoom = (): void => this.drained()
  #preamble: Buffer = Buffer.alloc(0)
  /** Undefined until the preamble is complete. */
  #login: ServerLogin | undefined
  readonly #frames = new FrameReader(MAX_LOGIN_FRAME_BYTES)
  #layer: SecurityLayer | undefined
  /** What the WRAP messages hold: once there is a layer, a stream of frames of its own. */
  readonly #unwrapped = new FrameReader(MAX_LOGIN_FRAME_BYTES)
  #pendingCalls = 0
  #pendingBytes = 0
  #isPaused = false
  #isReading = false
  #isClosed = false
  #lastContactMs: number

  constructor(wire: Wire, context: ConnectionContext) {
    this.#wire = wire
    this.#context = context
    this.#log = context.log
    this.#lastContactMs = context.clock.monotonicMs()
    this.#loginTimer = context.clock.schedule(LOGIN_TIME_LIMIT_MS, () => {
      this.#drop(`no connection context within ${LOGIN_TIME_LIMIT_MS} ms`)
    })
  }

  /** Calls read and not answered. */
  get pendingCalls(): number {
    return this.#pendingCalls
  }

  /** When bytes were last read or sent, as Clock.monotonicMs. */
  get lastContactMs(): number {
    return this.#lastContactMs
  }

  receive(chunk: Buffer): void {
    if (this.#isClosed) return
    this.#lastContactMs = this.#context.clock.monotonicMs()
    const bytes = this.#login === undefined ? this.#takePreamble(chunk) : chunk
    if (bytes === undefined) return
    this.#frames.push(bytes)
    this.#read()
  }

  /** Goes on reading if nothing stands against it any more: to be called when the wire is no longer congested. */
  drained(): void {
    if (!this.#isPaused || this.#isClosed || this.#isBlocked()) return
    this.#isPaused = false
    this.#read()
    if (!this.#isPaused) this.#wire.resume()
  }

  /** Sends what was written, then closes. Idempotent; also for a wire that is gone. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#loginTimer.cancel()
    this.#wire.end()
  }

  // ---- reading -------------------------------------------------------------------------------------------------

  /** @returns what follows the preamble; undefined while that is incomplete or when it was refused */
  #takePreamble(chunk: Buffer): Buffer | undefined {
    const bytes = this.#preamble.length === 0 ? chunk : Buffer.concat([this.#preamble, chunk])
    if (bytes.length < PREAMBLE_LENGTH) {
      this.#preamble = bytes
      return undefined
    }
    this.#preamble = Buffer.alloc(0)
    const preamble = readPreamble(bytes)
    if (preamble.kind === 'refused') {
      this.#log.warn(`refused a connection from ${this.#remote()}: ${preamble.why}`)
      this.#send(preamble.reply)
      this.close()
      return undefined
    }
    try {
      const { remoteAddress } = this.#wire
      this.#login = new ServerLogin(preamble.authProtocol, { ...this.#context, remoteAddress })
    } catch (thrown) {
      this.#fail(CallId.NONE, NO_RETRY, thrown)
      return undefined
    }
    return bytes.subarray(PREAMBLE_LENGTH)
  }

  /** Takes frames until there are no more, or too much is pending. */
  #read(): void {
    if (this.#isReading || this.#login === undefined) return
    this.#isReading = true
    try {
      while (!this.#isClosed && !this.#pausesWhenBlocked()) {
        const inner = this.#unwrapped.next()
        const frame = inner ?? this.#frames.next()
        if (frame === undefined) break
        this.#takeFrame(frame, this.#login, inner !== undefined)
      }
    } catch (thrown) {
      this.#dropAfter(thrown)
    } finally {
      this.#isReading = false
    }
  }

  #pausesWhenBlocked(): boolean {
    if (!this.#isBlocked()) return false
    if (!this.#isPaused) this.#wire.pause()
    this.#isPaused = true
    return true
  }

  #isBlocked(): boolean {
    const { queue } = this.#context
    if (queue.isFull) {
      queue.whenRoom(this.#onRoom)
      return true
    }
    return this.#pendingCalls >= MAX_PENDING_CALLS || this.#pendingBytes >= MAX_PENDING_BYTES || this.#wire.isCongested
  }

  #takeFrame(frame: Buffer, login: ServerLogin, isUnwrapped: boolean): void {
    let callId: number = CallId.NONE
    let retryCount = NO_RETRY
    try {
      const messages = new FrameMessages(frame)
      const header = decoded(messages, RpcRequestHeaderProto, 'RpcRequestHeaderProto')
      callId = header.callId
      retryCount = header.retryCount ?? NO_RETRY
      checkHeader(header)
      if (this.#layer !== undefined && !isUnwrapped && callId !== CallId.SASL) {
        throw invalidHeader('Client sent a frame outside of its security layer', JavaClass.SASL)
      }
      if (callId < 0) this.#takeOutOfBand(callId, messages, login)
      else this.#takeCall(header, messages, login, frame.length)
    } catch (thrown) {
      this.#fail(callId, retryCount, thrown)
    }
  }

  #takeOutOfBand(callId: number, messages: FrameMessages, login: ServerLogin): void {
    switch (callId) {
      case CallId.CONTEXT:
        login.checkContextAllowed()
        login.takeContext(decoded(messages, IpcConnectionContextProto, 'IpcConnectionContextProto'))
        this.#frames.maxLength = this.#context.maxDataLength
        this.#unwrapped.maxLength = this.#context.maxDataLength
        this.#loginTimer.cancel()
        return
      case CallId.SASL:
        login.checkSaslAllowed()
        this.#takeSasl(decoded(messages, RpcSaslProto, 'RpcSaslProto'), login)
        return
      case CallId.PING:
        return
      default:
        throw invalidHeader(`Unknown out of band call #${callId}`)
    }
  }

  #takeSasl(message: SaslMessage, login: ServerLogin): void {
    if (message.state === WRAP) {
      this.#unwrap(message)
      return
    }
    this.#send(saslFrame(login.takeSasl(message)))
    // That reply was still plain; all that follows is not, and the first WRAP may hold a call behind the context.
    this.#layer = login.layer
    if (this.#layer !== undefined) this.#frames.maxLength = this.#context.maxDataLength
  }

  #unwrap(message: SaslMessage): void {
    if (this.#layer === undefined) throw invalidHeader('Server is not wrapping data', JavaClass.SASL)
    try {
      const token = message.token ?? Buffer.alloc(0)
      this.#unwrapped.push(this.#layer.unwrap(Buffer.from(token.buffer, token.byteOffset, token.byteLength)))
    } catch (thrown) {
      if (thrown instanceof SaslError) throw saslFailure(thrown)
      throw thrown
    }
  }

  // ---- calls ---------------------------------------------------------------------------------------------------

  #takeCall(header: RequestHeader, messages: FrameMessages, login: ServerLogin, frameBytes: number): void {
    const { caller, protocolName } = login
    if (caller === undefined) throw invalidHeader('Connection context not established')
    if (header.rpcKind !== RpcKindProto.RPC_PROTOCOL_BUFFER) {
      throw invalidHeader(`Unknown rpc kind in rpc header${RpcKindProto[header.rpcKind ?? 0]}`)
    }
    const parameters = callParameters(messages)
    const { callId, clientId, retryCount } = header
    const replyHeader: CallHeader = { callId, clientId, retryCount: retryCount ?? NO_RETRY }
    try {
      const method = findMethod(this.#context.protocols, parameters, protocolName)
      this.#submit({ header: replyHeader, method, parameters, caller }, frameBytes)
    } catch (thrown) {
      if (!(thrown instanceof CallError)) throw thrown
      this.#send(errorFrame(replyHeader, thrown))
    }
  }

  #submit(call: Call, frameBytes: number): void {
    this.#pendingCalls++
    this.#pendingBytes += frameBytes
    const finish = (reply: Buffer): void => {
      this.#pendingCalls--
      this.#pendingBytes -= frameBytes
      this.#send(reply)
      this.drained()
    }
    this.#context.queue.submit(() => {
      // Nobody would hear the answer.
      if (this.#isClosed) return undefined
      const reply = answer(call, this.#log)
      if (reply instanceof Promise) return reply.then(finish)
      finish(reply)
      return undefined
    })
  }

  // ---- sending and ending --------------------------------------------------------------------------------------

  #send(frame: Buffer): void {
    if (this.#isClosed) return
    this.#lastContactMs = this.#context.clock.monotonicMs()
    this.#wire.write(this.#layer === undefined ? frame : wrapFrame(this.#layer.wrap(frame)))
  }

  /** Tells the client why, then closes. @throws whatever is not meant for the client */
  #fail(callId: number, retryCount: number, thrown: unknown): void {
    if (!(thrown instanceof FatalRpcError)) throw thrown
    this.#log.warn(`closing the connection of ${this.#remote()}: ${thrown.message}`)
    this.#send(fatalFrame(callId, retryCount, thrown))
    this.close()
  }

  /** Closes without a reply, as Java does for a frame that is too long. */
  #drop(why: string): void {
    if (this.#isClosed) return
    this.#log.warn(`dropping the connection of ${this.#remote()}: ${why}`)
    this.#isClosed = true
    this.#loginTimer.cancel()
    this.#wire.destroy()
  }

  #dropAfter(thrown: unknown): void {
    if (thrown instanceof Bug) throw thrown
    if (!(thrown instanceof FrameLengthError)) {
      this.#log.error({ err: asError(thrown) }, 'a frame could not be processed')
    }
    this.#drop(messageOf(thrown))
  }

  #remote(): string {
    return `${this.#wire.remoteAddress}:${this.#wire.remotePort}`
  }
}

function checkHeader(header: RequestHeader): void {
  const rpcOp = header.rpcOp ?? null
  if (rpcOp === null) throw invalidHeader(' IPC Server: No rpc op in rpcRequestHeader')
  if (rpcOp !== OperationProto.RPC_FINAL_PACKET) {
    throw invalidHeader(`IPC Server does not implement rpc header operation${OperationProto[rpcOp]}`)
  }
  if ((header.rpcKind ?? null) === null) throw invalidHeader(' IPC Server: No rpc kind in rpcRequestHeader')
}

function decoded<T>(messages: FrameMessages, codec: { decode(bytes: Uint8Array): T }, name: string): T {
  try {
    return messages.next(codec)
  } catch (thrown) {
    throw undecodable(`Error decoding ${name}: ${messageOf(thrown)}`)
  }
}
