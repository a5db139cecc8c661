/** The server's half of a DIGEST-MD5 login. Source: DigestMD5Server of the JDK, whose texts clients show. */
import { timingSafeEqual } from 'node:crypto'
import { DEFAULT_MAX_BUFFER, digests, FIRST_NONCE_COUNT, type Qop } from './digest.ts'
import { listItems, parseDirectives, type Directives } from './directives.ts'
import { securityLayer, type SecurityLayer } from './layers.ts'
import { SaslError } from './sasl-error.ts'

const REALM = 'default'
export const SERVER_ID = 'default'
const DIGEST_URI = `/${SERVER_ID}`
/** The strongest that DIGEST-MD5 knows, and the one that Java takes first; the others are not offered. */
const OFFERED_CIPHER = '3des'

export interface DigestLogin {
  /** The last challenge: `rspauth=…`, by which the server proves that it knows the password too. */
  readonly proof: Buffer
  readonly layer: SecurityLayer | undefined
}

/** One login on one connection. */
export class DigestServer {
  readonly challenge: Buffer
  readonly #nonce: string
  readonly #qop: readonly Qop[]

  constructor(nonce: string, qop: readonly Qop[]) {
    this.#nonce = nonce
    this.#qop = qop
    const cipher = qop.includes('auth-conf') ? `,cipher="${OFFERED_CIPHER}"` : ''
    this.challenge = Buffer.from(
      `realm="${REALM}",nonce="${nonce}",qop="${qop.join(',')}",charset=utf-8${cipher},algorithm=md5-sess`,
    )
  }

  /**
   * @param passwordOf what the named user's password is; may throw to refuse the user
   * @throws SaslError with the JDK's text
   */
  accept(response: Uint8Array, passwordOf: (username: string) => string): DigestLogin {
    const directives = parseDirectives(response)
    const username = required(directives, 'username')
    const realm = directives.get('realm')?.[0] ?? ''
    if ((directives.get('charset')?.[0] ?? 'utf-8').toLowerCase() !== 'utf-8')
      throw violation('Incompatible charset value.')
    if (realm !== REALM) throw violation(`Nonexistent realm: ${realm}`)
    if (required(directives, 'nonce') !== this.#nonce) throw violation('Mismatched nonce.')
    const nonceCount = required(directives, 'nc')
    if (nonceCount !== FIRST_NONCE_COUNT) throw violation(`Nonce count does not match: ${nonceCount}`)
    const cnonce = required(directives, 'cnonce')
    const qop = this.#chosenQop(directives)
    const digestUri = required(directives, 'digest-uri')
    if (digestUri !== DIGEST_URI) throw violation(`Mismatched URI: ${digestUri}`)
    const claimed = required(directives, 'response')

    const facts = { username, realm, nonce: this.#nonce, cnonce, nonceCount, qop, digestUri }
    const expected = digests({ ...facts, password: passwordOf(username) })
    if (!isSame(claimed, expected.response)) throw violation('Mismatched response.')
    const cipher = qop === 'auth-conf' ? chosenCipher(directives) : undefined
    const layer = securityLayer(qop, cipher, {
      side: 'server',
      sessionKey: expected.sessionKey,
      maxBuffer: DEFAULT_MAX_BUFFER,
    })
    return { proof: Buffer.from(`rspauth=${expected.rspauth}`), layer }
  }

  #chosenQop(directives: Directives): Qop {
    const chosen = listItems(directives.get('qop'))[0] ?? 'auth'
    const qop = this.#qop.find((offered) => offered === chosen)
    if (qop === undefined) throw violation(`Quality of protection ${chosen} is not offered.`)
    return qop
  }
}

function chosenCipher(directives: Directives): typeof OFFERED_CIPHER {
  const cipher = required(directives, 'cipher')
  if (cipher !== OFFERED_CIPHER) throw violation(`Cipher ${cipher} is not offered.`)
  return OFFERED_CIPHER
}

function required(directives: Directives, key: string): string {
  const value = directives.get(key)?.[0]
  if (value === undefined) throw violation(`Missing ${key}.`)
  return value
}

function isSame(one: string, other: string): boolean {
  const a = Buffer.from(one)
  const b = Buffer.from(other)
  return a.length === b.length && timingSafeEqual(a, b)
}

function violation(what: string): SaslError {
  return new SaslError(`DIGEST-MD5: digest response format violation. ${what}`)
}
