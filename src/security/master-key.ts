import { createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import type { hadoop } from '../protocol/messages.ts'

type MasterKeyProto = hadoop.yarn.MasterKeyProto.$Properties

/** A key that tokens are signed with. Source: org.apache.hadoop.yarn.server.api.records.MasterKey. */
export interface MasterKey {
  /** 32 bits, signed; counts up by one per roll. */
  readonly keyId: number
  /** Used as the raw HMAC key; a ResourceManager makes 8 of them. */
  readonly bytes: Buffer
}

export function masterKeyFromProto(proto: MasterKeyProto): MasterKey {
  return { keyId: proto.keyId ?? 0, bytes: Buffer.from(proto.bytes ?? []) }
}

export function masterKeyToProto(key: MasterKey): MasterKeyProto {
  return { keyId: key.keyId, bytes: key.bytes }
}

/**
 * What proves a token: HMAC-SHA1 over the identifier, 20 bytes. Always over the bytes as received, so that fields which
 * a newer ResourceManager adds are covered. Source: SecretManager.createPassword.
 */
export function password(key: MasterKey, identifier: Uint8Array): Buffer {
  return createHmac('sha1', key.bytes).update(identifier).digest()
}

/** Takes the same time for every wrong password of the right length. */
export function passwordsEqual(expected: Uint8Array, given: Uint8Array): boolean {
  return expected.length === given.length && timingSafeEqual(expected, given)
}

/** The keys of a node, which a ResourceManager rolls: the last one stays good until the next roll. */
export class NodeMasterKeys {
  #current: MasterKey | undefined
  #previous: MasterKey | undefined

  get current(): MasterKey | undefined {
    return this.#current
  }

  /**
   * Source: NMContainerTokenSecretManager.setMasterKey.
   * @returns false when the key is the current one already: a key is told by its id alone
   */
  install(key: MasterKey): boolean {
    if (this.#current?.keyId === key.keyId) return false
    this.#previous = this.#current
    this.#current = key
    return true
  }

  /** Previous before current, as Hadoop looks them up. */
  find(keyId: number): MasterKey | undefined {
    if (this.#previous?.keyId === keyId) return this.#previous
    return this.#current?.keyId === keyId ? this.#current : undefined
  }
}

/** The keys of a ResourceManager: a next key is offered to the nodes for a while before it becomes the current one. */
export class RollingMasterKeys {
  #current: MasterKey
  #next: MasterKey | undefined

  constructor(first: MasterKey = randomMasterKey()) {
    this.#current = first
  }

  get current(): MasterKey {
    return this.#current
  }

  get next(): MasterKey | undefined {
    return this.#next
  }

  /** Makes the next key. A next key that was not activated yet is replaced. */
  roll(): MasterKey {
    // 32-bit arithmetic: the id after 2^31-1 is -2^31, as Java's int counts.
    const keyId = ((this.#next ?? this.#current).keyId + 1) | 0
    this.#next = { keyId, bytes: randomBytes(KEY_BYTES) }
    return this.#next
  }

  /** The next key becomes the current one. Without a next key nothing changes. */
  activate(): void {
    if (this.#next === undefined) return
    this.#current = this.#next
    this.#next = undefined
  }

  find(keyId: number): MasterKey | undefined {
    if (this.#current.keyId === keyId) return this.#current
    return this.#next?.keyId === keyId ? this.#next : undefined
  }
}

/** Java: KeyGenerator of HmacSHA1 with SecretManager's KEY_LENGTH of 64 bits. */
const KEY_BYTES = 8

/** A key with an id from the whole range of an int, as a ResourceManager starts with. */
export function randomMasterKey(): MasterKey {
  return { keyId: randomInt(-(2 ** 31), 2 ** 31), bytes: randomBytes(KEY_BYTES) }
}
