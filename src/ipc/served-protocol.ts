/** A protocol and its handlers, with the types of each method forgotten: what the server needs to dispatch a call. */
import type { Caller, Handlers } from '../protocol/rpc-caller.ts'
import type { AnyCodec, RpcMethods, RpcProtocol } from '../protocol/rpc-protocol.ts'

export interface ServedProtocol {
  readonly protocol: RpcProtocol
  readonly handlers: ReadonlyMap<string, ServedMethod>
}

export interface ServedMethod {
  readonly request: AnyCodec
  readonly response: AnyCodec
  /** Takes what `request` decoded, gives what `response` encodes; a promise of it where the handler needs time. */
  handle(request: unknown, caller: Caller): unknown
}

/** Binds handlers to a protocol, for an IpcServer. A method without a handler is answered as unknown. */
export function serve<M extends RpcMethods>(protocol: RpcProtocol<M>, handlers: Handlers<M>): ServedProtocol {
  const served = new Map<string, ServedMethod>()
  for (const [name, { request, response }] of Object.entries(protocol.methods)) {
    const handler = handlers[name]
    if (handler !== undefined) served.set(name, { request, response, handle: handler })
  }
  return { protocol, handlers: served }
}
