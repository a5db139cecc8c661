/** The processes of this machine, as Linux shows them. Source: proc(5), Java's ProcfsBasedProcessTree. */
import { open, readdir } from 'node:fs/promises'
import { systemCode } from './errors.ts'

export interface ProcessStat {
  readonly pid: number
  /** `Z` is a zombie. */
  readonly state: string
  readonly parentPid: number
  readonly group: number
  readonly session: number
  /** In user and kernel mode, of the process itself; in ticks of the clock. */
  readonly cpuTicks: number
  readonly vmemBytes: number
  readonly rssPages: number
}

/** A stat line is some 50 numbers and a name of at most 64 bytes. */
const STAT_BYTES = 2048
/** The process has ended since it was listed, or is hidden from us: both mean that it is none of ours. */
const GONE: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM'])

/** Every process in one pass, one file at a time. Processes that end meanwhile are left out. */
export async function readProcesses(proc = '/proc'): Promise<ProcessStat[]> {
  const buffer = Buffer.allocUnsafe(STAT_BYTES)
  const processes: ProcessStat[] = []
  for (const name of await readdir(proc)) {
    if (!/^[1-9]\d*$/.test(name)) continue
    const stat = parseStat(await readStat(`${proc}/${name}/stat`, buffer))
    if (stat !== undefined) processes.push(stat)
  }
  return processes
}

/** @returns undefined when there is no such process */
export async function readProcess(pid: number): Promise<ProcessStat | undefined> {
  return parseStat(await readStat(`/proc/${pid}/stat`, Buffer.allocUnsafe(STAT_BYTES)))
}

/** @returns an empty text when the process is gone. */
async function readStat(path: string, buffer: Buffer): Promise<string> {
  try {
    const file = await open(path, 'r')
    try {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, 0)
      return buffer.toString('latin1', 0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (thrown) {
    if (GONE.has(systemCode(thrown))) return ''
    throw thrown
  }
}

/** `pid (name) state ppid …`; the name may hold blanks and parentheses. @returns undefined for anything else */
export function parseStat(text: string): ProcessStat | undefined {
  const nameEnd = text.lastIndexOf(')')
  if (nameEnd === -1) return undefined
  // Numbered as in proc(5), where the state is field 3.
  const fields = text.slice(nameEnd + 2).split(' ')
  const field = (number: number): number => Number(fields[number - 3] ?? Number.NaN)
  const stat: ProcessStat = {
    pid: Number.parseInt(text, 10),
    state: fields[0] ?? '',
    parentPid: field(4),
    group: field(5),
    session: field(6),
    cpuTicks: field(14) + field(15),
    vmemBytes: field(23),
    rssPages: field(24),
  }
  const { state: _state, ...numbers } = stat
  return Object.values(numbers).every((value) => Number.isFinite(value)) ? stat : undefined
}
