import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeResourceConfig } from '../../../src/config/hardware.ts'
import { physicalCoreCount, physicalMemoryBytes } from '../../../src/config/host.ts'
import type { HostFacts } from '../../../src/config/host.ts'
import { Settings } from '../../../src/config/settings.ts'
import { configured, fakeHost, problemsOf } from './support.ts'

const RESOURCE = 'yarn.nodemanager.resource.'
const DETECT = { [`${RESOURCE}detect-hardware-capabilities`]: 'true' }

async function offered(properties: Record<string, string>, host: HostFacts = fakeHost()) {
  const settings = new Settings(configured(properties))
  const config = await nodeResourceConfig(settings, host)
  return { ...config, problems: await problemsOf(() => settings.finish()), warnings: settings.warnings }
}

function withMemory(mb: number): HostFacts {
  return fakeHost({ memoryInfo: () => Promise.resolve({ physicalBytes: mb * 2 ** 20, cgroupLimitBytes: undefined }) })
}

test('without detection -1 means 8192 MB and 8 vcores, whatever the machine has', async () => {
  const { memoryMb, vcores, physicalMemoryMb, physicalCores } = await offered({})
  assert.deepEqual([memoryMb, vcores, physicalMemoryMb, physicalCores], [8192, 8, 16384, 8])
})

test('a number that is written is offered as it is', async () => {
  const { memoryMb, vcores } = await offered({
    [`${RESOURCE}memory-mb`]: '1000',
    [`${RESOURCE}cpu-vcores`]: '3',
    ...DETECT,
  })
  assert.deepEqual([memoryMb, vcores], [1000, 3])
})

test('detection keeps two heaps and a fifth: 24683584 kB with a heap of 400 MB offer 18644 MB', async () => {
  const { memoryMb } = await offered({ ...DETECT, 'bobbin.jvm-heap-mb': '400' }, withMemory(24683584 / 1024))
  assert.equal(memoryMb, 18644)
})

test('the heap of the formula is 1000 MB unless it is set', async () => {
  assert.equal((await offered(DETECT)).memoryMb, Math.trunc(0.8 * (16384 - 2000)))
})

test('memory that is reserved takes the place of the formula, 0 included', async () => {
  assert.equal((await offered({ ...DETECT, [`${RESOURCE}system-reserved-memory-mb`]: '384' })).memoryMb, 16000)
  assert.equal((await offered({ ...DETECT, [`${RESOURCE}system-reserved-memory-mb`]: '0' })).memoryMb, 16384)
})

test('the cgroup of the daemon limits what is detected and not what is reported of the machine', async () => {
  const host = fakeHost({ memoryInfo: () => Promise.resolve({ physicalBytes: 2 ** 34, cgroupLimitBytes: 2 ** 32 }) })
  const { memoryMb, physicalMemoryMb } = await offered(DETECT, host)
  assert.deepEqual([memoryMb, physicalMemoryMb], [Math.trunc(0.8 * (4096 - 2000)), 16384])
})

test('too little memory is refused in the words of Hadoop', async () => {
  const { problems, warnings } = await offered(DETECT, withMemory(1500))
  assert.deepEqual(warnings, [
    'Calculated memory for YARN containers is too low. Node memory is 1500 MB, system reserved memory is -1 MB.',
  ])
  assert.deepEqual(
    problems.map(({ reason }) => reason),
    ['Illegal value for yarn.nodemanager.resource.memory-mb. Value must be greater than 0.'],
  )
})

test('detection takes cores, or hardware threads when they count', async () => {
  assert.equal((await offered(DETECT)).vcores, 4)
  assert.equal((await offered({ ...DETECT, [`${RESOURCE}count-logical-processors-as-cores`]: 'true' })).vcores, 8)
})

const shares: readonly (readonly [percent: string, multiplier: string, vcores: number])[] = [
  ['50', '1.0', 2],
  ['500', '1.0', 4],
  ['10', '1.0', 1],
  ['100', '1.5', 6],
  ['100', '0.625', 3],
  ['60', '1.0', 2],
  ['65', '1.0', 3],
]

for (const [percent, multiplier, expected] of shares) {
  test(`${percent} percent of 4 cores times ${multiplier} are ${expected} vcores`, async () => {
    const { vcores, problems } = await offered({
      ...DETECT,
      [`${RESOURCE}percentage-physical-cpu-limit`]: percent,
      [`${RESOURCE}pcores-vcores-multiplier`]: multiplier,
    })
    assert.deepEqual([vcores, problems], [expected, []])
  })
}

const illegal: readonly (readonly [key: string, value: string, text: string])[] = [
  ['percentage-physical-cpu-limit', '0', 'Value cannot be less than or equal to 0.'],
  ['percentage-physical-cpu-limit', '-5', 'Value cannot be less than or equal to 0.'],
  ['pcores-vcores-multiplier', '0', 'Value must be greater than 0.'],
  ['pcores-vcores-multiplier', 'NaN', 'Value must be greater than 0.'],
  ['memory-mb', '0', 'Value must be greater than 0.'],
  ['memory-mb', '-2', 'Value must be greater than 0.'],
  ['cpu-vcores', '0', 'Value must be greater than 0.'],
]

for (const [key, value, text] of illegal) {
  test(`with detection ${key} = ${value} is refused in the words of Hadoop`, async () => {
    const { problems } = await offered({ ...DETECT, [RESOURCE + key]: value })
    assert.deepEqual(
      problems.map((problem) => [problem.key, problem.reason]),
      [[RESOURCE + key, `Illegal value for ${RESOURCE}${key}. ${text}`]],
    )
  })
}

test('the machine’s cores are not asked for unless they are needed', async () => {
  const host = fakeHost({ coreCount: () => Promise.reject(new Error('asked')) })
  assert.equal((await offered({}, host)).vcores, 8)
  assert.equal((await offered({ ...DETECT, [`${RESOURCE}cpu-vcores`]: '2' }, host)).vcores, 2)
})

test('more memory than there is, is warned about and offered', async () => {
  const { memoryMb, warnings } = await offered({ [`${RESOURCE}memory-mb`]: '20000' })
  assert.equal(memoryMb, 20000)
  assert.deepEqual(warnings, ['NodeManager configured with 20000 MB of memory, but the machine has 16384 MB'])
})

test('huge pages and broken memory are no memory for containers', () => {
  const meminfo =
    'MemTotal:       16000000 kB\nMemFree: 1 kB\nHardwareCorrupted:     4 kB\nHugePages_Total:     100\nHugepagesize:       2048 kB\n'
  assert.equal(physicalMemoryBytes(meminfo), (16000000 - 4 - 100 * 2048) * 1024)
})

test('cores are pairs of processor package and core id, and none are counted where the file has no ids', () => {
  const thread = (physical: number, core: number) =>
    `processor\t: 0\nphysical id\t: ${physical}\ncore id\t\t: ${core}\n\n`
  assert.equal(physicalCoreCount(thread(0, 0) + thread(0, 1) + thread(0, 0) + thread(0, 1)), 2)
  assert.equal(physicalCoreCount(thread(0, 0) + thread(1, 0)), 2)
  assert.equal(physicalCoreCount('processor\t: 0\nBogoMIPS\t: 50.00\n'), undefined)
})
