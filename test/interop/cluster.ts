/** A real ResourceManager on loopback, Hadoop's own clients, and Bobbin beside them. */
import { spawn, type ChildProcess } from 'node:child_process'
import { openSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hadoopJars, shellVersions, type HadoopVersion } from './jars.ts'

export const bobbin = fileURLToPath(new URL('../../bin/bobbin.js', import.meta.url))

const opens = ['java.lang', 'java.util', 'java.io', 'java.net', 'java.nio'].map((name) => `java.base/${name}`)
const javaOptions = [
  ...[...opens, 'java.base/sun.nio.ch'].map((name) => `--add-opens=${name}=ALL-UNNAMED`),
  '-XX:TieredStopAtLevel=1', // start soon rather than run fast
  '-XX:+UseSerialGC',
]

export interface Finished {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface ApplicationInfo {
  readonly id: string
  readonly state: string
  readonly finalStatus: string
  readonly diagnostics: string
}

/** It will never come: the process has ended. */
class Over extends Error {}

/** Waits until `ready` answers with something, asking again and again. */
export async function eventually<T>(what: string, seconds: number, ready: () => Promise<T | undefined>): Promise<T> {
  const end = Date.now() + seconds * 1000
  let failure: unknown
  while (Date.now() < end) {
    try {
      const answer = await ready()
      if (answer !== undefined) return answer
    } catch (error) {
      if (error instanceof Over) throw error
      failure = error // not up yet: what it said is told if it never comes
    }
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error(`${what}: not within ${seconds} s`, { cause: failure })
}

export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer()
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return server
    }),
  )
  const ports = servers.map((server) => {
    const address = server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  })
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

export class Cluster {
  readonly version: HadoopVersion
  readonly work: string
  readonly ports: Readonly<Record<'rm' | 'scheduler' | 'tracker' | 'admin' | 'rmWeb' | 'nm' | 'nmWeb', number>>
  readonly #jars: string
  readonly #processes = new Map<string, ChildProcess>()

  private constructor(version: HadoopVersion, work: string, jars: string, ports: readonly number[]) {
    const [rm = 0, scheduler = 0, tracker = 0, admin = 0, rmWeb = 0, nm = 0, nmWeb = 0] = ports
    this.version = version
    this.work = work
    this.#jars = jars
    this.ports = { rm, scheduler, tracker, admin, rmWeb, nm, nmWeb }
  }

  static async create(version: HadoopVersion): Promise<Cluster> {
    const jars = await hadoopJars(version)
    const work = await mkdtemp(join(tmpdir(), 'bobbin-interop-'))
    const cluster = new Cluster(version, work, jars, await freePorts(7))
    await cluster.#writeConfiguration()
    return cluster
  }

  get conf(): string {
    return join(this.work, 'conf')
  }

  /** Starts Hadoop's ResourceManager and waits until it answers. */
  async startResourceManager(): Promise<void> {
    this.#daemon('rm', 'java', this.#java('org.apache.hadoop.yarn.server.resourcemanager.ResourceManager', '-Xmx512m'))
    await eventually('ResourceManager', 90, async () => {
      await this.#mustLive('rm')
      const info = (await this.rm('info')) as { clusterInfo: { state: string } }
      return info.clusterInfo.state === 'STARTED' ? true : undefined
    })
  }

  /** Starts `bobbin nodemanager` and waits until the ResourceManager shows it RUNNING. */
  async startBobbin(): Promise<void> {
    this.#daemon('nm', process.execPath, [bobbin, 'nodemanager'])
    await this.nodeIs('RUNNING')
  }

  /** Starts Hadoop's own NodeManager in Bobbin's place. */
  async startJavaNodeManager(): Promise<void> {
    this.#daemon('nm', 'java', this.#java('org.apache.hadoop.yarn.server.nodemanager.NodeManager', '-Xmx512m'))
    await this.nodeIs('RUNNING')
  }

  /** Starts `bobbin standalone`'s half: the embedded ResourceManager with Bobbin as its node, on this configuration. */
  async startStandalone(): Promise<void> {
    this.#daemon('nm', process.execPath, [bobbin, 'standalone', '--config', this.conf])
    await this.nodeIs('RUNNING')
  }

  async nodeIs(state: string): Promise<void> {
    await eventually(`node ${state}`, 60, async () => {
      await this.#mustLive('nm')
      const answer = (await this.rm('nodes')) as { nodes: { node?: { id: string; state: string }[] } | null }
      return answer.nodes?.node?.some((node) => node.id.endsWith(`:${this.ports.nm}`) && node.state === state) === true
        ? true
        : undefined
    })
  }

