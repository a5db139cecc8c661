/** The command line of `bobbin run`. */
import { systemClock } from '../base/clock.ts'
import { BobbinError, messageOf } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { loadConfiguration } from '../config/load.ts'
import { connectionsFrom } from './run/connections.ts'
import { RunExitCode, RunError } from './run/exit-codes.ts'
import { NodeLogs, type Write } from './run/node-logs.ts'
import { parseArguments, type ParsedRun } from './run/options.ts'
import { PrefixedOutput, RawOutput } from './run/output.ts'
import { LineReporter } from './run/report.ts'
import { runCommand, type Connections } from './run/run-command.ts'
import { onStopSignals } from './signals.ts'

/** How long a node's web server may stay silent, milliseconds. */
const LOG_TIMEOUT_MS = 30_000

const SIGNALLED = {
  SIGHUP: RunExitCode.HUNG_UP,
  SIGINT: RunExitCode.INTERRUPTED,
  SIGTERM: RunExitCode.TERMINATED,
} as const

/** @param argv what follows `bobbin run`; @returns the exit code, which its --help explains */
export async function runCli(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const parsed = parseArguments(argv, env, {
    writeOut: (text) => process.stdout.write(text),
    writeErr: (text) => process.stderr.write(text),
  })
  if (parsed.kind === 'exit') return parsed.exitCode
  const interruption = new AbortController()
  const forget = onStopSignals(['SIGHUP', 'SIGINT', 'SIGTERM'], {
    stop: (signal) => interruption.abort(new RunError(SIGNALLED[signal], `ended by ${signal}`)),
  })
  try {
    return await run(parsed, env, interruption.signal)
  } catch (thrown) {
    if (!(thrown instanceof RunError)) throw thrown
    sayLine(`bobbin run: ${thrown.message}`)
    return thrown.exitCode
  } finally {
    forget()
  }
}

async function run({ options, ...parsed }: ParsedRun, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<number> {
  const reporter = new LineReporter(sayLine)
  const connections = await connect(parsed, options.user, env, reporter)
  const streams = { stdout: writer(process.stdout), stderr: writer(process.stderr) }
  return await runCommand(options, {
    connections,
    logs: new NodeLogs({ user: options.user, timeoutMs: LOG_TIMEOUT_MS }),
    output: options.containers === 1 ? new RawOutput(streams) : new PrefixedOutput(streams),
    reporter,
    clock: systemClock,
    signal,
  })
}

async function connect(
  { configDirectory, defines }: Omit<ParsedRun, 'options'>,
  user: string,
  env: NodeJS.ProcessEnv,
  reporter: LineReporter,
): Promise<Connections> {
  try {
    const { configuration, confDir } = await loadConfiguration({ confDir: configDirectory, env, defines })
    if (confDir === undefined)
      reporter.warned('no configuration folder (--config, YARN_CONF_DIR, HADOOP_CONF_DIR): using defaults')
    return connectionsFrom(configuration, { user, clock: systemClock, log: connectionLog(reporter) })
  } catch (thrown) {
    if (!(thrown instanceof BobbinError)) throw thrown
    throw new RunError(RunExitCode.USAGE, `the configuration can not be used: ${thrown.message}`, thrown)
  }
}

function sayLine(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** Waits until the stream has taken the bytes, so that a slow reader slows the copying down. */
function writer(stream: NodeJS.WriteStream): Write {
  // Each write tells its own failure; without a listener the stream would throw it a second time.
  stream.on('error', () => {})
  return (bytes) =>
    new Promise((resolve, reject) => {
      stream.write(bytes, (error) => {
        if (error === null || error === undefined) resolve()
        else reject(new RunError(RunExitCode.ERROR, `the output can not be written: ${messageOf(error)}`, error))
      })
    })
}

/** Attempts to connect that failed and are repeated; those that differ only in their count are told once. */
function connectionLog(reporter: LineReporter): Log {
  const told = new Set<string>()
  const say = (first: unknown, second?: unknown): void => {
    const text = String(second ?? first)
    const kind = text.replaceAll(/\d+ (time|ms)/g, '')
    if (!told.has(kind)) reporter.warned(text)
    told.add(kind)
  }
  const ignore = (): void => {}
  const log: Log = {
    debug: ignore,
    info: say,
    warn: say,
    error: say,
    fatal: say,
    child: () => log,
    isLevelEnabled: () => true,
  }
  return log
}
