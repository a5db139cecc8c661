/**
 * Java's Writable encodings: what credentials, Writable tokens and some log files are made of.
 * Source: WritableUtils and Text of hadoop-common, java.io.DataOutput.
 */
import { BobbinError } from '../base/errors.ts'

const INT_MIN = -(2 ** 31)
const INT_MAX = 2 ** 31 - 1
const FIRST_CAPACITY = 256

/** Reads from the bytes it is given and never past them. Every method throws BobbinError ERR_BAD_WRITABLE on bad input. */
export class WritableReader {
  readonly #bytes: Buffer
  #position = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get position(): number {
    return this.#position
  }

  get remaining(): number {
    return this.#bytes.length - this.#position
  }

  /** The next `length` bytes, as a view. */
  bytes(length: number): Buffer {
    const start = this.#advance(length)
    return this.#bytes.subarray(start, start + length)
  }

  /** DataInput.readByte, without a sign. */
  uint8(): number {
    return this.#bytes.readUInt8(this.#advance(1))
  }

  /** DataInput.readBoolean: anything but zero is true. */
  boolean(): boolean {
    return this.uint8() !== 0
  }

  int32(): number {
    return this.#bytes.readInt32BE(this.#advance(4))
  }

  int64(): bigint {
    return this.#bytes.readBigInt64BE(this.#advance(8))
  }

  /** WritableUtils.readVInt; a value that needs more than 32 bits is refused, as Java does. */
  vint(): number {
    const at = this.#position
    const value = this.vlong()
    if (value < INT_MIN || value > INT_MAX) throw bad(`${value} does not fit an int`, at)
    return Number(value)
  }

  /** WritableUtils.readVLong. */
  vlong(): bigint {
    const first = this.#bytes.readInt8(this.#advance(1))
    if (first >= -112) return BigInt(first)
    const isNegative = first < -120
    const length = isNegative ? -120 - first : -112 - first
    let value = 0n
    for (const byte of this.bytes(length)) value = (value << 8n) | BigInt(byte)
    return BigInt.asIntN(64, isNegative ? ~value : value)
  }

  /** A VInt and as many bytes, as a view. */
  vbytes(): Buffer {
    return this.bytes(this.#length(this.vint()))
  }

  /** Text.readString: a VInt length and UTF-8. */
  text(): string {
    return this.vbytes().toString('utf8')
  }

  /** WritableUtils.readString: an int length and UTF-8; undefined where Java wrote null. */
  string(): string | undefined {
    const length = this.int32()
    return length === -1 ? undefined : this.bytes(this.#length(length)).toString('utf8')
  }

  #length(length: number): number {
    if (length < 0) throw bad(`length ${length}`, this.#position)
    return length
  }

  #advance(length: number): number {
    const start = this.#position
    if (length > this.remaining) throw bad(`${length} bytes expected, ${this.remaining} left`, start)
    this.#position = start + length
    return start
  }
}

/** Writes into a buffer that grows. */
export class WritableWriter {
  #bytes = Buffer.allocUnsafe(FIRST_CAPACITY)
  #length = 0

  /** What was written so far, as a view that further writes leave alone. */
  finish(): Buffer {
    const written = this.#bytes.subarray(0, this.#length)
    this.#bytes = this.#bytes.subarray(this.#length)
    this.#length = 0
    return written
  }

  bytes(bytes: Uint8Array): this {
    const at = this.#reserve(bytes.length)
    this.#bytes.set(bytes, at)
    return this
  }

  uint8(value: number): this {
    const at = this.#reserve(1)
    this.#bytes.writeUInt8(value, at)
    return this
  }

  boolean(value: boolean): this {
    return this.uint8(value ? 1 : 0)
  }

  int32(value: number): this {
    const at = this.#reserve(4)
    this.#bytes.writeInt32BE(value, at)
    return this
  }

  int64(value: bigint): this {
    const at = this.#reserve(8)
    this.#bytes.writeBigInt64BE(value, at)
    return this
  }

  /** WritableUtils.writeVInt. @throws RangeError beyond 32 bits. */
  vint(value: number): this {
    if (!Number.isInteger(value) || value < INT_MIN || value > INT_MAX) throw new RangeError(`${value} is no int`)
    return this.vlong(BigInt(value))
  }

  /** WritableUtils.writeVLong: −112 to 127 in one byte, else a byte that holds sign and length, then the magnitude. */
  vlong(value: bigint): this {
    if (value !== BigInt.asIntN(64, value)) throw new RangeError(`${value} is no long`)
    if (value >= -112n && value <= 127n) return this.#int8(Number(value))
    const magnitude = value < 0n ? ~value : value
    let length = 1
    while (length < 8 && magnitude >> BigInt(8 * length) !== 0n) length++
    this.#int8((value < 0n ? -120 : -112) - length)
    for (let byte = length - 1; byte >= 0; byte--) this.uint8(Number((magnitude >> BigInt(8 * byte)) & 0xffn))
    return this
  }

  vbytes(bytes: Uint8Array): this {
    return this.vint(bytes.length).bytes(bytes)
  }

  /** Text.writeString. */
  text(text: string): this {
    return this.vbytes(Buffer.from(text, 'utf8'))
  }

  /** WritableUtils.writeString; undefined stands for Java's null. */
  string(text: string | undefined): this {
    if (text === undefined) return this.int32(-1)
    const bytes = Buffer.from(text, 'utf8')
    return this.int32(bytes.length).bytes(bytes)
  }

  #int8(value: number): this {
    const at = this.#reserve(1)
    this.#bytes.writeInt8(value, at)
    return this
  }

  /** Makes room, which may change `#bytes`. @returns where to write. */
  #reserve(length: number): number {
    const start = this.#length
    const needed = start + length
    if (needed > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length, FIRST_CAPACITY))
      this.#bytes.copy(grown, 0, 0, start)
      this.#bytes = grown
    }
    this.#length = needed
    return start
  }
}

function bad(what: string, at: number): BobbinError {
  return new BobbinError('ERR_BAD_WRITABLE', `Bad Writable data at byte ${at}: ${what}`)
}
