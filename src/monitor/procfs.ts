/** What the kernel tells of processes and of the machine under /proc. Source: proc(5), Java's ProcfsBasedProcessTree. */
import { open, readdir, readFile } from 'node:fs/promises'
import { endianness } from 'node:os'
import { BobbinError, systemCode } from '../base/errors.ts'
import { physicalMemoryBytes } from '../config/host.ts'

export interface ProcessStat {
  readonly pid: number
  readonly parentPid: number
  readonly group: number
  readonly session: number
  /** In user and kernel mode, of the process itself; in ticks of the clock. */
  readonly cpuTicks: number
  readonly vmemBytes: number
  readonly rssPages: number
}

export interface MachineUnits {
  readonly pageBytes: number
  readonly ticksPerSecond: number
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
    parentPid: field(4),
    group: field(5),
    session: field(6),
    cpuTicks: field(14) + field(15),
    vmemBytes: field(23),
    rssPages: field(24),
  }
  return Object.values(stat).every((value) => Number.isFinite(value)) ? stat : undefined
}

const AT_PAGESZ = 6n
const AT_CLKTCK = 17n

/** From the auxiliary vector, which needs no process of `getconf`. */
export async function readMachineUnits(proc = '/proc'): Promise<MachineUnits> {
  const vector = await readFile(`${proc}/self/auxv`)
  const word = (offset: number) =>
    endianness() === 'LE' ? vector.readBigUInt64LE(offset) : vector.readBigUInt64BE(offset)
  const values = new Map<bigint, number>()
  for (let offset = 0; offset + 16 <= vector.length; offset += 16) values.set(word(offset), Number(word(offset + 8)))
  const pageBytes = values.get(AT_PAGESZ)
  const ticksPerSecond = values.get(AT_CLKTCK)
  if (pageBytes === undefined || ticksPerSecond === undefined)
    throw new BobbinError('ERR_PROCFS', `${proc}/self/auxv names no page size or clock tick: is this 64-bit Linux?`)
  return { pageBytes, ticksPerSecond }
}

export interface MemoryInfo {
  readonly totalBytes: number
  readonly availableBytes: number
  readonly swapTotalBytes: number
  readonly swapFreeBytes: number
}

/**
 * `/proc/meminfo` as Java's SysInfoLinux reads it: huge pages and broken ones are not part of the total, and available
 * is what is free and the inactive part of the page cache.
 */
export function parseMemoryInfo(text: string): MemoryInfo {
  const kilobytes = new Map<string, number>()
  for (const [, name = '', value] of text.matchAll(/^([^:]+):\s+(\d+)/gm)) kilobytes.set(name, Number(value))
  const kb = (name: string): number => kilobytes.get(name) ?? 0
  const inactiveKb = kilobytes.get('Inactive(file)') ?? kb('Inactive')
  return {
    totalBytes: physicalMemoryBytes(text),
    availableBytes: (kb('MemFree') + inactiveKb) * 1024,
    swapTotalBytes: kb('SwapTotal') * 1024,
    swapFreeBytes: kb('SwapFree') * 1024,
  }
}

/** Ticks that all processors have spent in user and kernel mode since the start. From the first line of `/proc/stat`. */
export function parseBusyTicks(text: string): number {
  const [, user = 0, nice = 0, system = 0] = (/^cpu +(\d+) (\d+) (\d+)/m.exec(text) ?? []).map(Number)
  return user + nice + system
}
