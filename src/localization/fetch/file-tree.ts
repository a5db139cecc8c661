import { chmod, link, mkdir, open, stat, symlink, unlink, type FileHandle } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemCode } from '../../base/errors.ts'
import { LocalizationError } from '../errors.ts'

/** Entries that one resource may unpack to; a million small files fill a disk's inodes before its bytes. */
export const MAX_ENTRIES = 1_000_000
/** How many links the kernel follows in one path. */
const MAX_LINKS_FOLLOWED = 40
/** Characters of paths that are looked at when all links are judged: about a second of work. */
const MAX_LINK_WORK = 500_000_000
/** Characters after which the event loop gets its turn: some milliseconds. */
const LINK_WORK_PER_TURN = 2_000_000

/** Modes of everything in a localized resource. Source: FSDownload.changePermissions. */
export interface TreeModes {
  readonly directory: number
  readonly file: number
}

/** Source: FSDownload PUBLIC_* and PRIVATE_*_PERMS. */
export const PUBLIC_MODES: TreeModes = { directory: 0o755, file: 0o555 }
export const PRIVATE_MODES: TreeModes = { directory: 0o700, file: 0o500 }

export interface NewFile {
  readonly write: (chunk: Uint8Array) => Promise<void>
}

/**
 * A new file or directory of a resource, filled from names that a stranger has chosen. Everything stays below the root:
 * names go only through directories that were made here, never through a link, and when all is written no link may lead
 * out. Modes in archives don't count: each file and directory gets the mode of the cache, so set-id bits never pass.
 * The root must be new and nobody else may write in it, so that memory alone knows what stands there.
 */
export class FileTree {
  /** The root: of a single file, or of a directory. */
  readonly root: string
  readonly #modes: TreeModes
  /** Made here, by name below the root; the root itself is the empty name. */
  readonly #directories = new Set<string>()
  /** Name of each link to its target. */
  readonly #links = new Map<string, string>()
  #entries = 0
  #bytes = 0

  constructor(root: string, modes: TreeModes) {
    this.root = root
    this.#modes = modes
  }

  /** Of all files that were written. */
  get sizeBytes(): number {
    return this.#bytes
  }

  /** Makes the root a directory. */
  async makeRoot(): Promise<void> {
    await this.#makeDirectory('')
  }

  async directory(name: string): Promise<void> {
    await this.#ensureDirectories(namesOf(name), name)
  }