  /** Stops a daemon; `rm` or `nm`. @returns its exit code, or the signal's name */
  async stopDaemon(name: 'rm' | 'nm', signal: NodeJS.Signals = 'SIGTERM'): Promise<number | string | null> {
    const child = this.#processes.get(name)
    this.#processes.delete(name)
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null
    const ended = new Promise<number | string | null>((resolve) => child.on('exit', (code, by) => resolve(code ?? by)))
    child.kill(signal)
    const insist = setTimeout(() => child.kill('SIGKILL'), 15_000)
    const code = await ended
    clearTimeout(insist)
    return code
  }

  /** Ends everything and removes the work folder; keeps it, and says where, when `keep` is true. */
  async stop(keep = false): Promise<void> {
    await this.stopDaemon('nm')
    await this.stopDaemon('rm')
    if (keep) process.stderr.write(`kept for a look: ${this.work}\n`)
    else await rm(this.work, { recursive: true, force: true })
  }

  async rm(path: string): Promise<unknown> {
    return getJson(`http://127.0.0.1:${this.ports.rmWeb}/ws/v1/cluster/${path}`)
  }

  async nm(path: string): Promise<unknown> {
    return getJson(`http://127.0.0.1:${this.ports.nmWeb}/ws/v1/node${path}`)
  }

  async application(id: string): Promise<ApplicationInfo> {
    return ((await this.rm(`apps/${id}`)) as { app: ApplicationInfo }).app
  }

  /** One of Hadoop's command-line classes, to its end. */
  async java(className: string, args: readonly string[]): Promise<Finished> {
    return finished(this.#spawn('java', [...this.#java(className, '-Xmx256m'), ...args]))
  }

  /** Hadoop's distributed shell client. */
  async distributedShell(args: readonly string[]): Promise<Finished & { application: string }> {
    const jar = `${this.#jars}/hadoop-yarn-applications-distributedshell-${shellVersions[this.version]}.jar`
    const own = ['-jar', jar, '-master_memory', '512', '-container_memory', '256']
    const client = 'org.apache.hadoop.yarn.applications.distributedshell.Client'
    const result = await this.java(client, [...own, ...args])
    const application = /Submitted application (application_\d+_\d+)/.exec(result.stderr + result.stdout)?.[1] ?? ''
    return { ...result, application }
  }

  /** `bobbin COMMAND`, to its end. */
  async bobbin(args: readonly string[]): Promise<Finished> {
    return finished(this.#spawn(process.execPath, [bobbin, ...args]))
  }

  /** Pids of every process that belongs to the application, by its environment or command line. */
  async processesOf(application: string): Promise<number[]> {
    const { readdir } = await import('node:fs/promises')
    const pattern = new RegExp(`(application|container)_(e\\d+_)?${application.slice('application_'.length)}`)
    const pids: number[] = []
    for (const name of await readdir('/proc')) {
      if (!/^\d+$/.test(name) || Number(name) === process.pid) continue
      for (const file of ['environ', 'cmdline']) {
        const text = await readFile(`/proc/${name}/${file}`, 'latin1').catch(() => '') // it has ended meanwhile
        if (pattern.test(text)) {
          pids.push(Number(name))
          break
        }
      }
    }
    return pids
  }

  /** Id of the application's container with this number, made from the first attempt's own. */
  async containerId(application: string, number: number): Promise<string> {
    const answer = (await this.rm(`apps/${application}/appattempts`)) as {
      appAttempts: { appAttempt: { id: number; containerId: string }[] }
    }
    const own = answer.appAttempts.appAttempt.find((attempt) => attempt.id === 1)?.containerId ?? ''
    return `${own.slice(0, -6)}${String(number).padStart(6, '0')}`
  }

  logFile(application: string, container: string, file: string): string {
    return join(this.work, 'nm', 'logs', application, container, file)
  }

  async daemonLog(name: 'rm' | 'nm'): Promise<string> {
    return readFile(join(this.work, 'logs', `${name}.log`), 'utf8')
  }

  #java(className: string, heap: string): string[] {
    return [...javaOptions, heap, '-cp', `${this.conf}:${this.#jars}/*`, className]
  }

  #spawn(command: string, args: readonly string[]): ChildProcess {
    return spawn(command, args, { cwd: this.work, env: this.#environment(), stdio: ['ignore', 'pipe', 'pipe'] })
  }

  #daemon(name: string, command: string, args: readonly string[]): void {
    const log = openSync(join(this.work, 'logs', `${name}.log`), 'a')
    this.#processes.set(
      name,
      spawn(command, args, { cwd: this.work, env: this.#environment(), stdio: ['ignore', log, log] }),
    )
  }

  async #mustLive(name: 'rm' | 'nm'): Promise<void> {
    const code = this.#processes.get(name)?.exitCode ?? null
    if (code !== null) throw new Over(`${name} ended with ${code}:\n${(await this.daemonLog(name)).slice(-4000)}`)
  }

  #environment(): NodeJS.ProcessEnv {
    return { ...process.env, HADOOP_CONF_DIR: this.conf, YARN_CONF_DIR: this.conf }
  }

