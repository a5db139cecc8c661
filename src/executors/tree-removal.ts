import { randomUUID } from 'node:crypto'
import { chmod, constants, lstat, open, readdir, rename, rmdir, unlink } from 'node:fs/promises'
import { asError, systemCode } from '../base/errors.ts'

/** Opens without following a link and without any permission on the thing itself. Not among Node's constants. */
const O_PATH = 0o10000000
/** Entries that go at a time: with all of a large directory at once the event loop would stand still. */
const BATCH = 32
/** How far below the top a path may grow, in bytes: with a name of 255 it stays under Linux's PATH_MAX, 4096. */
const MAX_DEPTH = 1536

/**
 * Removes a file or tree; links are removed, not followed. Directories that forbid it (mode 000) are opened up first,
 * and names may be any bytes, at any depth. What can go goes, even when something else can't.
 * A missing path is no error.
 */
export async function removeTree(path: string): Promise<void> {
  const top = Buffer.from(path)
  if (await isUnlinked(top)) return
  const removal = new Removal(top)
  await removal.run()
}

class Removal {
  readonly #top: Buffer
  /** Taken out of where they were too deep. */
  readonly #raised: Buffer[] = []
  #failure: Error | undefined

  constructor(top: Buffer) {
    this.#top = top
  }

  async run(): Promise<void> {
    await this.#attempt(() => this.#empty(this.#top))
    for (let next = this.#raised.pop(); next !== undefined; next = this.#raised.pop()) await this.#remove(next)
    // What is left would only hide its reason.
    if (this.#failure === undefined) await this.#attempt(() => rmdir(this.#top))
    if (this.#failure !== undefined) throw this.#failure
  }

  async #empty(directory: Buffer): Promise<void> {
    await unlock(directory)
    const names = await readdir(directory, { encoding: 'buffer' })
    const directories: Buffer[] = []
    for (let begin = 0; begin < names.length; begin += BATCH)
      await Promise.all(
        names.slice(begin, begin + BATCH).map((name) =>
          this.#attempt(async () => {
            const path = Buffer.concat([directory, Buffer.from('/'), name])
            if (!(await isUnlinked(path))) directories.push(path)
          }),
        ),
      )
    for (const path of directories) await this.#remove(path)
  }

  async #remove(directory: Buffer): Promise<void> {
    await this.#attempt(async () => {
      if (directory.length > this.#top.length + MAX_DEPTH) return await this.#raise(directory)
      await this.#empty(directory)
      await rmdir(directory)
    })
  }

  async #raise(directory: Buffer): Promise<void> {
    // Its entry `..` changes.
    await unlock(directory)
    const path = Buffer.concat([this.#top, Buffer.from(`/${randomUUID()}`)])
    await rename(directory, path)
    this.#raised.push(path)
  }

  /** The first failure is kept, for the end. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (thrown) {
      if (systemCode(thrown) !== 'ENOENT') this.#failure ??= asError(thrown)
    }
  }
}

/** @returns false when it is a directory */
async function isUnlinked(path: Buffer): Promise<boolean> {
  try {
    await unlink(path)
    return true
  } catch (thrown) {
    const code = systemCode(thrown)
    if (code === 'ENOENT') return true
    if (code === 'EISDIR') return false
    throw thrown
  }
}

/** Its owner may read, change and enter a directory from now on. */
async function unlock(path: Buffer): Promise<void> {
  if (isOpen((await lstat(path)).mode)) return
  const handle = await open(path, O_PATH | constants.O_NOFOLLOW)
  try {
    const stat = await handle.stat()
    // Through the descriptor: a link that took the directory's place meanwhile is not followed.
    if (stat.isDirectory() && !isOpen(stat.mode))
      await chmod(`/proc/self/fd/${handle.fd}`, (stat.mode & 0o7777) | 0o700)
  } finally {
    await handle.close()
  }
}

function isOpen(mode: number): boolean {
  return (mode & 0o700) === 0o700
}
