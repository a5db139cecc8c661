import type { Wire } from '../../src/ipc/server-connection.ts'

/** The socket of a connection that is fed by a test: keeps what was sent and what was asked of it. */
export class MemoryWire implements Wire {
  readonly remoteAddress = '127.0.0.1'
  readonly remotePort = 40_000
  isCongested = false
  isPaused = false
  /** How the connection ended it. */
  ending: 'end' | 'destroy' | undefined
  readonly #sent: Buffer[] = []

  get sent(): Buffer {
    return Buffer.concat(this.#sent)
  }

  write(bytes: Buffer): void {
    if (this.ending === undefined) this.#sent.push(bytes)
  }

  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
  }

  end(): void {
    this.ending ??= 'end'
  }

  destroy(): void {
    this.ending ??= 'destroy'
  }
}