  async #writeConfiguration(): Promise<void> {
    const { ports, work } = this
    await mkdir(this.conf, { recursive: true })
    await mkdir(join(work, 'logs'))
    const at = (port: number) => `127.0.0.1:${port}`
    await writeFile(
      join(this.conf, 'log4j.properties'),
      [
        'log4j.rootLogger=INFO,console',
        'log4j.appender.console=org.apache.log4j.ConsoleAppender',
        'log4j.appender.console.target=System.err',
        'log4j.appender.console.layout=org.apache.log4j.PatternLayout',
        'log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c: %m%n',
      ].join('\n'),
    )
    await writeXml(join(this.conf, 'core-site.xml'), {
      'fs.defaultFS': 'file:///',
      'hadoop.tmp.dir': join(work, 'tmp'),
      'ipc.client.connect.max.retries': '3',
      'ipc.client.connect.retry.interval': '500',
    })
    await writeXml(join(this.conf, 'capacity-scheduler.xml'), {
      'yarn.scheduler.capacity.root.queues': 'default',
      'yarn.scheduler.capacity.root.default.capacity': '100',
      'yarn.scheduler.capacity.maximum-am-resource-percent': '0.8',
    })
    await writeXml(join(this.conf, 'yarn-site.xml'), {
      'yarn.resourcemanager.hostname': '127.0.0.1',
      'yarn.resourcemanager.bind-host': '127.0.0.1',
      'yarn.resourcemanager.address': at(ports.rm),
      'yarn.resourcemanager.scheduler.address': at(ports.scheduler),
      'yarn.resourcemanager.resource-tracker.address': at(ports.tracker),
      'yarn.resourcemanager.admin.address': at(ports.admin),
      'yarn.resourcemanager.webapp.address': at(ports.rmWeb),
      'yarn.resourcemanager.connect.retry-interval.ms': '1000',
      'yarn.scheduler.minimum-allocation-mb': '256',
      'yarn.nodemanager.hostname': '127.0.0.1',
      'yarn.nodemanager.address': at(ports.nm),
      'yarn.nodemanager.localizer.address': '127.0.0.1:0',
      'yarn.nodemanager.webapp.address': at(ports.nmWeb),
      'yarn.nodemanager.local-dirs': join(work, 'nm', 'local'),
      'yarn.nodemanager.log-dirs': join(work, 'nm', 'logs'),
      'yarn.nodemanager.resource.memory-mb': '8192',
      'yarn.nodemanager.resource.cpu-vcores': '8',
      'yarn.nodemanager.vmem-check-enabled': 'false',
      'yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage': '99',
      'yarn.application.classpath': `${this.conf},${this.#jars}/*`,
    })
  }
}

async function getJson(url: string): Promise<unknown> {
  const response = await fetch(url, { headers: { accept: 'application/json' }, signal: AbortSignal.timeout(10_000) })
  if (!response.ok) throw new Error(`${url}: ${response.status}`)
  return response.json()
}

async function writeXml(file: string, properties: Record<string, string>): Promise<void> {
  const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  const rows = Object.entries(properties).map(
    ([name, value]) => `  <property><name>${escape(name)}</name><value>${escape(value)}</value></property>`,
  )
  await writeFile(file, `<?xml version="1.0"?>\n<configuration>\n${rows.join('\n')}\n</configuration>\n`)
}

function finished(child: ChildProcess): Promise<Finished> {
  return new Promise((resolve, reject) => {
    let stdout = ''
    let stderr = ''
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk))
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? -1, stdout, stderr }))
  })
}
