import { chmod, mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { systemCode } from '../base/errors.ts'

/**
 * Makes a directory and its missing parents, each with exactly this mode whatever the umask. An existing one keeps
 * its mode.
 * @throws the system's error; EEXIST when a file stands in the place of the directory
 */
export async function makeDirectories(path: string, mode: number): Promise<void> {
  try {
    await makeOne(path, mode)
  } catch (thrown) {
    const parent = dirname(path)
    if (systemCode(thrown) !== 'ENOENT' || parent === path) throw thrown
    await makeDirectories(parent, mode)
    // Once: /proc has no such entry whatever its parent is.
    await makeOne(path, mode)
  }
}

async function makeOne(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, mode)
  } catch (thrown) {
    if (systemCode(thrown) === 'EEXIST' && (await stat(path)).isDirectory()) return
    throw thrown
  }
  await chmod(path, mode)
}
