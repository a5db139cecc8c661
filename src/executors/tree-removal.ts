import { chmod, constants, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCode } from '../base/errors.ts'

/** Opens without following a link and without any permission on the thing itself. Not among Node's constants. */
const O_PATH = 0o10000000

/**
 * Removes a file or tree; links are removed, not followed. Directories that forbid it (mode 000) are opened up first.
 * A missing path is no error.
 */
export async function removeTree(path: string): Promise<void> {
  const options = { recursive: true, force: true }
  try {
    await rm(path, options)
  } catch (thrown) {
    if (systemCode(thrown) !== 'EACCES' && systemCode(thrown) !== 'EPERM') throw thrown
    await unlockDirectories(path)
    await rm(path, options)
  }
}

async function unlockDirectories(path: string): Promise<void> {
  if (!(await unlock(path))) return
  const entries = await readdir(path, { withFileTypes: true })
  for (const entry of entries) if (entry.isDirectory()) await unlockDirectories(join(path, entry.name))
}

/** @returns whether it is a directory, which its owner may now read, change and enter */
async function unlock(path: string): Promise<boolean> {
  const handle = await open(path, O_PATH | constants.O_NOFOLLOW)
  try {
    const stat = await handle.stat()
    if (!stat.isDirectory()) return false
    // Through the descriptor: a link that took the directory's place meanwhile is not followed.
    if ((stat.mode & 0o700) !== 0o700) await chmod(`/proc/self/fd/${handle.fd}`, (stat.mode & 0o7777) | 0o700)
    return true
  } finally {
    await handle.close()
  }
}
