import { lookup, lookupService } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { availableParallelism, cpus, hostname } from 'node:os'
import { isIP } from 'node:net'

/** What the configuration asks of the machine; tests pass their own. */
export interface HostFacts {
  /** The name that others should know a host by; undefined when the host has no address. */
  canonicalName(host: string): Promise<string | undefined>
  /** The same of this machine. */
  localName(): Promise<string>
  memoryInfo(): Promise<MemoryInfo>
  /** Logical processors. */
  processorCount(): number
  /** Physical cores. */
  coreCount(): Promise<number>
}

export interface MemoryInfo {
  readonly physicalBytes: number
  /** The least limit of this process's cgroup and of those above it; undefined when there is none. */
  readonly cgroupLimitBytes: number | undefined
}

export const systemHost: HostFacts = {
  canonicalName,
  async localName() {
    return (await canonicalName(hostname())) ?? canonicalNameOf('127.0.0.1')
  },
  async memoryInfo() {
    const physicalBytes = physicalMemoryBytes(await readFile('/proc/meminfo', 'utf8'))
    return { physicalBytes, cgroupLimitBytes: await cgroupMemoryLimit() }
  },
  processorCount: () => cpus().length || availableParallelism(),
  async coreCount() {
    const counted = physicalCoreCount(await readFile('/proc/cpuinfo', 'utf8'))
    if (counted !== undefined) return counted
    // Processors other than x86 have no core ids there. The library is large: it is loaded only here.
    const { cpu } = await import('systeminformation')
    return (await cpu()).physicalCores
  },
}

/** As Java: the first address of the name, its reverse name, and the address where that fails or does not lead back. */
async function canonicalName(host: string): Promise<string | undefined> {
  const address = isIP(host) === 0 ? await firstAddress(host) : host
  return address === undefined ? undefined : canonicalNameOf(address)
}

/** @returns undefined when the host has none */
export async function firstAddress(host: string): Promise<string | undefined> {
  try {
    const addresses = await lookup(host, { all: true })
    // Java prefers IPv4 unless java.net.preferIPv6Addresses says otherwise.
    return (addresses.find(({ family }) => family === 4) ?? addresses[0])?.address
  } catch {
    return undefined // No such host; the caller names the key and the value.
  }
}

async function canonicalNameOf(address: string): Promise<string> {
  try {
    const { hostname: name } = await lookupService(address, 0)
    const forward = await lookup(name, { all: true })
    return forward.some((entry) => entry.address === address) ? name : address
  } catch {
    return address // No reverse name, which is usual: Java gives the address too.
  }
}

/** Source: SysInfoLinux.getPhysicalMemorySize: what is in huge pages or broken can't be given to containers. */
export function physicalMemoryBytes(meminfo: string): number {
  const value = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(meminfo)?.[1] ?? 0)
  const hugeKb = value('HugePages_Total') * value('Hugepagesize')
  return (value('MemTotal') - value('HardwareCorrupted') - hugeKb) * 1024
}

/** Distinct pairs of physical id and core id, as SysInfoLinux counts; undefined when the file has no core ids. */
export function physicalCoreCount(cpuinfo: string): number | undefined {
  const pairs = new Set<string>()
  let physicalId = ''
  for (const line of cpuinfo.split('\n')) {
    if (line.startsWith('physical id')) physicalId = line
    else if (line.startsWith('core id')) pairs.add(`${physicalId} ${line}`)
  }
  return pairs.size === 0 ? undefined : pairs.size
}

async function cgroupMemoryLimit(): Promise<number | undefined> {
  const lines = (await readIfAny('/proc/self/cgroup'))?.split('\n') ?? []
  const limits = await Promise.all(lines.flatMap(limitFiles).map(readIfAny))
  const bytes = limits.map(Number).filter((limit) => Number.isFinite(limit) && limit > 0)
  return bytes.length === 0 ? undefined : Math.min(...bytes)
}

/** The limit files of one line of /proc/self/cgroup, `id:controllers:path`: of the group and of all above it. */
function limitFiles(line: string): readonly string[] {
  const [id, controllers, ...rest] = line.split(':')
  const isV2 = id === '0' && controllers === ''
  if (!isV2 && controllers?.split(',').includes('memory') !== true) return []
  const [root, file] = isV2 ? ['/sys/fs/cgroup', 'memory.max'] : ['/sys/fs/cgroup/memory', 'memory.limit_in_bytes']
  const names = rest
    .join(':')
    .split('/')
    .filter((name) => name !== '' && name !== '..')
  return Array.from({ length: names.length + 1 }, (_, depth) => [root, ...names.slice(0, depth), file].join('/'))
}

async function readIfAny(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch {
    return undefined // Not mounted, or not in this namespace: no limit that we could know.
  }
}
