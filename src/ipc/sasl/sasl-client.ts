/** The client's half of the RpcSaslProto conversation, with a token. Source: SaslRpcClient. */
import { hadoop } from '../../protocol/messages.ts'
import type { Token } from '../../security/token.ts'
import type { SaslAuth, SaslMessage } from '../wire.ts'
import { DigestClient } from './digest-client.ts'
import { newNonce } from './digest.ts'
import type { SecurityLayer } from './layers.ts'
import { SaslError } from './sasl-error.ts'

const { SUCCESS, NEGOTIATE, INITIATE, CHALLENGE, RESPONSE, WRAP } = hadoop.common.RpcSaslProto.SaslState

export type SaslStep =
  | { readonly kind: 'send'; readonly message: SaslMessage }
  | { readonly kind: 'done'; readonly layer: SecurityLayer | undefined }

/** Logs one connection in. The token is not tried again when the server refuses it. */
export class SaslClient {
  readonly #token: Token
  #digest: DigestClient | undefined

  constructor(token: Token) {
    this.#token = token
  }

  first(): SaslMessage {
    return { state: NEGOTIATE }
  }

  /** @throws SaslError that the two sides can't agree, or that the server could not prove itself */
  next(message: SaslMessage): SaslStep {
    switch (message.state) {
      case NEGOTIATE:
        return { kind: 'send', message: this.#initiate(message.auths ?? []) }
      case CHALLENGE:
        return { kind: 'send', message: { state: RESPONSE, token: this.#begun().respond(message.token ?? EMPTY) } }
      case SUCCESS:
        return { kind: 'done', layer: this.#complete(message) }
      case INITIATE:
      case RESPONSE:
      case WRAP:
      default:
        throw new SaslError(`the server sent SASL state ${message.state} during the login`)
    }
  }

  /** The first entry that we can serve, sent back without its challenge. */
  #initiate(auths: readonly SaslAuth[]): SaslMessage {
    if (this.#digest !== undefined) throw new SaslError('the server started the login over')
    const offer = auths.find((auth) => auth.method === 'TOKEN' && auth.mechanism === 'DIGEST-MD5')
    if (offer === undefined) {
      const offered = auths.map((auth) => `${auth.method} (${auth.mechanism})`).join(', ')
      throw new SaslError(`Client cannot authenticate via:[TOKEN]; the server takes ${offered || 'nothing'}`)
    }
    const { challenge, ...chosen } = offer
    this.#digest = new DigestClient({
      username: this.#token.identifier.toString('base64'),
      password: this.#token.password.toString('base64'),
      digestUri: `${offer.protocol ?? ''}/${offer.serverId ?? ''}`,
      cnonce: newNonce(),
    })
    const first = challenge ?? null
    return { state: INITIATE, token: first === null ? EMPTY : this.#digest.respond(first), auths: [chosen] }
  }

  #complete(message: SaslMessage): SecurityLayer | undefined {
    if (this.#digest === undefined) {
      throw new SaslError('the server asks to go on with SIMPLE authentication, but the login is a token')
    }
    return this.#digest.verify(message.token ?? EMPTY)
  }

  #begun(): DigestClient {
    if (this.#digest === undefined) throw new SaslError('the server sent a challenge before an offer')
    return this.#digest
  }
}

const EMPTY = Buffer.alloc(0)
