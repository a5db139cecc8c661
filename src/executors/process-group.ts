/** Process groups of containers, as Linux shows them. */
import { readFile } from 'node:fs/promises'
import { systemCode } from '../base/errors.ts'
import { readProcess, readProcesses, type ProcessStat } from '../base/processes.ts'
import type { ContainerId } from '../protocol/ids.ts'

/**
 * Sends a signal to the group that the container's leader made.
 * @param signal 0 only asks whether anything of it lives; a zombie does not
 * @returns false when there is no such group, or when the number has become another process's
 */
export async function signalGroup(containerId: ContainerId, pid: number, signal: number): Promise<boolean> {
  // 0 and 1 would mean our own group, and everything that we may signal.
  if (!Number.isSafeInteger(pid) || pid <= 1) return false
  const leader = await readProcess(pid)
  if (leader !== undefined && !(await belongsTo(containerId, pid, leader))) return false
  // Between writing its pid and `setsid` the leader is alone and in its starter's group.
  if (leader !== undefined && leader.group !== pid) return send(pid, signal)
  if (signal !== 0) return send(-pid, signal)
  if (!send(-pid, 0)) return false
  return (leader !== undefined && leader.state !== 'Z') || (await hasLivingMember(pid))
}

function send(pid: number, signal: number): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch (thrown) {
    if (systemCode(thrown) === 'ESRCH') return false
    throw thrown
  }
}

/**
 * A number is not given to a new process while a group of that number lives, so only a living leader can be a stranger.
 * The container's has the id in its environment; one that has cleared that (`env -i`, a title written over it) still has
 * the start script for a parent, whose path names the container.
 */
async function belongsTo(containerId: ContainerId, pid: number, leader: ProcessStat): Promise<boolean> {
  if (leader.state === 'Z') return leader.group === pid
  const environment = await readProcFile(pid, 'environ')
  if (environment.split('\0').includes(`CONTAINER_ID=${containerId}`)) return true
  return (await readProcFile(leader.parentPid, 'cmdline')).includes(`/${containerId}/`)
}

/** @returns nothing for a process that has ended, or is not ours to look at */
async function readProcFile(pid: number, name: string): Promise<string> {
  try {
    return await readFile(`/proc/${pid}/${name}`, 'latin1')
  } catch (thrown) {
    const code = systemCode(thrown)
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES') return ''
    throw thrown
  }
}

/** Whether a process is there and not a zombie. */
export async function isLiving(pid: number): Promise<boolean> {
  const stat = await readProcess(pid)
  return stat !== undefined && stat.state !== 'Z'
}

async function hasLivingMember(group: number): Promise<boolean> {
  return (await readProcesses()).some((process) => process.group === group && process.state !== 'Z')
}
