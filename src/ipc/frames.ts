/** Frames: a 4-byte big-endian length and that many bytes, made of delimited messages. */
import protobuf from 'protobufjs/minimal.js'
import type { Codec } from '../protocol/messages.ts'
import type { AnyCodec } from '../protocol/rpc-protocol.ts'

const LENGTH_BYTES = 4
/** From here on, a frame that arrives in pieces is put together in a buffer that grows with what has arrived. */
const FIRST_ASSEMBLY = 4096

/** A length that is negative or beyond the limit: the connection can't be used any further. */
export class FrameLengthError extends Error {
  override readonly name = 'FrameLengthError'
  readonly length: number
  constructor(length: number, limit: number) {
    super(`Requested data length ${length} is longer than maximum configured RPC length ${limit}`)
    this.length = length
  }
}

/**
 * Cuts a byte stream into frames. Holds at most twice the bytes that have arrived, whatever length is announced: a
 * frame inside one chunk is a view of it, one that spans several is copied into a buffer that grows as they come.
 */
export class FrameReader {
  /** Frames beyond it are refused; may change between frames. */
  maxLength: number
  #chunk: Buffer = Buffer.alloc(0)
  /** Chunks after `#chunk`, not looked at yet. */
  readonly #later: Buffer[] = []
  #bufferedBytes = 0
  /** The frame under way, when it spans chunks. Its first four bytes are the length. */
  #assembly: Buffer | undefined
  #assembled = 0

  constructor(maxLength: number) {
    this.maxLength = maxLength
  }

  /** Bytes received and not handed out. */
  get bufferedBytes(): number {
    return this.#bufferedBytes
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return
    this.#bufferedBytes += chunk.length
    if (this.#chunk.length === 0) this.#chunk = chunk
    else this.#later.push(chunk)
  }

  /**
   * The payload of the next complete frame; undefined when more bytes are needed.
   * @throws FrameLengthError, again at each further call
   */
  next(): Buffer | undefined {
    for (;;) {
      const frame = this.#assembly === undefined ? this.#wholeFrame() : this.#assemble(this.#assembly)
      if (frame !== undefined) {
        this.#bufferedBytes -= LENGTH_BYTES + frame.length
        return frame
      }
      if (this.#chunk.length > 0) this.#beginAssembly()
      else if (!this.#takeNextChunk()) return undefined
    }
  }

  #takeNextChunk(): boolean {
    const next = this.#later.shift()
    if (next !== undefined) this.#chunk = next
    return next !== undefined
  }

  #wholeFrame(): Buffer | undefined {
    const chunk = this.#chunk
    if (chunk.length < LENGTH_BYTES) return undefined
    const end = LENGTH_BYTES + this.#checked(chunk.readInt32BE(0))
    if (chunk.length < end) return undefined
    this.#chunk = chunk.subarray(end)
    return chunk.subarray(LENGTH_BYTES, end)
  }

  #beginAssembly(): void {
    this.#assembly = Buffer.allocUnsafe(LENGTH_BYTES)
    this.#assembled = 0
  }

  /** Takes what the chunk has of the frame under way; all of it, unless that completes the frame. */
  #assemble(assembly: Buffer): Buffer | undefined {
    if (this.#assembled < LENGTH_BYTES) {
      this.#take(assembly, LENGTH_BYTES - this.#assembled)
      if (this.#assembled < LENGTH_BYTES) return undefined
    }
    const end = LENGTH_BYTES + this.#checked(assembly.readInt32BE(0))
    const wanted = end - this.#assembled
    const taken = Math.min(wanted, this.#chunk.length)
    const roomy = this.#roomFor(assembly, this.#assembled + taken, end)
    this.#take(roomy, taken)
    if (this.#assembled < end) return undefined
    this.#assembly = undefined
    return roomy.subarray(LENGTH_BYTES, end)
  }

  #take(assembly: Buffer, length: number): void {
    const taken = this.#chunk.copy(assembly, this.#assembled, 0, Math.min(length, this.#chunk.length))
    this.#assembled += taken
    this.#chunk = this.#chunk.subarray(taken)
  }

  #roomFor(assembly: Buffer, needed: number, end: number): Buffer {
    if (needed <= assembly.length) return assembly
    const grown = Buffer.allocUnsafe(Math.min(end, Math.max(FIRST_ASSEMBLY, 2 * needed)))
    assembly.copy(grown, 0, 0, this.#assembled)
    this.#assembly = grown
    return grown
  }

  #checked(length: number): number {
    if (length < 0 || length > this.maxLength) throw new FrameLengthError(length, this.maxLength)
    return length
  }
}

/** The delimited messages of one frame, in order. */
export class FrameMessages {
  readonly #frame: Buffer
  #position = 0

  constructor(frame: Buffer) {
    this.#frame = frame
  }

  get remaining(): number {
    return this.#frame.length - this.#position
  }

  /** The bytes of the next message, as a view. @throws RangeError when the frame ends before it does. */
  nextBytes(): Buffer {
    const length = this.#varint()
    const start = this.#position
    if (length > this.remaining)
      throw new RangeError(`message of ${length} bytes in a frame with ${this.remaining} left`)
    this.#position = start + length
    return this.#frame.subarray(start, start + length)
  }

  /** @throws Error that the message can't be decoded, with protobufjs' words */
  next<T>(codec: { decode(bytes: Uint8Array): T }): T {
    return codec.decode(this.nextBytes())
  }

  #varint(): number {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#frame[this.#position++]
      if (byte === undefined) throw new RangeError('frame ends inside a length')
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    throw new RangeError('length of more than five bytes')
  }
}

/** Puts delimited messages behind a place for the length; one frame each. */
export class FrameWriter {
  readonly #writer = protobuf.Writer.create().fixed32(0)

  message<T>(codec: Codec<T>, message: T): this {
    codec.encode(message, this.#writer.fork())
    this.#writer.ldelim()
    return this
  }

  /** A message of a method table, whose type the caller has checked. */
  anyMessage(codec: AnyCodec, message: unknown): this {
    codec.encode(message as never, this.#writer.fork())
    this.#writer.ldelim()
    return this
  }

  finish(): Buffer {
    const bytes = this.#writer.finish()
    const frame = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    frame.writeInt32BE(frame.length - LENGTH_BYTES, 0)
    return frame
  }
}
