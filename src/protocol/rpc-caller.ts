import type { RequestOf, ResponseOf, RpcMethods } from './rpc-protocol.ts'

/** Who calls a served method, as the connection has proven it. */
export interface Caller {
  /** SIMPLE: what the connection context claims. TOKEN: what the token authenticator answered (an attempt id). */
  readonly user: string
  readonly authentication: 'SIMPLE' | 'TOKEN'
  readonly remoteAddress: string
  /** The identifier bytes of the token that the caller logged in with. */
  readonly tokenIdentifier: Buffer | undefined
}

/** The methods of a protocol that we serve; one left out is answered with RpcNoSuchMethodException. */
export type Handlers<Methods extends RpcMethods> = {
  readonly [M in keyof Methods]?: (
    request: RequestOf<Methods[M]>,
    caller: Caller,
  ) => ResponseOf<Methods[M]> | Promise<ResponseOf<Methods[M]>>
}

/** The calling side of a protocol: one connection, or several that fail over. */
export interface RpcCaller<Methods extends RpcMethods> {
  /**
   * @throws RemoteError what the other side answered, with its Java class
   * @throws BobbinError what went wrong on the way (codes in ipc/errors.ts); the signal's reason when aborted
   */
  call<M extends keyof Methods & string>(
    method: M,
    request: RequestOf<Methods[M]>,
    signal?: AbortSignal,
  ): Promise<ResponseOf<Methods[M]>>
  /** Ends the connection; outstanding calls are rejected. Idempotent. */
  close(): void
}
