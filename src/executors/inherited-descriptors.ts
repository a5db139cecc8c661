import { readdir, readFile } from 'node:fs/promises'
import { systemCode } from '../base/errors.ts'

/** Linux, all architectures that Node runs on but sparc. */
const O_CLOEXEC = 0o2000000

/**
 * What the process was started with besides its three streams and hands on to its children: everything that it opens
 * itself is closed in them, and Node closes the lowest ones. A container that held a lock or a pipe of whoever started
 * the daemon would hold it up.
 */
export async function inheritedDescriptors(): Promise<readonly number[]> {
  const numbers = (await readdir('/proc/self/fd')).map(Number).filter((number) => number > 2)
  const areInherited = await Promise.all(numbers.map(isHandedOn))
  return numbers.filter((_number, index) => areInherited[index])
}

async function isHandedOn(number: number): Promise<boolean> {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(await readFile(`/proc/self/fdinfo/${number}`, 'latin1'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0
  } catch (thrown) {
    if (systemCode(thrown) === 'ENOENT') return false // It was the one that /proc was read with.
    throw thrown
  }
}
