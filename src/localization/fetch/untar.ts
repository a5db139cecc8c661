import { createGunzip } from 'node:zlib'
import type { Readable } from 'node:stream'
import type { Parser, ReadEntry } from 'tar'
import { asError, systemCode } from '../../base/errors.ts'
import { LocalizationError } from '../errors.ts'
import type { FileTree } from './file-tree.ts'

const FILE_TYPES: ReadonlySet<string> = new Set(['File', 'OldFile', 'ContiguousFile'])
const DIRECTORY_TYPES: ReadonlySet<string> = new Set(['Directory', 'GNUDumpDir'])

/**
 * Unpacks a tar stream into a tree whose root is made already.
 * @param isGzipped the stream must be compressed then: one that is not fails, as with Hadoop
 */
export async function untar(source: Readable, isGzipped: boolean, tree: FileTree): Promise<void> {
  // A cancellation may come before the loop below listens; the loop throws it.
  source.on('error', () => {})
  // Loaded at the first archive: a node may never see one.
  const { Parser } = await import('tar')
  const parser = new Parser({ strict: true })
  const work = new Unpacking(parser, tree)
  const bytes = isGzipped ? source.pipe(createGunzip()) : source
  if (bytes !== source) source.once('error', (error) => bytes.destroy(error))
  try {
    for await (const chunk of bytes) {
      // The parser would gather the rest in memory.
      if (!(await work.write(chunk))) break
    }
    await work.end()
  } finally {
    source.destroy()
    await work.close()
  }
}

/** Takes the entries out of the parser one after the other: the next one comes when the last has been consumed. */
class Unpacking {
  readonly #parser: Parser
  readonly #tree: FileTree
  #failure: Error | undefined
  /** The file that is being written. */
  #body: ReadEntry | undefined
  #entries: Promise<void> = Promise.resolve()
  #wake: () => void = () => {}
  #hasDrained = false
  #hasEnded = false
  #hasEndMark = false

  constructor(parser: Parser, tree: FileTree) {
    this.#parser = parser
    this.#tree = tree
    parser.on('error', (error: Error) => {
      // The parser takes an archive without entries for none at all; its end mark tells them apart.
      if (!(this.#hasEndMark && systemCode(error) === 'TAR_BAD_ARCHIVE')) this.#fail(error)
    })
    parser.on('eof', () => {
      this.#hasEndMark = true
    })
    parser.on('drain', () => {
      this.#hasDrained = true
      this.#wake()
    })
    parser.on('end', () => {
      this.#hasEnded = true
      this.#wake()
    })
    // Types that the parser doesn't know it would pass over in silence.
    parser.on('ignoredEntry', (entry: ReadEntry) => this.#fail(unsupported(entry)))
    parser.on('entry', (entry: ReadEntry) => {
      this.#entries = this.#entries
        .then(() => this.#take(entry))
        .catch((thrown: unknown) => this.#fail(asError(thrown)))
    })
  }

  /** @returns false when the end mark has been read: what follows is padding */
  async write(chunk: Uint8Array): Promise<boolean> {
    this.#hasDrained = false
    if (!this.#parser.write(chunk)) while (!this.#hasDrained && this.#failure === undefined) await this.#woken()
    if (this.#failure !== undefined) throw this.#failure
    return !this.#hasEndMark
  }

  async end(): Promise<void> {
    this.#parser.end()
    while (!this.#hasEnded && this.#failure === undefined) await this.#woken()
    await this.#entries
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Resolves when nothing is written to the tree any more. Harmless after the end. */
  async close(): Promise<void> {
    this.#failure ??= new Error('the unpacking was ended')
    // Who waits for the rest of a body would wait for ever.
    this.#body?.destroy(this.#failure)
    await this.#entries
  }

  async #woken(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
  }

  #fail(error: Error): void {
    this.#failure ??= error
    this.#wake()
  }

  async #take(entry: ReadEntry): Promise<void> {
    if (this.#failure !== undefined) return
    const { path, linkpath = '', type, mtime } = entry
    const tree = this.#tree
    // The body of a file is its data; every other entry is passed over when it has been made.
    if (FILE_TYPES.has(type)) return await tree.file(path, (file) => this.#copyBody(entry, file.write), mtime)
    if (DIRECTORY_TYPES.has(type)) await tree.directory(path)
    else if (type === 'SymbolicLink') await tree.symbolicLink(path, linkpath)
    else if (type === 'Link') await tree.hardLink(path, linkpath)
    else throw unsupported(entry)
    entry.resume()
  }

  async #copyBody(entry: ReadEntry, write: (chunk: Uint8Array) => Promise<void>): Promise<void> {
    this.#body = entry
    // The loop throws it too.
    entry.on('error', () => {})
    // It may have failed while the file was being made: then nobody destroys the body, and its rest never comes.
    if (this.#failure !== undefined) throw this.#failure
    for await (const chunk of entry) await write(chunk)
    this.#body = undefined
  }
}

function unsupported(entry: ReadEntry): LocalizationError {
  return new LocalizationError(`entry ${JSON.stringify(entry.path)} is refused: it is of type ${entry.type}`)
}
