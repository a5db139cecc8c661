import { constants, createReadStream, type BigIntStats } from 'node:fs'
import { copyFile, open, readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { systemCode } from '../../base/errors.ts'
import { LocalizationError } from '../errors.ts'
import type { ResourceUrl } from '../resource-url.ts'
import { Slots } from '../slots.ts'
import type { FileSource, ReadContext, SourceStatus } from './file-source.ts'
import type { FileTree } from './file-tree.ts'

/** Up to this size one call copies the file: it holds a thread of the pool for some milliseconds and can't be interrupted. */
const ONE_CALL_BYTES = 4 * 1024 * 1024
const CHUNK_BYTES = 1024 * 1024
/** Larger files that are copied at a time, each with one chunk in memory. */
const LARGE_COPIES = 4
const READ_BUFFER_BYTES = 256 * 1024

const OTHERS_READ = 0o004n
const OTHERS_EXECUTE = 0o001n

/** `file:` resources: the node's own file system, read as the daemon. Source: RawLocalFileSystem. */
export class LocalFileSource implements FileSource {
  readonly schemes = ['file']
  readonly #largeCopies = new Slots(LARGE_COPIES)

  async stat(url: ResourceUrl): Promise<SourceStatus> {
    const status = await statOf(url.path, url)
    const kind = kindOf(status)
    if (kind === undefined) throw new LocalizationError(`Resource ${url.text} is neither a file nor a directory`)
    return { kind, sizeBytes: Number(status.size), modifiedMs: Number(status.mtimeNs / 1_000_000n) }
  }

  async isPublic(url: ResourceUrl, { signal }: ReadContext): Promise<boolean> {
    const status = await statOf(url.path, url)
    if (!(await isReadableByOthers(url.path, status, url, signal, new Set()))) return false
    for (let path = dirname(url.path); ; path = dirname(path)) {
      if (((await statOf(path, url)).mode & OTHERS_EXECUTE) === 0n) return false
      if (path === '/') return true
    }
  }

  async copy(url: ResourceUrl, to: FileTree, name: string, { signal }: ReadContext): Promise<void> {
    await this.#copyEntry(url.path, name, to, url, signal, [])
  }

  async open(url: ResourceUrl, { signal }: ReadContext): Promise<Readable> {
    return createReadStream(url.path, { highWaterMark: READ_BUFFER_BYTES, signal })
  }

  localPath(url: ResourceUrl): string {
    return url.path
  }

  async #copyEntry(
    from: string,
    name: string,
    to: FileTree,
    url: ResourceUrl,
    signal: AbortSignal,
    above: readonly BigIntStats[],
  ): Promise<void> {
    signal.throwIfAborted()
    const status = await statOf(from, url)
    const kind = kindOf(status)
    if (kind === undefined) throw new LocalizationError(`${from} is neither a file nor a directory`)
    if (kind === 'file')
      return await to.copiedFile(name, (path) => this.#copyFile(from, path, Number(status.size), signal))
    refuseLoop(from, status, above)
    if (name === '') await to.makeRoot()
    else await to.directory(name)
    for (const child of await readdir(from))
      await this.#copyEntry(join(from, child), name === '' ? child : `${name}/${child}`, to, url, signal, [
        ...above,
        status,
      ])
  }

  /** Shares the blocks where the file system can; else in steps that leave the thread pool to others. */
  async #copyFile(from: string, to: string, sizeBytes: number, signal: AbortSignal): Promise<void> {
    if (sizeBytes <= ONE_CALL_BYTES) return await copyFile(from, to, constants.COPYFILE_FICLONE)
    try {
      return await copyFile(from, to, constants.COPYFILE_FICLONE_FORCE)
    } catch {
      // Most file systems share no blocks; what else may be wrong shows again below.
    }
    await this.#largeCopies.run(signal, () => copyInChunks(from, to, sizeBytes, signal))
  }
}

async function copyInChunks(from: string, to: string, sizeBytes: number, signal: AbortSignal): Promise<void> {
  const source = await open(from, 'r')
  try {
    const target = await open(to, 'w', 0o600)
    try {
      const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
      // No further than its size: a file that grows as fast as it is read would never end.
      for (let position = 0; position < sizeBytes;) {
        signal.throwIfAborted()
        const { bytesRead } = await source.read(buffer, 0, Math.min(CHUNK_BYTES, sizeBytes - position), position)
        if (bytesRead === 0) break
        for (let offset = 0; offset < bytesRead;)
          offset += (await target.write(buffer, offset, bytesRead - offset, position + offset)).bytesWritten
        position += bytesRead
      }
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

/** Links are followed. A directory that several of them lead to is looked at once. */
async function isReadableByOthers(
  path: string,
  status: BigIntStats,
  url: ResourceUrl,
  signal: AbortSignal,
  seen: Set<string>,
): Promise<boolean> {
  signal.throwIfAborted()
  if (!status.isDirectory()) return (status.mode & OTHERS_READ) !== 0n
  const wanted = OTHERS_READ | OTHERS_EXECUTE
  if ((status.mode & wanted) !== wanted) return false
  const inode = `${status.dev}:${status.ino}`
  if (seen.has(inode)) return true
  seen.add(inode)
  for (const child of await readdir(path)) {
    const childPath = join(path, child)
    if (!(await isReadableByOthers(childPath, await statOf(childPath, url), url, signal, seen))) return false
  }
  return true
}

function kindOf(status: BigIntStats): 'file' | 'directory' | undefined {
  if (status.isFile()) return 'file'
  return status.isDirectory() ? 'directory' : undefined
}

function refuseLoop(path: string, { dev, ino }: BigIntStats, above: readonly BigIntStats[]): void {
  if (above.some((other) => other.dev === dev && other.ino === ino))
    throw new LocalizationError(`${path} links to a directory above itself`)
}

/** Hadoop's words for a file that is not there. */
async function statOf(path: string, url: ResourceUrl): Promise<BigIntStats> {
  try {
    return await stat(path, { bigint: true })
  } catch (thrown) {
    if (systemCode(thrown) !== 'ENOENT') throw thrown
    const text = path === url.path ? url.text : path
    throw new LocalizationError(`File ${text} does not exist`, undefined, 'java.io.FileNotFoundException')
  }
}
