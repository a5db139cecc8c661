const LIMIT_MS = 20_000

/**
 * Waits for what no promise tells of: real files, sockets and other processes, which a busy machine may hold up for long.
 * Rejects when it has waited in vain.
 */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = performance.now() + LIMIT_MS
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}
