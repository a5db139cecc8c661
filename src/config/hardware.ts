import type { HostFacts } from './host.ts'
import type { NodeResourceConfig } from './node-manager-config.ts'
import type { Settings } from './settings.ts'

/** Offered where memory or vcores are −1 and nothing is detected. Java: YarnConfiguration.DEFAULT_NM_PMEM_MB, -_VCORES. */
const DEFAULT_MEMORY_MB = 8192
const DEFAULT_VCORES = 8

const MB = 1024 * 1024

/** What the node offers, and what the machine has. Source: NodeManagerHardwareUtils. */
export async function nodeResourceConfig(settings: Settings, host: HostFacts): Promise<NodeResourceConfig> {
  const { physicalBytes, cgroupLimitBytes } = await host.memoryInfo()
  const physicalMemoryMb = Math.floor(physicalBytes / MB)
  const physicalCores = host.processorCount()
  const isDetecting = settings.read('yarn.nodemanager.resource.detect-hardware-capabilities')
  const usableMb = Math.floor(Math.min(physicalBytes, cgroupLimitBytes ?? Infinity) / MB)
  const memoryMb = offeredMemoryMb(settings, isDetecting, usableMb)
  const vcores = await offeredVcores(settings, isDetecting, host)
  if (memoryMb > physicalMemoryMb) {
    settings.warn(`NodeManager configured with ${memoryMb} MB of memory, but the machine has ${physicalMemoryMb} MB`)
  }
  return {
    memoryMb,
    vcores,
    physicalMemoryMb,
    physicalCores,
    isPmemCheckEnabled: settings.read('yarn.nodemanager.pmem-check-enabled'),
    isVmemCheckEnabled: settings.read('yarn.nodemanager.vmem-check-enabled'),
    vmemPmemRatio: settings.read('yarn.nodemanager.vmem-pmem-ratio'),
  }
}

function offeredMemoryMb(settings: Settings, isDetecting: boolean, usableMb: number): number {
  const key = 'yarn.nodemanager.resource.memory-mb'
  const configured = settings.read(key)
  if (!isDetecting) return configured === -1 ? DEFAULT_MEMORY_MB : configured
  const memoryMb = configured === -1 ? detectedMemoryMb(settings, usableMb) : configured
  if (memoryMb <= 0) settings.fail(key, `Illegal value for ${key}. Value must be greater than 0.`)
  return memoryMb
}

function detectedMemoryMb(settings: Settings, usableMb: number): number {
  const reservedMb = settings.read('yarn.nodemanager.resource.system-reserved-memory-mb')
  const heapMb = settings.read('bobbin.jvm-heap-mb')
  const memoryMb = reservedMb === -1 ? fourFifths(usableMb - 2 * heapMb) : usableMb - reservedMb
  if (memoryMb <= 0) {
    settings.warn(
      'Calculated memory for YARN containers is too low.' +
        ` Node memory is ${usableMb} MB, system reserved memory is ${reservedMb} MB.`,
    )
  }
  return Math.max(memoryMb, 0)
}

/** Java multiplies as float and cuts off. */
function fourFifths(mb: number): number {
  return Math.trunc(Math.fround(Math.fround(0.8) * Math.fround(mb)))
}

async function offeredVcores(settings: Settings, isDetecting: boolean, host: HostFacts): Promise<number> {
  const key = 'yarn.nodemanager.resource.cpu-vcores'
  const configured = settings.read(key)
  if (!isDetecting) return configured === -1 ? DEFAULT_VCORES : configured
  const vcores = configured === -1 ? await detectedVcores(settings, host) : configured
  if (vcores <= 0) settings.fail(key, `Illegal value for ${key}. Value must be greater than 0.`)
  return vcores
}

/** A failure of its own makes this 1, so that no second one is told of the number of vcores. */
async function detectedVcores(settings: Settings, host: HostFacts): Promise<number> {
  const multiplierKey = 'yarn.nodemanager.resource.pcores-vcores-multiplier'
  const percentKey = 'yarn.nodemanager.resource.percentage-physical-cpu-limit'
  const multiplier = settings.read(multiplierKey)
  const percent = Math.min(settings.read(percentKey), 100)
  if (percent <= 0) {
    settings.fail(percentKey, `Illegal value for ${percentKey}. Value cannot be less than or equal to 0.`)
    return 1
  }
  if (!(multiplier > 0)) {
    settings.fail(multiplierKey, `Illegal value for ${multiplierKey}. Value must be greater than 0.`)
    return 1
  }
  const isLogical = settings.read('yarn.nodemanager.resource.count-logical-processors-as-cores')
  const cpus = isLogical ? host.processorCount() : await host.coreCount()
  const vcores = Math.fround(Math.fround((percent * cpus) / 100) * Math.fround(multiplier))
  return vcores > 0 && vcores < 1 ? 1 : Math.round(vcores)
}
