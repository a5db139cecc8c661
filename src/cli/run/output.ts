/** Where the containers' output goes. */
import type { ContainerId } from '../../protocol/ids.ts'
import type { LogFile, Write } from './node-logs.ts'

export type StreamName = LogFile['name']

/** Takes the bytes of each container's two files, in order. */
export interface OutputSink {
  /** Rejects with a RunError when nobody reads any more. */
  write(container: ContainerId, stream: StreamName, bytes: Buffer): Promise<void>
  /** Nothing more comes from this container. */
  end(container: ContainerId): Promise<void>
}

export type Streams = { readonly [S in StreamName]: Write }

/** The bytes as they are: for a single container. */
export class RawOutput implements OutputSink {
  readonly #streams: Streams

  constructor(streams: Streams) {
    this.#streams = streams
  }

  write(_container: ContainerId, stream: StreamName, bytes: Buffer): Promise<void> {
    return this.#streams[stream](bytes)
  }

  end(): Promise<void> {
    return Promise.resolve()
  }
}

const LINE_END = 0x0a
/** A line longer than this is cut, each piece with its prefix, rather than kept in memory. */
const MAX_LINE_BYTES = 1_048_576

/** Whole lines, each with `[container_…] ` in front, so that the containers' lines do not mix. */
export class PrefixedOutput implements OutputSink {
  readonly #streams: Streams
  /** The beginning of a line whose end has not come, by container and stream. */
  readonly #begun = new Map<string, Buffer>()

  constructor(streams: Streams) {
    this.#streams = streams
  }

  async write(container: ContainerId, stream: StreamName, bytes: Buffer): Promise<void> {
    const key = keyOf(container, stream)
    const text = Buffer.concat([this.#begun.get(key) ?? Buffer.alloc(0), bytes])
    const end = text.lastIndexOf(LINE_END) + 1
    if (end === 0 && text.length > MAX_LINE_BYTES) {
      this.#begun.delete(key)
      await this.#streams[stream](prefixed(container, text))
      return
    }
    this.#begun.set(key, text.subarray(end))
    if (end > 0) await this.#streams[stream](prefixed(container, text.subarray(0, end)))
  }

  async end(container: ContainerId): Promise<void> {
    for (const stream of ['stdout', 'stderr'] as const) {
      const key = keyOf(container, stream)
      const rest = this.#begun.get(key)
      this.#begun.delete(key)
      if (rest !== undefined && rest.length > 0) await this.#streams[stream](prefixed(container, rest))
    }
  }
}

function keyOf(container: ContainerId, stream: StreamName): string {
  return `${container} ${stream}`
}

/** @param text one line or several; a line end is put behind the last where there is none */
function prefixed(container: ContainerId, text: Buffer): Buffer {
  const prefix = Buffer.from(`[${container}] `)
  const pieces: Buffer[] = []
  for (let start = 0; start < text.length;) {
    const end = text.indexOf(LINE_END, start)
    if (end === -1) {
      pieces.push(prefix, text.subarray(start), Buffer.from('\n'))
      break
    }
    pieces.push(prefix, text.subarray(start, end + 1))
    start = end + 1
  }
  return Buffer.concat(pieces)
}
