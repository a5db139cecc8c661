import type { Writer } from 'protobufjs'
import type { Codec } from './messages.ts'

/** A method of a Hadoop RPC protocol. */
export interface RpcMethod<Request, Response> {
  readonly request: Codec<Request>
  readonly response: Codec<Response>
}

// The variance of a method table cannot be told without `any`-like bounds; `never` for what goes in keeps it sound.
export interface AnyCodec {
  encode(message: never, writer?: Writer): { finish(): Uint8Array }
  decode(bytes: Uint8Array): unknown
}
export type RpcMethods = { readonly [name: string]: { readonly request: AnyCodec; readonly response: AnyCodec } }

/** A Hadoop RPC protocol: the name and version that travel in each request header, and its methods. */
export interface RpcProtocol<Methods extends RpcMethods = RpcMethods> {
  /** Java's name of the protocol, as `declaringClassProtocolName`. */
  readonly name: string
  readonly version: number
  readonly methods: Methods
}

export type RequestOf<M> = M extends RpcMethod<infer Request, unknown> ? Request : never
export type ResponseOf<M> = M extends { readonly response: Codec<infer Response> } ? Response : never

/** Names one method: `method(hadoop.yarn.XRequestProto, hadoop.yarn.XResponseProto)`. */
export function method<Request, Response>(
  request: Encodes<Request> & Codec<NoInfer<Request>>,
  response: Encodes<Response> & Codec<NoInfer<Response>>,
): RpcMethod<Request, Response> {
  return { request, response }
}

/** Types are inferred from what `encode` accepts, the plain-object form, which `decode` returns as well. */
interface Encodes<T> {
  encode(message: T, writer?: Writer): { finish(): Uint8Array }
}
