/** `bobbin quickstart`: a cluster on this machine runs an application, shows it and is gone again. */
import { openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { systemClock } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import { silentLog, type Log } from '../base/log.ts'
import { createLogger } from '../base/logger.ts'
import { buildLocalCluster, type LocalCluster } from './local-cluster.ts'
import { parseCommand } from './parse-command.ts'
import { anyPorts, choosePorts, isPortTaken, LOOPBACK, wantedPorts, type ChosenPort } from './quickstart/ports.ts'
import { QuickstartReporter } from './quickstart/reporter.ts'
import { connectionsFrom } from './run/connections.ts'
import { RunExitCode, RunError } from './run/exit-codes.ts'
import { NodeLogs } from './run/node-logs.ts'
import type { RunOptions } from './run/options.ts'
import { PrefixedOutput } from './run/output.ts'
import { runCommand } from './run/run-command.ts'
import { exitCodeOfSignal, onStopSignals } from './signals.ts'

const CONTAINERS = 3
/** Each container says who it is, works for a moment, and ends. */
const SCRIPT = 'echo "hello from $CONTAINER_ID on $NM_HOST, process $$"; sleep 2; echo "done"'
const HTTP_TIMEOUT_MS = 10_000
/** How long the node's view is waited for to show all containers RUNNING; less than they run. */
const START_PATIENCE_MS = 1500
const POLL_INTERVAL_MS = 50

interface Parsed {
  readonly keep?: boolean
}

export async function quickstartCli(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const options = parse(argv)
  if (typeof options === 'number') return options
  const interruption = new AbortController()
  let interrupted: number | undefined
  const interrupt = (code: number, why: string): void => {
    interrupted ??= code
    interruption.abort(new RunError(RunExitCode.ERROR, why))
  }
  onStopSignals(['SIGINT', 'SIGTERM', 'SIGHUP'], {
    stop: (signal) => interrupt(exitCodeOfSignal(signal), `ended by ${signal}`),
  })
  // A reader that has gone, such as head(1): what was started is stopped nevertheless.
  process.stdout.on('error', (error) => interrupt(RunExitCode.ERROR, `the output can not be written: ${error.message}`))
  const begun = performance.now()
  let work: string | undefined
  let code: number
  try {
    say('Bobbin quickstart: a Hadoop YARN cluster of one machine, without Hadoop.')
    work = await mkdtemp(join(tmpdir(), 'bobbin-quickstart-'))
    say(`  work folder: ${work}`)
    code = await withCluster(work, env, interruption.signal, demonstrate)
  } catch (thrown) {
    code = RunExitCode.FAILURE
    say(interrupted === undefined ? `It failed: ${messageOf(thrown)}` : `Interrupted: ${messageOf(thrown)}`)
  }
  const keeps = options.keep === true || (code !== 0 && interrupted === undefined)
  if (work !== undefined && !keeps) await rm(work, { recursive: true, force: true, maxRetries: 3 })
  say('')
  say(
    keeps && work !== undefined
      ? `Everything is stopped. Logs and files are in ${work}`
      : 'Everything is stopped, and nothing is left behind.',
  )
  if (interrupted !== undefined) return interrupted
  say(`${code === 0 ? 'It works' : 'Something is wrong'}: ${((performance.now() - begun) / 1000).toFixed(1)} s.`)
  if (code === 0) say("Next: 'npm start' keeps such a cluster running; README.md tells how to join a real one.")
  return code
}

function parse(argv: readonly string[]): Parsed | number {
  const command = new Command('bobbin quickstart')
    .description('Starts a cluster on this machine, runs an application in containers, shows it, and stops everything.')
    .option('--keep', 'keep the work folder, with logs and the files of the containers')
    .helpOption('-h, --help', 'this text')
    .showHelpAfterError("('bobbin quickstart --help' tells more)")
  return parseCommand(command, argv) ?? command.opts<Parsed>()
}

async function withCluster(
  work: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  use: (cluster: LocalCluster, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const log = createLogger({ level: 'info', format: 'text', fd: openSync(join(work, 'bobbin.log'), 'a') })
  const cluster = await startCluster(work, env, log, signal)
  try {
    return await use(cluster, signal)
  } finally {
    say('')
    say('4. Stopping')
    await cluster.service.stop()
  }
}

async function startCluster(
  work: string,
  env: NodeJS.ProcessEnv,
  log: Log,
  signal: AbortSignal,
): Promise<LocalCluster> {
  const ports = await choosePorts(wantedPorts)
  for (const { key, usual, port } of ports) {
    if (port !== usual) say(`  port ${usual} (${key}) is taken: ${port} instead`)
  }
  say('')
  say('1. Starting the ResourceManager and the NodeManager')
  const start = async (chosen: readonly ChosenPort[]): Promise<LocalCluster> => {
    const cluster = await buildLocalCluster({ confDir: undefined, defines: defines(work, chosen), env, log })
    try {
      await cluster.service.start(signal)
      return cluster
    } catch (thrown) {
      await cluster.service.stop()
      throw thrown
    }
  }
  const begun = performance.now()
  const cluster = await start(ports).catch(async (thrown: unknown) => {
    // Another quickstart that began at the same time, most likely.
    if (!isPortTaken(thrown)) throw thrown
    say(`   ${messageOf(thrown)}: other ports instead`)
    return start(await anyPorts(wantedPorts))
  })
  say(`   up in ${Math.round(performance.now() - begun)} ms, pid ${process.pid}`)
  say(`   ResourceManager ${cluster.resourceManagerUrl()}`)
  say(`   NodeManager     ${cluster.nodeManagerUrl()}`)
  return cluster
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

interface ContainerAnswer {
  readonly id: string
  readonly state: string
  readonly totalMemoryNeededMB: number
}

interface ContainersAnswer {
  readonly containers: { readonly container?: readonly ContainerAnswer[] }
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
  const containers = await runningContainers(url)
  say('')
  say(`3. What the node says of itself meanwhile: GET ${url}`)
  say(
    `   node ${nodeInfo.id}, ${nodeInfo.nodeHealthy ? 'healthy' : 'unhealthy'}, offers ` +
      `${nodeInfo.totalPmemAllocatedContainersMB} MB and ${nodeInfo.totalVCoresAllocatedContainers} vcores`,
  )
  say(`   GET ${url}/containers`)
  for (const { id, state, totalMemoryNeededMB } of containers) say(`   ${id}  ${state}  ${totalMemoryNeededMB} MB`)
  say('')
}

/** What the node lists once all of it runs, or after a moment. */
async function runningContainers(url: string): Promise<readonly ContainerAnswer[]> {
  const deadline = performance.now() + START_PATIENCE_MS
  for (;;) {
    const { containers } = (await get(`${url}/containers`)) as ContainersAnswer
    const listed = containers.container ?? []
    if (listed.every(({ state }) => state === 'RUNNING') || performance.now() > deadline) return listed
    await systemClock.sleep(POLL_INTERVAL_MS)
  }
}

async function get(url: string): Promise<unknown> {
  const response = await fetch(url, { signal: AbortSignal.timeout(HTTP_TIMEOUT_MS) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return response.json()
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
