/** Log files of containers, read from the web port of their node, running or not. */
import { get, type IncomingMessage } from 'node:http'
import { BobbinError, messageOf } from '../../base/errors.ts'
import type { ContainerId } from '../../protocol/ids.ts'
import { RunError } from './exit-codes.ts'
import { LogResponse } from './log-response.ts'

export interface ContainerLogs {
  /**
   * Copies what the file has from `offset` on. Pieces that were written before a failure have been written in full.
   * @throws LogFileMissing as long as there is no such file; BobbinError, naming the address, when it can not be had
   */
  copy(file: LogFile, offset: number, write: Write, signal: AbortSignal): Promise<void>
}

export interface LogFile {
  readonly container: ContainerId
  /** `host:port` of the node's web server. */
  readonly nodeHttpAddress: string
  readonly name: 'stdout' | 'stderr'
}

/** Rejects with a RunError when the reader of the output is gone. */
export type Write = (bytes: Buffer) => Promise<void>

/** The node is there, but the container has no such file: not started yet, or never. */
export class LogFileMissing extends BobbinError {
  override readonly name: string = 'LogFileMissing'
  constructor(message: string) {
    super('ERR_LOG_FILE_MISSING', message)
  }
}

/** How the texts begin by which NodeManagers say so. Source: ContainerLogsUtils. */
const MISSING = ['Cannot find this log on the local disk', 'Container is not yet running', "Container wasn't started"]
/** More of a tail than was missing a moment ago, for what is written meanwhile. */
const MARGIN_BYTES = 65_536
const MAX_ERROR_BYTES = 4096

export interface NodeLogsOptions {
  /** Who reads; nodes that ask for no authentication still check it against the application's access lists. */
  readonly user: string
  /** How long a node may stay silent. */
  readonly timeoutMs: number
}

/** GET /ws/v1/node/containers/<id>/logs/<file>, which gives a file's beginning or its end but nothing in between. */
export class NodeLogs implements ContainerLogs {
  readonly #user: string
  readonly #timeoutMs: number

  constructor({ user, timeoutMs }: NodeLogsOptions) {
    this.#user = user
    this.#timeoutMs = timeoutMs
  }

  async copy(file: LogFile, offset: number, write: Write, signal: AbortSignal): Promise<void> {
    const length = await this.#copyTail(file, 0, Infinity, write, signal)
    if (length <= offset) return
    for (let margin = 0; ; margin += MARGIN_BYTES) {
      const tail = length - offset + margin
      const end = await this.#copyTail(file, tail, offset, write, signal)
      // The file had grown by more than the margin: nothing has been written.
      if (end - tail <= offset) return
    }
  }

  /** @returns the file's length; writes nothing when the tail begins behind `offset` */
  async #copyTail(file: LogFile, tail: number, offset: number, write: Write, signal: AbortSignal): Promise<number> {
    const url = this.#urlOf(file, tail)
    try {
      const response = await this.#request(url, signal)
      if (response.statusCode !== 200) throw await refusal(response)
      const log = new LogResponse(tail)
      let skip: number | undefined
      for await (const chunk of response) {
        const bytes = log.push(chunk as Buffer)
        if (log.fileLength === undefined) continue
        if (log.startOffset > offset) return log.fileLength
        skip ??= offset - log.startOffset
        const wanted = bytes.subarray(skip)
        skip = Math.max(0, skip - bytes.length)
        if (wanted.length > 0) await write(wanted)
      }
      return log.end()
    } catch (thrown) {
      signal.throwIfAborted()
      if (thrown instanceof LogFileMissing || thrown instanceof RunError) throw thrown
      throw new BobbinError('ERR_LOG_UNAVAILABLE', `${url.origin}${url.pathname}: ${messageOf(thrown)}`, thrown)
    }
  }

  #urlOf({ container, nodeHttpAddress, name }: LogFile, tail: number): URL {
    const url = new URL(`http://${nodeHttpAddress}/ws/v1/node/containers/${container}/logs/${name}`)
    url.searchParams.set('format', 'octet-stream')
    url.searchParams.set('size', String(-tail))
    url.searchParams.set('user.name', this.#user)
    return url
  }

  #request(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const request = get(url, { signal, timeout: this.#timeoutMs }, resolve)
      request.on('timeout', () => request.destroy(new Error(`no answer within ${this.#timeoutMs} ms`)))
      request.on('error', reject)
    })
  }
}

async function refusal(response: IncomingMessage): Promise<Error> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    const bytes = chunk as Buffer
    if (size < MAX_ERROR_BYTES) chunks.push(bytes)
    size += bytes.length
  }
  const text = Buffer.concat(chunks).toString('utf8', 0, MAX_ERROR_BYTES).trim()
  if (response.statusCode === 404 && MISSING.some((start) => text.includes(start))) return new LogFileMissing(text)
  return new Error(`status ${response.statusCode}, ${text || 'no text'}`)
}
