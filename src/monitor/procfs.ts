/** What the kernel tells of the machine under /proc. Source: proc(5), Java's SysInfoLinux. */
import { readFile } from 'node:fs/promises'
import { endianness } from 'node:os'
import { BobbinError } from '../base/errors.ts'
import { physicalMemoryBytes } from '../config/host.ts'

export interface MachineUnits {
  readonly pageBytes: number
  readonly ticksPerSecond: number
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
