/** What protects messages after a login with more than `auth`. Source: RFC 2831 §2.3 (auth-int), §2.4 (auth-conf). */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { openingCipher, sealingCipher, sealingKey, type Cipher, type CipherName } from './ciphers.ts'
import { md5, type Qop } from './digest.ts'
import { SaslError } from './sasl-error.ts'

/** Both directions of one connection. Messages are numbered: each must be wrapped and unwrapped in the order of sending. */
export interface SecurityLayer {
  /** The most plain bytes that one message to the other side should hold. */
  readonly maxPlainBytes: number
  wrap(plain: Buffer): Buffer
  /** @throws SaslError that the message was changed, repeated or left out; the connection can't be used any further */
  unwrap(token: Buffer): Buffer
}

export interface LayerOptions {
  readonly side: 'client' | 'server'
  readonly sessionKey: Buffer
  /** `maxbuf` of the other side, bytes. */
  readonly maxBuffer: number
}

const INTEGRITY_MAGIC = {
  client: 'Digest session key to client-to-server signing key magic constant',
  server: 'Digest session key to server-to-client signing key magic constant',
} as const
const PRIVACY_MAGIC = {
  client: 'Digest H(A1) to client-to-server sealing key magic constant',
  server: 'Digest H(A1) to server-to-client sealing key magic constant',
} as const

const MAC_BYTES = 10
/** Message type 1 and the sequence number. */
const TRAILER_BYTES = 6
const MESSAGE_TYPE = 1

/** @returns undefined for `auth`, which protects nothing after the login */
export function securityLayer(
  qop: Qop,
  cipher: CipherName | undefined,
  options: LayerOptions,
): SecurityLayer | undefined {
  if (qop === 'auth') return undefined
  if (qop === 'auth-int') return new IntegrityLayer(options)
  if (cipher === undefined) throw new SaslError('DIGEST-MD5: auth-conf without a cipher')
  return new PrivacyLayer(options, cipher)
}

/** Numbers and signs the messages of both directions. */
class Signer {
  readonly #ownKey: Buffer
  readonly #otherKey: Buffer
  #sent = 0
  #received = 0

  constructor({ side, sessionKey }: LayerOptions) {
    this.#ownKey = md5(sessionKey, INTEGRITY_MAGIC[side])
    this.#otherKey = md5(sessionKey, INTEGRITY_MAGIC[side === 'client' ? 'server' : 'client'])
  }

  /** Signs `plain` and writes type and number of the message into `trailer`. */
  sign(plain: Buffer, trailer: Buffer): Buffer {
    trailer.writeUInt16BE(MESSAGE_TYPE, 0)
    trailer.writeUInt32BE(this.#sent, 2)
    const mac = macOf(this.#ownKey, this.#sent, plain)
    this.#sent = (this.#sent + 1) >>> 0
    return mac
  }

  verify(plain: Buffer, mac: Buffer, trailer: Buffer): void {
    const expected = this.#received
    const isRight =
      timingSafeEqual(mac, macOf(this.#otherKey, expected, plain)) &&
      trailer.readUInt16BE(0) === MESSAGE_TYPE &&
      trailer.readUInt32BE(2) === expected
    if (!isRight) throw unreadable(expected)
    this.#received = (expected + 1) >>> 0
  }

  get expected(): number {
    return this.#received
  }
}

/** plain, 10 bytes of HMAC-MD5, type, number. */
class IntegrityLayer implements SecurityLayer {
  readonly maxPlainBytes: number
  readonly #signer: Signer

  constructor(options: LayerOptions) {
    this.maxPlainBytes = options.maxBuffer - MAC_BYTES - TRAILER_BYTES
    this.#signer = new Signer(options)
  }

  wrap(plain: Buffer): Buffer {
    const token = Buffer.allocUnsafe(plain.length + MAC_BYTES + TRAILER_BYTES)
    plain.copy(token)
    this.#signer.sign(plain, token.subarray(plain.length + MAC_BYTES)).copy(token, plain.length)
    return token
  }

  unwrap(token: Buffer): Buffer {
    const length = token.length - MAC_BYTES - TRAILER_BYTES
    if (length < 0) throw unreadable(this.#signer.expected)
    const plain = token.subarray(0, length)
    this.#signer.verify(plain, token.subarray(length, length + MAC_BYTES), token.subarray(length + MAC_BYTES))
    return plain
  }
}

/** Sealed (plain, padding, 10 bytes of HMAC-MD5), type, number. */
class PrivacyLayer implements SecurityLayer {
  readonly maxPlainBytes: number
  readonly #signer: Signer
  readonly #sealing: Cipher
  readonly #opening: Cipher

  constructor(options: LayerOptions, cipher: CipherName) {
    const { side, sessionKey, maxBuffer } = options
    const otherSide = side === 'client' ? 'server' : 'client'
    // JDK: 10 bytes for the largest padding, whatever the cipher.
    this.maxPlainBytes = maxBuffer - MAC_BYTES - TRAILER_BYTES - 10
    this.#signer = new Signer(options)
    this.#sealing = sealingCipher(cipher, sealingKey(cipher, sessionKey, PRIVACY_MAGIC[side]))
    this.#opening = openingCipher(cipher, sealingKey(cipher, sessionKey, PRIVACY_MAGIC[otherSide]))
  }

  wrap(plain: Buffer): Buffer {
    const { blockBytes } = this.#sealing
    const padding = blockBytes === 1 ? 0 : blockBytes - ((plain.length + MAC_BYTES) % blockBytes)
    const trailer = Buffer.allocUnsafe(TRAILER_BYTES)
    const mac = this.#signer.sign(plain, trailer)
    const sealed = this.#sealing.update(Buffer.concat([plain, Buffer.alloc(padding, padding), mac]))
    return Buffer.concat([sealed, trailer])
  }

  unwrap(token: Buffer): Buffer {
    const sealedLength = token.length - TRAILER_BYTES
    const { blockBytes } = this.#opening
    if (sealedLength < MAC_BYTES || sealedLength % blockBytes !== 0) throw unreadable(this.#signer.expected)
    const opened = this.#opening.update(token.subarray(0, sealedLength))
    const paddedLength = opened.length - MAC_BYTES
    const padding = blockBytes === 1 ? 0 : (opened[paddedLength - 1] ?? 0)
    // One answer for a wrong padding and a wrong signature: which of them it was would tell about the plain text.
    const length = padding <= blockBytes && padding <= paddedLength ? paddedLength - padding : paddedLength
    const plain = opened.subarray(0, length)
    this.#signer.verify(plain, opened.subarray(paddedLength), token.subarray(sealedLength))
    return plain
  }
}

function macOf(key: Buffer, number: number, plain: Buffer): Buffer {
  const sequence = Buffer.allocUnsafe(4)
  sequence.writeUInt32BE(number, 0)
  return createHmac('md5', key).update(sequence).update(plain).digest().subarray(0, MAC_BYTES)
}

function unreadable(number: number): SaslError {
  return new SaslError(`DIGEST-MD5: message ${number} was changed on the way or is out of order`)
}
