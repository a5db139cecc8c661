/** The client's half of a DIGEST-MD5 login. Source: DigestMD5Client of the JDK. */
import { timingSafeEqual } from 'node:crypto'
import { DEFAULT_MAX_BUFFER, digests, FIRST_NONCE_COUNT, type Digests, type Qop } from './digest.ts'
import { listItems, parseDirectives, quoted, type Directives } from './directives.ts'
import { securityLayer, type SecurityLayer } from './layers.ts'
import { SaslError } from './sasl-error.ts'

const CIPHER = '3des'

export interface DigestClientOptions {
  readonly username: string
  readonly password: string
  /** `<protocol>/<serverId>` of the server's offer. */
  readonly digestUri: string
  readonly cnonce: string
}

interface Answered {
  readonly digests: Digests
  readonly qop: Qop
  readonly maxBuffer: number
}

export class DigestClient {
  readonly #options: DigestClientOptions
  #answered: Answered | undefined

  constructor(options: DigestClientOptions) {
    this.#options = options
  }

  /** @throws SaslError that the challenge is malformed or offers nothing that we can */
  respond(challenge: Uint8Array): Buffer {
    const { username, password, digestUri, cnonce } = this.#options
    const directives = parseDirectives(challenge)
    const nonce = directives.get('nonce')?.[0]
    if (nonce === undefined) throw new SaslError('DIGEST-MD5: the challenge has no nonce')
    const algorithm = directives.get('algorithm')?.[0]
    if (algorithm !== 'md5-sess') throw new SaslError(`DIGEST-MD5: algorithm ${algorithm} instead of md5-sess`)
    const realm = directives.get('realm')?.[0] ?? ''
    const qop = chosenQop(directives)
    const nonceCount = FIRST_NONCE_COUNT
    const computed = digests({ username, realm, password, nonce, cnonce, nonceCount, qop, digestUri })
    this.#answered = { digests: computed, qop, maxBuffer: maxBuffer(directives) }
    // The order is the JDK's.
    const fields = [
      'charset=utf-8',
      `username=${quoted(username)}`,
      `realm=${quoted(realm)}`,
      `nonce=${quoted(nonce)}`,
      `nc=${nonceCount}`,
      `cnonce=${quoted(cnonce)}`,
      `digest-uri=${quoted(digestUri)}`,
      `maxbuf=${DEFAULT_MAX_BUFFER}`,
      `response=${computed.response}`,
      `qop=${qop}`,
    ]
    if (qop === 'auth-conf') fields.push(`cipher=${quoted(CIPHER)}`)
    return Buffer.from(fields.join(','))
  }

  /**
   * Checks that the server knows the password too.
   * @returns what protects further messages; undefined with qop `auth`
   * @throws SaslError that it could not prove it
   */
  verify(proof: Uint8Array): SecurityLayer | undefined {
    const answered = this.#answered
    if (answered === undefined) throw new SaslError('DIGEST-MD5: the server ended the login before it asked')
    const { sessionKey, rspauth } = answered.digests
    const claimed = Buffer.from(parseDirectives(proof).get('rspauth')?.[0] ?? '')
    const expected = Buffer.from(rspauth)
    if (claimed.length !== expected.length || !timingSafeEqual(claimed, expected)) {
      throw new SaslError("DIGEST-MD5: Server's rspauth value does not match what client expects")
    }
    const options = { side: 'client', sessionKey, maxBuffer: answered.maxBuffer } as const
    return securityLayer(answered.qop, answered.qop === 'auth-conf' ? CIPHER : undefined, options)
  }
}

/** The first of the server's list that we can. */
function chosenQop(directives: Directives): Qop {
  const offered = directives.has('qop') ? listItems(directives.get('qop')) : ['auth']
  const ciphers = listItems(directives.get('cipher'))
  for (const qop of offered) {
    if (qop === 'auth' || qop === 'auth-int') return qop
    if (qop === 'auth-conf' && ciphers.includes(CIPHER)) return qop
  }
  throw new SaslError(
    `DIGEST-MD5: nothing in common with the server, which offers qop ${offered.join(',')} and ciphers ${ciphers.join(',')}`,
  )
}

function maxBuffer(directives: Directives): number {
  const text = directives.get('maxbuf')?.[0] ?? String(DEFAULT_MAX_BUFFER)
  const value = Number(text)
  // RFC 2831: 17 to 16777215; Java sends no more than it can take itself.
  if (!Number.isInteger(value) || value <= 64 || value > 0xffffff) throw new SaslError(`DIGEST-MD5: bad maxbuf ${text}`)
  return Math.min(value, DEFAULT_MAX_BUFFER)
}
