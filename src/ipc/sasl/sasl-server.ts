/** The server's half of the RpcSaslProto conversation. Source: Server.Connection.processSaslMessage. */
import { Bug, messageOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { hadoop } from '../../protocol/messages.ts'
import { JavaClass, RemoteError } from '../../protocol/remote-error.ts'
import { invalidHeader, saslFailure, unauthorized, type FatalRpcError } from '../responses.ts'
import type { SaslAuth, SaslMessage } from '../wire.ts'
import { DigestServer, SERVER_ID } from './digest-server.ts'
import { newNonce, type Qop } from './digest.ts'
import type { SecurityLayer } from './layers.ts'
import { SaslError } from './sasl-error.ts'

const { SUCCESS, NEGOTIATE, INITIATE, CHALLENGE, RESPONSE, WRAP } = hadoop.common.RpcSaslProto.SaslState
const stateName = new Map(Object.entries(hadoop.common.RpcSaslProto.SaslState).map(([name, value]) => [value, name]))

/** Tells whose a token is. */
export interface TokenAuthenticator {
  /**
   * Who the token is and its password.
   * @throws RemoteError with the class InvalidToken that the token is refused
   */
  authenticate(identifier: Buffer): { user: string; password: Buffer }
}

export interface SaslServerOptions {
  readonly authenticator: TokenAuthenticator
  /** In the order in which they are offered. */
  readonly qop: readonly Qop[]
  readonly log: Log
  /** Makes what no login repeats; tests that replay a captured login pass the captured one. */
  readonly newNonce?: () => string
}

export interface Identity {
  readonly user: string
  readonly tokenIdentifier: Buffer
}

const TOKEN: SaslAuth = { method: 'TOKEN', mechanism: 'DIGEST-MD5', protocol: '', serverId: SERVER_ID }
const ENABLED = `Available:[${TOKEN.method}]`

/** What an unauthenticated caller of a port that takes tokens only is told. The two blanks are Java's. */
export const SIMPLE_IS_NOT_ENABLED = `SIMPLE authentication is not enabled.  ${ENABLED}`

/** Logs one connection in with a token. */
export class SaslServer {
  readonly #options: SaslServerOptions
  #digest: DigestServer | undefined
  #hasNegotiated = false
  #login: { readonly identity: Identity; readonly layer: SecurityLayer | undefined } | undefined

  constructor(options: SaslServerOptions) {
    this.#options = options
  }

  /** Who has logged in; undefined until the exchange is over. */
  get identity(): Identity | undefined {
    return this.#login?.identity
  }

  /** What protects all frames after the one that ended the exchange. */
  get layer(): SecurityLayer | undefined {
    return this.#login?.layer
  }

  /** @throws FatalRpcError what the client is told before the connection is closed */
  answer(message: SaslMessage): SaslMessage {
    if (this.#login !== undefined) throw invalidHeader('Negotiation is already complete', JavaClass.SASL)
    switch (message.state) {
      case NEGOTIATE:
        if (this.#hasNegotiated) throw unauthorized(JavaClass.ACCESS_CONTROL, 'Client already attempted negotiation')
        return this.#offer()
      case INITIATE:
        return this.#initiate(message)
      case RESPONSE:
        if (this.#digest === undefined) throw unsupported(message)
        return this.#evaluate(message, this.#digest)
      case SUCCESS:
      case CHALLENGE:
      case WRAP:
      default:
        throw unsupported(message)
    }
  }

  #offer(): SaslMessage {
    this.#hasNegotiated = true
    return { state: NEGOTIATE, auths: [{ ...TOKEN, challenge: this.#newDigest().challenge }] }
  }

  #initiate(message: SaslMessage): SaslMessage {
    const [auth, ...others] = message.auths ?? []
    if (auth === undefined || others.length > 0) throw saslFailure(new SaslError('Client mechanism is malformed'))
    if (!isToken(auth)) {
      if (!this.#hasNegotiated) return this.#offer()
      throw unauthorized(JavaClass.ACCESS_CONTROL, `${auth.method} authentication is not enabled.  ${ENABLED}`)
    }
    const begun = this.#digest
    if (begun !== undefined) return this.#evaluate(message, begun)
    // Without an offer the client can't have seen a challenge.
    if (tokenOf(message).length > 0) throw saslFailure(new SaslError('DIGEST-MD5 must not have an initial response'))
    return { state: CHALLENGE, token: this.#newDigest().challenge }
  }

  #newDigest(): DigestServer {
    const makeNonce = this.#options.newNonce ?? newNonce
    this.#digest = new DigestServer(makeNonce(), this.#options.qop)
    return this.#digest
  }

  #evaluate(message: SaslMessage, digest: DigestServer): SaslMessage {
    const response = tokenOf(message)
    let identity: Identity | undefined
    try {
      const { proof, layer } = digest.accept(response, (username) => {
        const tokenIdentifier = Buffer.from(username, 'base64')
        const { user, password } = this.#options.authenticator.authenticate(tokenIdentifier)
        identity = { user, tokenIdentifier }
        return password.toString('base64')
      })
      if (identity === undefined) throw new SaslError('DIGEST-MD5: nobody was authenticated')
      this.#login = { identity, layer }
      return { state: SUCCESS, token: proof }
    } catch (thrown) {
      throw this.#refusal(thrown, identity)
    }
  }

  #refusal(thrown: unknown, identity: Identity | undefined): FatalRpcError {
    const { log } = this.#options
    if (thrown instanceof SaslError) {
      log.warn({ user: identity?.user }, `Auth failed: ${thrown.message}`)
      return saslFailure(thrown)
    }
    if (thrown instanceof RemoteError) {
      log.warn(`Auth failed: ${thrown.message}`)
      return unauthorized(thrown.className, thrown.message)
    }
    if (thrown instanceof Bug) throw thrown
    // Bytes that are no identifier at all end up here.
    const why = `Can't read the token's identifier: ${messageOf(thrown)}`
    log.warn({ err: thrown }, `Auth failed: ${why}`)
    return unauthorized(JavaClass.INVALID_TOKEN, why)
  }
}

/** Java compares field by field, presence included. */
function isToken(auth: SaslAuth): boolean {
  return (
    auth.method === TOKEN.method &&
    auth.mechanism === TOKEN.mechanism &&
    auth.protocol === TOKEN.protocol &&
    auth.serverId === TOKEN.serverId &&
    (auth.challenge ?? null) === null
  )
}

function tokenOf(message: SaslMessage): Uint8Array {
  const token = message.token ?? null
  if (token === null) throw saslFailure(new SaslError('Client did not send a token'))
  return token
}

function unsupported(message: SaslMessage): FatalRpcError {
  return saslFailure(new SaslError(`Client sent unsupported state ${stateName.get(message.state) ?? message.state}`))
}
