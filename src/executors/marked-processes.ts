/** Processes that carry a container's id in their environment, wherever they have moved to. */
import { readdir, readFile } from 'node:fs/promises'
import type { ContainerId } from '../protocol/ids.ts'
import { isLiving } from './process-group.ts'

/** Files of /proc that are read at a time. */
const BATCH = 32
/** Finds and ends them. One pass over /proc answers everyone who asked before it began. */
export class MarkedProcesses {
  #next: Promise<Map<string, number[]>> | undefined
  #last: Promise<unknown> = Promise.resolve()

  /**
   * Kills those that it finds. One that has been killed has no environment any more and may still hold files, so it counts
   * until it has gone.
   * @param before what the call before has returned
   * @returns those that are still there: to be called again until there are none, for they may have forked too
   */
  async end(id: ContainerId, before: readonly number[]): Promise<readonly number[]> {
    const found = await this.#find(id)
    for (const pid of found) await kill(id, pid)
    const ending = before.filter((pid) => !found.includes(pid))
    const areLiving = await Promise.all(ending.map(isLiving))
    return [...found, ...ending.filter((_pid, index) => areLiving[index])]
  }

  async #find(id: ContainerId): Promise<readonly number[]> {
    if (this.#next === undefined) {
      const next = this.#last.then(() => {
        this.#next = undefined
        return scan()
      })
      this.#next = next
      // A pass that failed has told those who asked for it; the next one begins all the same.
      this.#last = next.catch(() => undefined)
    }
    return (await this.#next).get(id) ?? []
  }
}

async function scan(): Promise<Map<string, number[]>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const found = new Map<string, number[]>()
  for (let begin = 0; begin < pids.length; begin += BATCH) {
    const batch = pids.slice(begin, begin + BATCH)
    const marks = await Promise.all(batch.map(containerOf))
    for (const [index, mark] of marks.entries()) {
      const pid = batch[index]
      if (mark !== undefined && pid !== undefined && pid !== process.pid)
        found.set(mark, [...(found.get(mark) ?? []), pid])
    }
  }
  return found
}

async function kill(id: ContainerId, pid: number): Promise<void> {
  // The number may have become another's since the pass.
  if ((await containerOf(pid)) !== id) return
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has just ended, or is another user's: the next pass tells which.
  }
}

/**
 * The id of the container that a process says it belongs to.
 * @returns undefined for a process without the mark, one that has ended, and one of another user
 */
export async function containerOf(pid: number): Promise<string | undefined> {
  try {
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1')
    return /(?:^|\0)CONTAINER_ID=([^\0]*)/.exec(environment)?.[1]
  } catch {
    // Gone, or not ours to look at: in neither case one that we could end.
    return undefined
  }
}
