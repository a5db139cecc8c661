/** The ciphers of auth-conf. Chaining and key streams run on from message to message. Source: RFC 2831 §2.4. */
import { createCipheriv, createDecipheriv } from 'node:crypto'
import { md5 } from './digest.ts'
import { Rc4 } from './rc4.ts'

export type CipherName = '3des' | 'rc4' | 'des' | 'rc4-56' | 'rc4-40'

/** One direction, sealing or opening. */
export interface Cipher {
  /** 1 for a stream cipher. */
  readonly blockBytes: number
  update(bytes: Buffer): Buffer
}

/** How much of H(A1) goes into the key. */
const KEY_ROOT_BYTES: { readonly [C in CipherName]: number } = {
  '3des': 16,
  rc4: 16,
  des: 16,
  'rc4-56': 7,
  'rc4-40': 5,
}

/** @param magic which direction's key; see layers.ts */
export function sealingKey(cipher: CipherName, sessionKey: Buffer, magic: string): Buffer {
  return md5(sessionKey.subarray(0, KEY_ROOT_BYTES[cipher]), magic)
}

export function sealingCipher(cipher: CipherName, key: Buffer): Cipher {
  return cipher === '3des' || cipher === 'des' ? blockCipher(cipher, key, createCipheriv) : streamCipher(key)
}

export function openingCipher(cipher: CipherName, key: Buffer): Cipher {
  return cipher === '3des' || cipher === 'des' ? blockCipher(cipher, key, createDecipheriv) : streamCipher(key)
}

function streamCipher(key: Buffer): Cipher {
  const rc4 = new Rc4(key)
  return { blockBytes: 1, update: (bytes) => rc4.update(bytes) }
}

/** Single DES is triple DES with one key three times: OpenSSL 3 brings only the latter. */
function blockCipher(
  cipher: '3des' | 'des',
  key: Buffer,
  create: typeof createCipheriv | typeof createDecipheriv,
): Cipher {
  const first = withParity(key.subarray(0, 7))
  const second = cipher === '3des' ? withParity(key.subarray(7, 14)) : first
  const chain = create('des-ede3-cbc', Buffer.concat([first, second, first]), key.subarray(8, 16))
  chain.setAutoPadding(false)
  return { blockBytes: 8, update: (bytes) => chain.update(bytes) }
}

/** Spreads 56 bits over 8 bytes, seven in the upper bits of each; the lowest bit makes the parity odd. */
function withParity(bits: Buffer): Buffer {
  const spread = Buffer.alloc(8)
  for (let at = 0; at < 8; at++) {
    const upper = ((bits[at - 1] ?? 0) << (8 - at)) & 0xff
    const seven = (upper | ((bits[at] ?? 0) >> at)) & 0xfe
    spread[at] = seven | (isEven(seven) ? 1 : 0)
  }
  return spread
}

function isEven(byte: number): boolean {
  let ones = 0
  for (let bits = byte; bits !== 0; bits >>= 1) ones += bits & 1
  return ones % 2 === 0
}
