/** Frames that a server sends. Java always writes clientId and retryCount, and so do we. */
import { hadoop } from '../protocol/messages.ts'
import { JavaClass } from '../protocol/remote-error.ts'
import type { AnyCodec } from '../protocol/rpc-protocol.ts'
import { FrameWriter } from './frames.ts'
import { CallId, IPC_VERSION, NO_CLIENT_ID, NO_RETRY, type SaslMessage } from './wire.ts'

const { RpcResponseHeaderProto, RpcSaslProto } = hadoop.common
const { SUCCESS, ERROR, FATAL } = RpcResponseHeaderProto.RpcStatusProto

export const ErrorDetail = RpcResponseHeaderProto.RpcErrorCodeProto
export type ErrorDetail = hadoop.common.RpcResponseHeaderProto.RpcErrorCodeProto

const RPC_SERVER_EXCEPTION = 'org.apache.hadoop.ipc.RpcServerException'

/** What a reply repeats of its request. */
export interface CallHeader {
  readonly callId: number
  readonly clientId: Uint8Array
  readonly retryCount: number
}

/** Ends one call; the connection goes on. */
export class CallError extends Error {
  override readonly name = 'CallError'
  readonly detail: ErrorDetail
  readonly className: string

  constructor(detail: ErrorDetail, className: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.detail = detail
    this.className = className
  }
}

/** Ends the connection after it has been told to the client. */
export class FatalRpcError extends Error {
  override readonly name = 'FatalRpcError'
  readonly detail: ErrorDetail
  readonly className: string

  constructor(detail: ErrorDetail, className: string, message: string) {
    super(message)
    this.detail = detail
    this.className = className
  }
}

export function invalidHeader(message: string, className = RPC_SERVER_EXCEPTION): FatalRpcError {
  return new FatalRpcError(ErrorDetail.FATAL_INVALID_RPC_HEADER, className, message)
}

export function undecodable(message: string): FatalRpcError {
  return new FatalRpcError(ErrorDetail.FATAL_DESERIALIZING_REQUEST, RPC_SERVER_EXCEPTION, message)
}

export function unauthorized(className: string, message: string): FatalRpcError {
  return new FatalRpcError(ErrorDetail.FATAL_UNAUTHORIZED, className, message)
}

/** @throws TypeError and the like when a handler made a response that can't be encoded */
export function successFrame(call: CallHeader, codec: AnyCodec, response: unknown): Buffer {
  // Spelled out rather than spread: this is made for every reply.
  const { callId, clientId, retryCount } = call
  const header = { callId, status: SUCCESS, serverIpcVersionNum: IPC_VERSION, clientId, retryCount }
  return new FrameWriter().message(RpcResponseHeaderProto, header).anyMessage(codec, response).finish()
}

/** Java clients take what follows the first line for a stack trace, so the message ends its line. */
export function errorFrame(call: CallHeader, error: CallError): Buffer {
  return failure({
    ...call,
    status: ERROR,
    exceptionClassName: error.className,
    errorMsg: `${error.message}\n`,
    errorDetail: error.detail,
  })
}

export function fatalFrame(callId: number, retryCount: number, error: FatalRpcError): Buffer {
  return failure({
    callId,
    clientId: NO_CLIENT_ID,
    retryCount,
    status: FATAL,
    exceptionClassName: error.className,
    errorMsg: error.message,
    errorDetail: error.detail,
  })
}

function failure(header: hadoop.common.RpcResponseHeaderProto.$Properties): Buffer {
  return new FrameWriter().message(RpcResponseHeaderProto, { ...header, serverIpcVersionNum: IPC_VERSION }).finish()
}

const SASL_HEADER = {
  callId: CallId.SASL,
  status: SUCCESS,
  serverIpcVersionNum: IPC_VERSION,
  clientId: NO_CLIENT_ID,
  retryCount: NO_RETRY,
} as const

export function saslFrame(message: SaslMessage): Buffer {
  return new FrameWriter().message(RpcResponseHeaderProto, SASL_HEADER).message(RpcSaslProto, message).finish()
}

const WRAP_HEADER = { callId: CallId.SASL, status: SUCCESS } as const

/** A frame inside a protected message; Java leaves the other fields of the header out. */
export function wrapFrame(token: Buffer): Buffer {
  const message = { state: RpcSaslProto.SaslState.WRAP, token }
  return new FrameWriter().message(RpcResponseHeaderProto, WRAP_HEADER).message(RpcSaslProto, message).finish()
}

export function saslFailure(error: Error): FatalRpcError {
  return unauthorized(JavaClass.SASL, error.message)
}
