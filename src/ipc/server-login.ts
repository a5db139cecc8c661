/** Who is at the other end of a connection: SASL where it was asked for, then the connection context. */
import type { Log } from '../base/log.ts'
import { hadoop } from '../protocol/messages.ts'
import { JavaClass } from '../protocol/remote-error.ts'
import type { Caller } from '../protocol/rpc-caller.ts'
import { invalidHeader, saslFailure, unauthorized } from './responses.ts'
import type { Qop } from './sasl/digest.ts'
import type { SecurityLayer } from './sasl/layers.ts'
import { SaslError } from './sasl/sasl-error.ts'
import { SaslServer, SIMPLE_IS_NOT_ENABLED, type TokenAuthenticator } from './sasl/sasl-server.ts'
import { AuthProtocol, type SaslMessage } from './wire.ts'

const { NEGOTIATE, SUCCESS } = hadoop.common.RpcSaslProto.SaslState
const AUTHORIZATION = 'org.apache.hadoop.security.authorize.AuthorizationException'

export type Authentication =
  | { readonly kind: 'simple' }
  /** Whoever does not log in with a token is refused. */
  | { readonly kind: 'token'; readonly authenticator: TokenAuthenticator }

export interface ServerLoginOptions {
  readonly authentication: Authentication
  readonly qop: readonly Qop[]
  readonly remoteAddress: string
  readonly log: Log
  readonly newNonce?: () => string
}

export class ServerLogin {
  readonly #options: ServerLoginOptions
  #authProtocol: number
  #sasl: SaslServer | undefined
  #caller: Caller | undefined
  #protocolName = ''

  /** @throws FatalRpcError that this port does not serve such clients */
  constructor(authProtocol: number, options: ServerLoginOptions) {
    if (authProtocol === AuthProtocol.NONE && options.authentication.kind === 'token') {
      throw unauthorized(JavaClass.ACCESS_CONTROL, SIMPLE_IS_NOT_ENABLED)
    }
    this.#authProtocol = authProtocol
    this.#options = options
  }

  /** Undefined until the connection context has been accepted. */
  get caller(): Caller | undefined {
    return this.#caller
  }

  /** The protocol that the connection context named. */
  get protocolName(): string {
    return this.#protocolName
  }

  /** What protects all frames after the reply that ended the SASL exchange. */
  get layer(): SecurityLayer | undefined {
    return this.#sasl?.layer
  }

  /** @throws FatalRpcError */
  checkSaslAllowed(): void {
    if (this.#authProtocol !== AuthProtocol.SASL) throw invalidHeader('SASL protocol not requested by client')
  }

  /** @throws FatalRpcError */
  takeSasl(message: SaslMessage): SaslMessage {
    const { authentication, qop, log, newNonce } = this.#options
    if (authentication.kind === 'simple') return this.#switchToSimple(message)
    this.#sasl ??= new SaslServer({
      authenticator: authentication.authenticator,
      qop,
      log,
      ...(newNonce !== undefined && { newNonce }),
    })
    return this.#sasl.answer(message)
  }

  /** SUCCESS without anything else means "go on without SASL". */
  #switchToSimple(message: SaslMessage): SaslMessage {
    if (message.state !== NEGOTIATE) throw saslFailure(new SaslError('Client did not negotiate'))
    this.#authProtocol = AuthProtocol.NONE
    return { state: SUCCESS }
  }

  /** @throws FatalRpcError */
  takeContext(context: hadoop.common.IpcConnectionContextProto.$Properties): void {
    const identity = this.#sasl?.identity
    const claimed = context.userInfo?.effectiveUser ?? ''
    if (identity === undefined) checkClaim(claimed, context.userInfo?.realUser ?? '')
    else if (claimed !== '' && claimed !== identity.user) throw isSomebodyElse(identity.user, claimed)
    this.#caller = {
      user: identity?.user ?? claimed,
      authentication: identity === undefined ? 'SIMPLE' : 'TOKEN',
      remoteAddress: this.#options.remoteAddress,
      tokenIdentifier: identity?.tokenIdentifier,
    }
    this.#protocolName = context.protocol ?? ''
    this.#options.log.debug(
      `Auth successful for ${this.#caller.user} (auth:${this.#caller.authentication}) from ${this.#options.remoteAddress}`,
    )
  }

  /** @throws FatalRpcError that a context does not come now */
  checkContextAllowed(): void {
    if (this.#authProtocol === AuthProtocol.SASL && this.#sasl?.identity === undefined) {
      throw invalidHeader('Connection header sent during SASL negotiation')
    }
    if (this.#caller !== undefined) throw invalidHeader('Connection context already processed')
  }
}

/** Without SASL a user is what the client claims; acting for another one needs proxy rules, and there are none. */
function checkClaim(claimed: string, realUser: string): void {
  if (claimed === '') throw unauthorized(JavaClass.ACCESS_CONTROL, 'The connection context names no user')
  if (realUser === '') return
  throw unauthorized(AUTHORIZATION, `User: ${realUser} is not allowed to impersonate ${claimed}`)
}

function isSomebodyElse(user: string, claimed: string): Error {
  const text = `Authenticated user (${user} (auth:TOKEN)) doesn't match what the client claims to be (${claimed} (auth:SIMPLE))`
  return unauthorized(JavaClass.ACCESS_CONTROL, text)
}
