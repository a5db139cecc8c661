import { constants, copyFile, open, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Writes a file anew: never through a link that stands in its place. Hadoop's checksum of an earlier content goes too,
 * for a Java reader would fail on it.
 */
export async function replaceFile(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  await removeWithChecksum(path)
  const file = await open(path, 'wx', mode)
  try {
    await file.writeFile(content)
  } finally {
    await file.close()
  }
}

/** As `replaceFile`, with the content of another file. */
export async function replaceByCopy(from: string, to: string): Promise<void> {
  await removeWithChecksum(to)
  await copyFile(from, to, constants.COPYFILE_EXCL)
}

async function removeWithChecksum(path: string): Promise<void> {
  await Promise.all([path, join(dirname(path), `.${basename(path)}.crc`)].map((file) => rm(file, { force: true })))
}
