import type { ProcessStat } from '../base/processes.ts'
import type { ContainerId } from '../protocol/ids.ts'

/**
 * Sorts processes by container. One belongs to a container when it is the container's first process, is in that one's
 * session or process group, or when its parent belongs to it: a daemon that has lost its parent is still counted.
 * Source: ProcfsBasedProcessTree.updateProcessTree, which counts the descendants and, of orphans, those of the session.
 */
export function processesByContainer(
  processes: readonly ProcessStat[],
  containersByPid: ReadonlyMap<number, ContainerId>,
): Map<ContainerId, ProcessStat[]> {
  const byPid = new Map(processes.map((process) => [process.pid, process]))
  const owners = new Map<number, ContainerId | undefined>()
  const result = new Map<ContainerId, ProcessStat[]>()
  for (const process of processes) {
    const owner = ownerOf(process, byPid, containersByPid, owners)
    if (owner === undefined) continue
    const own = result.get(owner)
    if (own === undefined) result.set(owner, [process])
    else own.push(process)
  }
  return result
}

/** Walks up until a process is known or decides; all on the way get the same owner. */
function ownerOf(
  start: ProcessStat,
  byPid: ReadonlyMap<number, ProcessStat>,
  containersByPid: ReadonlyMap<number, ContainerId>,
  owners: Map<number, ContainerId | undefined>,
): ContainerId | undefined {
  const path: number[] = []
  let owner: ContainerId | undefined
  for (let process: ProcessStat | undefined = start; process !== undefined; process = byPid.get(process.parentPid)) {
    if (owners.has(process.pid)) {
      owner = owners.get(process.pid)
      break
    }
    // Known from here on, so that parents which form a ring in an inconsistent snapshot end the walk.
    owners.set(process.pid, undefined)
    path.push(process.pid)
    owner =
      containersByPid.get(process.pid) ?? containersByPid.get(process.session) ?? containersByPid.get(process.group)
    if (owner !== undefined) break
  }
  for (const pid of path) owners.set(pid, owner)
  return owner
}