  /**
   * A file below the root, or the root itself for the empty name. A later file of the same name takes the place of the
   * earlier one.
   * @param write is given the writer and resolves when all is written
   */
  async file(name: string, write: (file: NewFile) => Promise<void>, modifiedAt?: Date): Promise<void> {
    const path = await this.#placeOf(name)
    const handle = await this.#create(path, name)
    try {
      await write({
        write: async (chunk) => {
          await writeAll(handle, chunk)
          this.#bytes += chunk.byteLength
        },
      })
      if (modifiedAt !== undefined && Number.isFinite(modifiedAt.getTime())) await handle.utimes(modifiedAt, modifiedAt)
      await handle.chmod(this.#modes.file)
    } finally {
      await handle.close()
    }
  }

  /** A file that `copyTo` makes: it is given a path at which nothing stands. */
  async copiedFile(name: string, copyTo: (path: string) => Promise<void>): Promise<void> {
    const path = await this.#placeOf(name)
    await copyTo(path)
    await chmod(path, this.#modes.file)
    this.#bytes += (await stat(path)).size
  }

  /** @throws LocalizationError for an absolute target; one that leads out is found by `checkLinks`. */
  async symbolicLink(name: string, target: string): Promise<void> {
    if (target === '' || target.includes('\0')) throw refused(name, `it links to "${target}"`)
    if (target.startsWith('/')) throw refused(name, `it is a link to the absolute path ${target}`)
    const path = await this.#placeOf(name)
    await this.#replacing(path, name, () => symlink(target, path))
    this.#links.set(nameOf(name), target)
  }

  /** A second name for a file that was made here before. */
  async hardLink(name: string, target: string): Promise<void> {
    const targetName = nameOf(target)
    const symbolicTarget = this.#links.get(targetName)
    // A link's own inode would lead elsewhere from another directory, so it is judged as a new link.
    if (symbolicTarget !== undefined) return await this.symbolicLink(name, symbolicTarget)
    if (!this.#directories.has(parentOf(targetName)))
      throw refused(name, `it is a hard link to ${target}, which is not in it`)
    const path = await this.#placeOf(name)
    if (nameOf(name) === targetName) return
    await this.#replacing(path, name, () => link(join(this.root, targetName), path))
  }

  /**
   * To be called when all is written.
   * @throws LocalizationError when a link leads out of the root
   */
  async checkLinks(signal: AbortSignal): Promise<void> {
    let work = 0
    let turnEndsAt = LINK_WORK_PER_TURN
    for (const [name, target] of this.#links) {
      const walk = this.#follow(parentOf(name), target)
      if (walk.leadsOut) throw refused(name, `it is a link out of the archive: ${target}`)
      work += walk.work
      if (work > MAX_LINK_WORK) throw refused(name, 'there are too many links to judge them')
      if (work < turnEndsAt) continue
      turnEndsAt = work + LINK_WORK_PER_TURN
      await nextTurn()
      signal.throwIfAborted()
    }
  }

  /** Walks as the kernel would. A loop, or a target that is not there, leads nowhere and so not out. */
  #follow(from: string, target: string): { leadsOut: boolean; work: number } {
    const ahead = target.split('/').reverse()
    let at = from
    let followed = 0
    let work = target.length
    for (let part = ahead.pop(); part !== undefined; part = ahead.pop()) {
      work += at.length + 1
      if (part === '' || part === '.') continue
      if (part === '..') {
        if (at === '') return { leadsOut: true, work }
        at = parentOf(at)
        continue
      }
      const path = at === '' ? part : `${at}/${part}`
      const next = this.#links.get(path)
      if (next === undefined) at = path
      else if (++followed > MAX_LINKS_FOLLOWED) break
      else ahead.push(...next.split('/').reverse())
    }
    return { leadsOut: false, work }
  }

  /** Counts an entry, makes the directories above it, and gives its path. */
  async #placeOf(name: string): Promise<string> {
    this.#count(name)
    if (name === '') return this.root
    const names = namesOf(name)
    if (names.length === 0) throw refused(name, 'it has no name')
    await this.#ensureDirectories(names.slice(0, -1), name)
    return join(this.root, ...names)
  }

  #count(name: string): void {
    if (++this.#entries > MAX_ENTRIES) throw refused(name, `there are more than ${MAX_ENTRIES} entries`)
  }

  async #ensureDirectories(names: readonly string[], entry: string): Promise<void> {
    let path = ''
    for (const name of names) {
      path = path === '' ? name : `${path}/${name}`
      if (this.#directories.has(path)) continue
      if (this.#links.has(path)) throw refused(entry, `it goes through the link ${path}`)
      try {
        await this.#makeDirectory(path)
      } catch (thrown) {
        if (systemCode(thrown) === 'EEXIST') throw refused(entry, `${path} is a file`, thrown)
        throw thrown
      }
    }
  }

  async #makeDirectory(name: string): Promise<void> {
    const path = join(this.root, name)
    this.#count(name)
    await mkdir(path, this.#modes.directory)
    // The umask may have taken bits away.
    await chmod(path, this.#modes.directory)
    this.#directories.add(name)
  }

  async #create(path: string, name: string): Promise<FileHandle> {
    return await this.#replacing(path, name, () => open(path, 'wx', this.#modes.file))
  }

  async #replacing<T>(path: string, name: string, make: () => Promise<T>): Promise<T> {
    try {
      return await make()
    } catch (thrown) {
      if (systemCode(thrown) !== 'EEXIST') throw thrown
      const own = nameOf(name)
      if (this.#directories.has(own)) throw refused(name, 'it stands in it as a directory too', thrown)
      await unlink(path)
      this.#links.delete(own)
      return await make()
    }
  }
}

async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let offset = 0; offset < chunk.byteLength;) {
    const { bytesWritten } = await handle.write(chunk, offset)
    offset += bytesWritten
  }
}

/** The parts of an entry's name. @throws LocalizationError for a name that leads out */
function namesOf(name: string): readonly string[] {
  if (name.startsWith('/')) throw refused(name, 'its name is an absolute path')
  if (name.includes('\0')) throw refused(name, 'its name has a NUL')
  const names = name.split('/').filter((part) => part !== '' && part !== '.')
  if (names.includes('..')) throw refused(name, 'its name contains ".."')
  return names
}

function nameOf(name: string): string {
  return namesOf(name).join('/')
}

function parentOf(name: string): string {
  const parent = posix.dirname(name)
  return parent === '.' ? '' : parent
}

function refused(name: string, why: string, cause?: unknown): LocalizationError {
  return new LocalizationError(`entry ${JSON.stringify(name)} is refused: ${why}`, cause)
}
