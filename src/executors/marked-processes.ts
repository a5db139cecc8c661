/** Processes that carry a container's id in their environment, wherever they have moved to. */
import { readdir, readFile } from 'node:fs/promises'
import type { ContainerId } from '../protocol/ids.ts'

/** Files of /proc that are read at a time. */
const BATCH = 32
/** A process may fork while it is looked for. */
const ATTEMPTS = 3

/** Finds and ends them. One pass over /proc answers everyone who asked before it began. */
export class MarkedProcesses {
  #next: Promise<Map<string, number[]>> | undefined
  #last: Promise<unknown> = Promise.resolve()

  /** @returns those that would not die */
  async end(id: ContainerId): Promise<readonly number[]> {
    let found = await this.#find(id)
    for (let attempt = 0; attempt < ATTEMPTS && found.length > 0; attempt++) {
      for (const pid of found) await kill(id, pid)
      found = await this.#find(id)
    }
    return found
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
    const marks = await Promise.all(batch.map(markOf))
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
  if ((await markOf(pid)) !== id) return
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has just ended, or is another user's: the next pass tells which.
  }
}

/** @returns undefined for a process without the mark, one that has ended, and one of another user */
async function markOf(pid: number): Promise<string | undefined> {
  try {
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1')
    return /(?:^|\0)CONTAINER_ID=([^\0]*)/.exec(environment)?.[1]
  } catch {
    // Gone, or not ours to look at: in neither case one that we could end.
    return undefined
  }
}
