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
    await mkdir(path, mode)
  } catch (thrown) {
    const code = systemCode(thrown)
    const parent = dirname(path)
    if (code === 'ENOENT' && parent !== path) {
      await makeDirectories(parent, mode)
      return await makeDirectories(path, mode)
    }
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return
    throw thrown
  }
  await chmod(path, mode)
}
