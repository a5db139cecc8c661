import { mkdir, writeFile } from 'node:fs/promises'
import { endianness } from 'node:os'
import { join } from 'node:path'

/** The auxiliary vector of a process on a machine with pages of 4096 bytes and 100 clock ticks a second. */
export async function writeAuxv(proc: string): Promise<void> {
  const words = [6n, 4096n, 17n, 100n, 0n, 0n]
  const vector = Buffer.alloc(words.length * 8)
  for (const [index, word] of words.entries())
    if (endianness() === 'LE') vector.writeBigUInt64LE(word, index * 8)
    else vector.writeBigUInt64BE(word, index * 8)
  await mkdir(join(proc, 'self'))
  await writeFile(join(proc, 'self', 'auxv'), vector)
}
