/** From the body of a call to its reply. Source: ProtobufRpcEngine2.Server.ProtoBufRpcInvoker. */
import { asError, Bug, messageOf } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { hadoop } from '../protocol/messages.ts'
import { JavaClass, RemoteError } from '../protocol/remote-error.ts'
import type { Caller } from '../protocol/rpc-caller.ts'
import type { FrameMessages } from './frames.ts'
import { CallError, errorFrame, ErrorDetail, successFrame, undecodable, type CallHeader } from './responses.ts'
import type { ServedMethod, ServedProtocol } from './served-protocol.ts'

const { RequestHeaderProto } = hadoop.common

const NO_SUCH_PROTOCOL = 'org.apache.hadoop.ipc.RpcNoSuchProtocolException'
const NO_SUCH_METHOD = 'org.apache.hadoop.ipc.RpcNoSuchMethodException'
const INVALID_PROTOCOL_BUFFER = 'org.apache.hadoop.thirdparty.protobuf.InvalidProtocolBufferException'

/** What a call asks for; its message is decoded when its turn comes. */
export interface CallParameters {
  readonly methodName: string
  readonly protocolName: string
  readonly version: number
  readonly body: Buffer
}

/** @throws FatalRpcError */
export function callParameters(messages: FrameMessages): CallParameters {
  try {
    const header = messages.next(RequestHeaderProto)
    return {
      methodName: header.methodName,
      protocolName: header.declaringClassProtocolName,
      version: Number(header.clientProtocolVersion),
      body: messages.nextBytes(),
    }
  } catch (thrown) {
    throw undecodable(`IPC server unable to read call parameters: ${messageOf(thrown)}`)
  }
}

/**
 * @param connectionProtocol the one that the connection context named, which Java's text tells
 * @throws CallError
 */
export function findMethod(
  protocols: ReadonlyMap<string, ServedProtocol>,
  { methodName, protocolName, version }: CallParameters,
  connectionProtocol: string,
): ServedMethod {
  const served = protocols.get(protocolName)
  if (served === undefined) {
    throw new CallError(ErrorDetail.ERROR_NO_SUCH_PROTOCOL, NO_SUCH_PROTOCOL, `Unknown protocol: ${protocolName}`)
  }
  const ours = served.protocol.version
  if (version !== ours) {
    const text = `Protocol ${protocolName} version mismatch. (client = ${version}, server = ${ours})`
    throw new CallError(ErrorDetail.ERROR_RPC_VERSION_MISMATCH, JavaClass.VERSION_MISMATCH, text)
  }
  const method = served.handlers.get(methodName)
  if (method === undefined) {
    const text = `Unknown method ${methodName} called on ${connectionProtocol} protocol.`
    throw new CallError(ErrorDetail.ERROR_NO_SUCH_METHOD, NO_SUCH_METHOD, text)
  }
  return method
}

export interface Call {
  readonly header: CallHeader
  readonly method: ServedMethod
  readonly parameters: CallParameters
  readonly caller: Caller
}

/** Runs the handler. @returns the reply's frame, at once when the handler answered at once; never fails but for a Bug */
export function answer(call: Call, log: Log): Buffer | Promise<Buffer> {
  const { method, parameters, caller } = call
  try {
    const response = method.handle(decodedRequest(method, parameters.body), caller)
    if (!(response instanceof Promise)) return success(call, response, log)
    return response.then(
      (settled: unknown) => success(call, settled, log),
      (thrown: unknown) => failure(call, thrown, log),
    )
  } catch (thrown) {
    return failure(call, thrown, log)
  }
}

function success({ header, method, parameters }: Call, response: unknown, log: Log): Buffer {
  try {
    return successFrame(header, method.response, response)
  } catch (thrown) {
    log.error({ err: asError(thrown) }, `the response of ${parameters.methodName} could not be encoded`)
    return errorFrame(
      header,
      new CallError(ErrorDetail.ERROR_SERIALIZING_RESPONSE, JavaClass.IO, messageOf(thrown), thrown),
    )
  }
}

/**
 * What a handler did not expect becomes a YarnException: each method of YARN declares it, and clients take it for a
 * failure that a repetition would not heal.
 */
function failure({ header, parameters, caller }: Call, thrown: unknown, log: Log): Buffer {
  if (thrown instanceof Bug) throw thrown
  if (thrown instanceof CallError) return errorFrame(header, thrown)
  if (thrown instanceof RemoteError) {
    return errorFrame(header, new CallError(ErrorDetail.ERROR_APPLICATION, thrown.className, thrown.message))
  }
  const text = messageOf(thrown)
  log.error(
    { err: asError(thrown), user: caller.user, from: caller.remoteAddress },
    `${parameters.methodName} failed: ${text}`,
  )
  return errorFrame(header, new CallError(ErrorDetail.ERROR_APPLICATION, JavaClass.YARN, text))
}

function decodedRequest(method: ServedMethod, body: Buffer): unknown {
  try {
    return method.request.decode(body)
  } catch (thrown) {
    throw new CallError(ErrorDetail.ERROR_APPLICATION, INVALID_PROTOCOL_BUFFER, messageOf(thrown), thrown)
  }
}
