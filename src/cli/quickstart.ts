/** `bobbin quickstart`: a cluster on this machine runs an application, shows it and is gone again. */
import { mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import { silentLog } from '../base/log.ts'
import { createLogger } from '../base/logger.ts'
import { buildLocalCluster, type LocalCluster } from './local-cluster.ts'
import { choosePorts, LOOPBACK, wantedPorts, type ChosenPort } from './quickstart/ports.ts'
import { QuickstartReporter } from './quickstart/reporter.ts'
import { connectionsFrom } from './run/connections.ts'
import { RunExitCode, RunError } from './run/exit-codes.ts'
import { NodeLogs } from './run/node-logs.ts'
import type { RunOptions } from './run/options.ts'
import { PrefixedOutput } from './run/output.ts'
import { runCommand } from './run/run-command.ts'
import { onStopSignals } from './signals.ts'

const CONTAINERS = 3
/** Each container says who it is, works for a moment, and ends. */
const SCRIPT = 'echo "hello from $CONTAINER_ID on $NM_HOST, process $$"; sleep 2; echo "done"'
const HTTP_TIMEOUT_MS = 10_000

interface Parsed {
  readonly keep: boolean
}

export async function quickstartCli(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const options = await parse(argv)
  if (typeof options === 'number') return options
  const work = mkdtempSync(join(tmpdir(), 'bobbin-quickstart-'))
  const begun = performance.now()
  let code = 1
  try {
    say('Bobbin quickstart: a Hadoop YARN cluster of one machine, without Hadoop.')
    say(`  work folder: ${work}`)
    code = await withCluster(work, env, demonstrate)
  } catch (thrown) {
    say(`It failed: ${messageOf(thrown)}`)
  }
  const keeps = options.keep || code !== 0
  if (!keeps) rmSync(work, { recursive: true, force: true })
  say('')
  say(
    keeps
      ? `Everything is stopped. Logs and files are in ${work}`
      : 'Everything is stopped, and nothing is left behind.',
  )
  say(`${code === 0 ? 'It works' : 'Something is wrong'}: ${((performance.now() - begun) / 1000).toFixed(1)} s.`)
  if (code === 0) say("Next: 'npm start' keeps such a cluster running; README.md tells how to join a real one.")
  return code
}

async function parse(argv: readonly string[]): Promise<Parsed | number> {
  const { Command, CommanderError } = await import('commander')
  const command = new Command('bobbin quickstart')
    .description('Starts a cluster on this machine, runs an application in containers, shows it, and stops everything.')
    .option('--keep', 'keep the work folder, with logs and the files of the containers', false)
    .exitOverride()
  try {
    return command.parse(argv, { from: 'user' }).opts<Parsed>()
  } catch (thrown) {
    // It has printed its help or its complaint already.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2
    throw thrown
  }
}

async function withCluster(
  work: string,
  env: NodeJS.ProcessEnv,
  use: (cluster: LocalCluster, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const logFile = join(work, 'bobbin.log')
  const ports = await choosePorts(wantedPorts)
  for (const { key, usual, port } of ports) {
    if (port !== usual) say(`  port ${usual} (${key}) is taken: ${port} instead`)
  }
  const log = createLogger({ level: 'info', format: 'text', fd: openSync(logFile, 'a') })
  const cluster = await buildLocalCluster({ confDir: undefined, defines: defines(work, ports), env, log })
  const stopping = new AbortController()
  onStopSignals(['SIGINT', 'SIGTERM'], {
    stop: () => stopping.abort(new RunError(RunExitCode.INTERRUPTED, 'told to stop')),
  })
  try {
    say('')
    say('1. Starting the ResourceManager and the NodeManager')
    const begun = performance.now()
    await cluster.service.start(stopping.signal)
    say(`   up in ${Math.round(performance.now() - begun)} ms, pid ${process.pid}`)
    say(`   ResourceManager ${cluster.resourceManagerUrl()}`)
    say(`   NodeManager     ${cluster.nodeManagerUrl()}`)
    return await use(cluster, stopping.signal)
  } finally {
    say('')
    say('4. Stopping')
    await cluster.service.stop()
  }
}

function defines(work: string, ports: readonly ChosenPort[]): Record<string, string> {
  const addresses = ports.map(({ key, port }) => [key, `${LOOPBACK}:${port}`])
  return {
    ...Object.fromEntries(addresses),
    'bobbin.work.dir': work,
    'yarn.nodemanager.resource.cpu-vcores': String(CONTAINERS + 1),
  }
}

async function demonstrate(cluster: LocalCluster, signal: AbortSignal): Promise<number> {
  say('')
  say(`2. Running an application of ${CONTAINERS} containers`)
  say(`   bobbin run --containers ${CONTAINERS} --memory 64 -- sh -c '${SCRIPT}'`)
  const { username: user } = userInfo()
  const options: RunOptions = {
    command: ['sh', '-c', SCRIPT],
    containers: CONTAINERS,
    resource: { memoryMb: 64, vcores: 1 },
    files: [],
    environment: new Map(),
    name: 'quickstart',
    queue: 'default',
    user,
    timeoutMs: 60_000,
  }
  const print = async (bytes: Buffer): Promise<void> => {
    for (const line of bytes.toString().trimEnd().split('\n')) say(`   | ${line}`)
  }
  const reporter = new QuickstartReporter(say, () => showNode(cluster))
  const code = await runCommand(options, {
    connections: connectionsFrom(cluster.configuration, { user, clock: systemClock, log: silentLog }),
    logs: new NodeLogs({ user, timeoutMs: HTTP_TIMEOUT_MS }),
    output: new PrefixedOutput({ stdout: print, stderr: print }),
    reporter,
    clock: systemClock,
    signal,
  })
  await reporter.shown
  return code
}

interface ContainersAnswer {
  readonly containers: {
    readonly container?: readonly {
      readonly id: string
      readonly state: string
      readonly totalMemoryNeededMB: number
    }[]
  }
}

interface NodeAnswer {
  readonly nodeInfo: {
    readonly id: string
    readonly nodeHealthy: boolean
    readonly totalPmemAllocatedContainersMB: number
    readonly totalVCoresAllocatedContainers: number
  }
}

/** The REST view of the node, while the containers run. */
async function showNode(cluster: LocalCluster): Promise<void> {
  const url = cluster.nodeManagerUrl()
  const { nodeInfo } = (await get(url)) as NodeAnswer
  const { containers } = (await get(`${url}/containers`)) as ContainersAnswer
  say('')
  say(`3. What the node says of itself meanwhile: GET ${url}`)
  say(
    `   node ${nodeInfo.id}, ${nodeInfo.nodeHealthy ? 'healthy' : 'unhealthy'}, offers ` +
      `${nodeInfo.totalPmemAllocatedContainersMB} MB and ${nodeInfo.totalVCoresAllocatedContainers} vcores`,
  )
  say(`   GET ${url}/containers`)
  for (const { id, state, totalMemoryNeededMB } of containers.container ?? [])
    say(`   ${id}  ${state}  ${totalMemoryNeededMB} MB`)
  say('')
}

async function get(url: string): Promise<unknown> {
  const response = await fetch(url, { signal: AbortSignal.timeout(HTTP_TIMEOUT_MS) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return response.json()
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
