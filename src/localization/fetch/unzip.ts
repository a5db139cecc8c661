import { crc32 } from 'node:zlib'
import type { Entry, ZipFile } from 'yauzl'
import { LocalizationError } from '../errors.ts'
import { matchingNames } from './entry-pattern.ts'
import { MAX_ENTRIES, type FileTree } from './file-tree.ts'

/** Upper byte of "version made by": the attributes hold a Unix mode. */
const MADE_BY_UNIX = 3
const TYPE_MASK = 0o170000
const TYPE_DIRECTORY = 0o040000
const TYPE_FILE = 0o100000
const TYPE_LINK = 0o120000
/** Linux PATH_MAX: a longer target can't be linked to. */
const MAX_LINK_TARGET_BYTES = 4096

/**
 * Unpacks a zip or jar into a tree whose root is made already. Backslashes in names, which some Windows tools write,
 * count as slashes.
 */
export async function unzip(path: string, tree: FileTree, signal: AbortSignal): Promise<void> {
  await forEachEntry(path, signal, (zip, entry) => unpackEntry(zip, entry, tree, signal))
}

/** As `unzip`, of the files whose whole name matches the pattern. */
export async function unzipMatching(path: string, pattern: string, tree: FileTree, signal: AbortSignal): Promise<void> {
  const names: string[] = []
  await forEachEntry(path, signal, async (_zip, { fileName }) => {
    if (!fileName.endsWith('/')) names.push(fileName)
    if (names.length > MAX_ENTRIES) throw refused(fileName, `there are more than ${MAX_ENTRIES} entries`)
  })
  const wanted = await matchingNames(pattern, names, signal)
  await forEachEntry(path, signal, async (zip, entry) => {
    if (wanted.has(entry.fileName)) await unpackEntry(zip, entry, tree, signal)
  })
}

async function forEachEntry(
  path: string,
  signal: AbortSignal,
  take: (zip: ZipFile, entry: Entry) => Promise<void>,
): Promise<void> {
  // Loaded at the first archive: a node may never see one.
  const { openPromise } = await import('yauzl')
  const zip = await openPromise(path, { autoClose: false })
  try {
    for await (const entry of zip.eachEntry()) {
      signal.throwIfAborted()
      await take(zip, entry)
    }
  } finally {
    zip.close()
  }
}

async function unpackEntry(zip: ZipFile, entry: Entry, tree: FileTree, signal: AbortSignal): Promise<void> {
  const name = entry.fileName
  if (entry.isEncrypted()) throw refused(name, 'it is encrypted')
  const type = entry.versionMadeBy >>> 8 === MADE_BY_UNIX ? (entry.externalFileAttributes >>> 16) & TYPE_MASK : 0
  if (name.endsWith('/') || type === TYPE_DIRECTORY) return await tree.directory(name)
  if (type === TYPE_LINK) return await tree.symbolicLink(name, await linkTarget(zip, entry))
  if (type !== 0 && type !== TYPE_FILE) throw refused(name, `it is a special file (mode ${type.toString(8)})`)
  const source = await openBody(zip, entry)
  try {
    await tree.file(name, (file) => copyBody(entry, source, file.write, signal), entry.getLastModDate())
  } finally {
    source.destroy()
  }
}

async function openBody(zip: ZipFile, entry: Entry) {
  const source = await zip.openReadStreamPromise(entry)
  // It may fail before it is read, while the file is being made. yauzl then only emits the error; a stream that is
  // destroyed by it keeps it for whoever reads.
  source.on('error', (error: Error) => source.destroy(error))
  return source
}

async function copyBody(
  entry: Entry,
  source: AsyncIterable<Uint8Array>,
  write: (chunk: Uint8Array) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let checksum = 0
  for await (const chunk of source) {
    signal.throwIfAborted()
    checksum = crc32(chunk, checksum)
    await write(chunk)
  }
  if (checksum !== entry.crc32) throw refused(entry.fileName, 'its checksum is wrong')
}

async function linkTarget(zip: ZipFile, entry: Entry): Promise<string> {
  if (entry.uncompressedSize > MAX_LINK_TARGET_BYTES)
    throw refused(entry.fileName, `it is a link with a target of ${entry.uncompressedSize} bytes`)
  const source = await openBody(zip, entry)
  const chunks: Buffer[] = []
  for await (const chunk of source) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

function refused(name: string, why: string): LocalizationError {
  return new LocalizationError(`entry ${JSON.stringify(name)} is refused: ${why}`)
}
