/**
 * The body that a NodeManager answers with for a container's log file: header lines, the bytes, a trailer, and after it
 * perhaps the aggregated copy of the same file. Source: NMWebServices.getContainerLogFile, LogToolUtils.
 */
import { BobbinError } from '../../base/errors.ts'

const CONTENTS = Buffer.from('\nLogContents:\n')
const LENGTH = /^LogLength:(\d+)$/m
/** Far more than the seven lines need. */
const MAX_HEADER_BYTES = 65_536

/** Takes the file's bytes out of the body, however the body is cut into chunks. */
export class LogResponse {
  /** How many bytes of its end were asked for, 0 for none. */
  readonly #tailBytes: number
  #header = Buffer.alloc(0)
  #fileLength: number | undefined
  #left = 0

  constructor(tailBytes: number) {
    this.#tailBytes = tailBytes
  }

  /** The file's whole length when the node looked; undefined before the header is complete. */
  get fileLength(): number | undefined {
    return this.#fileLength
  }

  /** Where the bytes of the body begin in the file. */
  get startOffset(): number {
    return Math.max(0, (this.#fileLength ?? 0) - this.#tailBytes)
  }

  /** @returns the bytes of the file in this chunk; @throws BobbinError when the body is none of a log file */
  push(chunk: Buffer): Buffer {
    const contents = this.#fileLength === undefined ? this.#readHeader(chunk) : chunk
    const bytes = contents.subarray(0, this.#left)
    this.#left -= bytes.length
    return bytes
  }

  /** @returns the file's length; @throws BobbinError when the body ended early */
  end(): number {
    if (this.#fileLength === undefined) throw notALog(this.#header)
    if (this.#left > 0) {
      const text = `the answer ended ${this.#left} bytes before the end of the log file of ${this.#fileLength}`
      throw new BobbinError('ERR_LOG_RESPONSE', text)
    }
    return this.#fileLength
  }

  #readHeader(chunk: Buffer): Buffer {
    this.#header = Buffer.concat([this.#header, chunk])
    const at = this.#header.indexOf(CONTENTS)
    if (at === -1) {
      if (this.#header.length > MAX_HEADER_BYTES) throw notALog(this.#header)
      return Buffer.alloc(0)
    }
    const length = LENGTH.exec(this.#header.toString('latin1', 0, at))?.[1]
    if (length === undefined) throw notALog(this.#header)
    this.#fileLength = Number(length)
    this.#left = Math.min(this.#tailBytes, this.#fileLength)
    return this.#header.subarray(at + CONTENTS.length)
  }
}

function notALog(body: Buffer): BobbinError {
  const start = JSON.stringify(body.toString('utf8', 0, 100))
  return new BobbinError('ERR_LOG_RESPONSE', `the answer is not that of a NodeManager for a log file: ${start}`)
}
