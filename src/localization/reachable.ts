import { access } from 'node:fs/promises'

/**
 * False for what is gone and for what can't be reached alike: the one can't be deleted and must be fetched again or
 * made as well as the other, and whoever makes it hears what is wrong.
 */
export async function isReachable(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch {
    return false // Why does not matter, see above.
  }
}
