import type { Socket } from 'node:net'
import type { Clock } from '../base/clock.ts'
import type { Wire } from './server-connection.ts'

/** Beyond it a client that sends calls and does not read the replies is no longer listened to. */
const CONGESTED_BYTES = 1024 * 1024
/** How long the other side may take to read what was written last. */
const LINGER_MS = 2000

/** A socket that sends all that is written in one turn of the event loop in one write. */
export class SocketWire implements Wire {
  readonly remoteAddress: string
  readonly remotePort: number
  readonly #socket: Socket
  readonly #clock: Clock
  #isCorked = false

  constructor(socket: Socket, clock: Clock) {
    this.#socket = socket
    this.#clock = clock
    this.remoteAddress = socket.remoteAddress ?? 'unknown'
    this.remotePort = socket.remotePort ?? 0
  }

  get isCongested(): boolean {
    return this.#socket.writableLength > CONGESTED_BYTES
  }

  write(bytes: Buffer): void {
    const socket = this.#socket
    if (!this.#isCorked) {
      this.#isCorked = true
      socket.cork()
      process.nextTick(() => {
        this.#isCorked = false
        socket.uncork()
      })
    }
    socket.write(bytes)
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Goes on reading for a while: closing a socket with unread bytes would reset it and lose the reply under way. */
  end(): void {
    const socket = this.#socket
    if (socket.destroyed) return
    socket.end()
    socket.resume()
    const timer = this.#clock.schedule(LINGER_MS, () => socket.destroy())
    socket.once('close', () => timer.cancel())
  }

  destroy(): void {
    this.#socket.destroy()
  }
}
