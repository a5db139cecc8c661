/** The arithmetic of DIGEST-MD5 with algorithm md5-sess. Source: RFC 2831 §2.1.2. */
import { createHash, randomBytes } from 'node:crypto'

export type Qop = 'auth' | 'auth-int' | 'auth-conf'

export interface DigestFacts {
  readonly username: string
  readonly realm: string
  readonly password: string
  readonly nonce: string
  readonly cnonce: string
  /** Eight hex digits; 00000001, for no login is ever repeated. */
  readonly nonceCount: string
  readonly qop: Qop
  readonly digestUri: string
}

export interface Digests {
  /** H(A1): the root of the keys of both security layers. */
  readonly sessionKey: Buffer
  /** What the client proves itself with, hex. */
  readonly response: string
  /** What the server proves itself with, hex. */
  readonly rspauth: string
}

export const FIRST_NONCE_COUNT = '00000001'
/** `maxbuf` where the other side names none, and ours. */
export const DEFAULT_MAX_BUFFER = 65536
const NONCE_BYTES = 30

export function newNonce(): string {
  return randomBytes(NONCE_BYTES).toString('base64')
}

export function md5(...parts: readonly (string | Buffer)[]): Buffer {
  const hash = createHash('md5')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

export function digests(facts: DigestFacts): Digests {
  const { username, realm, password, nonce, cnonce, nonceCount, qop, digestUri } = facts
  const sessionKey = md5(md5(`${username}:${realm}:${password}`), `:${nonce}:${cnonce}`)
  const suffix = qop === 'auth' ? '' : ':00000000000000000000000000000000'
  const begin = `${sessionKey.toString('hex')}:${nonce}:${nonceCount}:${cnonce}:${qop}:`
  const answer = (a2: string) => md5(begin + md5(a2).toString('hex')).toString('hex')
  return {
    sessionKey,
    response: answer(`AUTHENTICATE:${digestUri}${suffix}`),
    rspauth: answer(`:${digestUri}${suffix}`),
  }
}
