import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Configuration } from '../../../src/config/configuration.ts'
import { ConfigError } from '../../../src/config/errors.ts'
import type { HostFacts } from '../../../src/config/host.ts'
import { readResources } from '../../../src/config/resources.ts'

/** Bytes or text for each path below a new folder, which is gone when `use` is done. */
export async function withFolder<T>(
  files: Readonly<Record<string, string | Uint8Array>>,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'bobbin-config-'))
  try {
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true })
      await writeFile(join(folder, name), content)
    }
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A site file with these properties; each is `name` or `name!` for a final one. */
export function site(properties: Readonly<Record<string, string>>): string {
  const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  const rows = Object.entries(properties).map(([name, value]) => {
    const isFinal = name.endsWith('!')
    const element = `<name>${escape(isFinal ? name.slice(0, -1) : name)}</name><value>${escape(value)}</value>`
    return `<property>${element}${isFinal ? '<final>true</final>' : ''}</property>`
  })
  return `<configuration>\n${rows.join('\n')}\n</configuration>\n`
}

interface Surroundings {
  readonly defines?: Record<string, string>
  readonly environment?: Record<string, string>
  readonly systemProperties?: Record<string, string>
}

const SYSTEM = { 'user.name': 'yarn', 'java.io.tmpdir': '/tmp' }

/** What a folder with core-site.xml and yarn-site.xml says. */
export async function readFolder(folder: string, surroundings: Surroundings = {}): Promise<Configuration> {
  return new Configuration({
    properties: await readResources(folder, ['core-site.xml', 'yarn-site.xml']),
    defines: surroundings.defines ?? {},
    environment: surroundings.environment ?? {},
    systemProperties: surroundings.systemProperties ?? SYSTEM,
  })
}

/** A configuration that a yarn-site.xml with these properties would make; line 2 is the first property. */
export function configured(
  properties: Readonly<Record<string, string>>,
  surroundings: Surroundings = {},
): Configuration {
  return new Configuration({
    properties: Object.entries(properties).map(([name, value], index) => ({
      name,
      value,
      isFinal: false,
      source: { file: 'yarn-site.xml', line: index + 2 },
      resource: 'yarn-site.xml',
    })),
    defines: surroundings.defines ?? {},
    environment: surroundings.environment ?? {},
    systemProperties: surroundings.systemProperties ?? SYSTEM,
  })
}

/** A machine called worker1.example.com with 16 GB, 4 cores and 8 hardware threads. */
export function fakeHost(overrides: Partial<HostFacts> = {}): HostFacts {
  return {
    canonicalName: (host) =>
      Promise.resolve(host === '127.0.0.1' ? 'localhost' : host.endsWith('.invalid') ? undefined : host),
    localName: () => Promise.resolve('worker1.example.com'),
    memoryInfo: () => Promise.resolve({ physicalBytes: 16 * 2 ** 30, cgroupLimitBytes: undefined }),
    processorCount: () => 8,
    coreCount: () => Promise.resolve(4),
    ...overrides,
  }
}

/** The problems that keep `work` from being done. */
export async function problemsOf(work: () => unknown): Promise<ConfigError['problems']> {
  try {
    await work()
  } catch (thrown) {
    if (thrown instanceof ConfigError) return thrown.problems
    throw thrown
  }
  return []
}
