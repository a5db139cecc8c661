/** RC4, which OpenSSL 3 no longer brings. Its key stream runs on from call to call; sealing and opening are the same. */
export class Rc4 {
  readonly #state = new Uint8Array(256)
  #i = 0
  #j = 0

  constructor(key: Uint8Array) {
    const state = this.#state
    for (let i = 0; i < 256; i++) state[i] = i
    for (let i = 0, j = 0; i < 256; i++) {
      j = (j + (state[i] ?? 0) + (key[i % key.length] ?? 0)) & 0xff
      this.#swap(i, j)
    }
  }

  update(bytes: Buffer): Buffer {
    const out = Buffer.allocUnsafe(bytes.length)
    for (let at = 0; at < bytes.length; at++) {
      this.#i = (this.#i + 1) & 0xff
      const a = this.#state[this.#i] ?? 0
      this.#j = (this.#j + a) & 0xff
      const b = this.#state[this.#j] ?? 0
      this.#swap(this.#i, this.#j)
      out[at] = (bytes[at] ?? 0) ^ (this.#state[(a + b) & 0xff] ?? 0)
    }
    return out
  }

  #swap(i: number, j: number): void {
    const held = this.#state[i] ?? 0
    this.#state[i] = this.#state[j] ?? 0
    this.#state[j] = held
  }
}
