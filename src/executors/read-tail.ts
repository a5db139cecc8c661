import type { FileHandle } from 'node:fs/promises'

/** The last bytes of a file as text, as many as there are up to `limitBytes`. */
export async function readTail(file: FileHandle, limitBytes: number): Promise<string> {
  const { size } = await file.stat()
  const length = Math.min(size, limitBytes)
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, size - length)
  return buffer.toString('utf8', 0, bytesRead)
}
