import { constants } from 'node:os'
import { asError, BobbinError, Bug, messageOf } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Service } from '../base/service.ts'
import { releaseYoungGeneration } from '../base/young-generation.ts'
import { version } from '../project.ts'
import { exitCodeOfSignal, onStopSignals, type StopSignal } from './signals.ts'

/**
 * Exit codes of a daemon, the Java NodeManager's. An unreachable ResourceManager has a key of its own,
 * `bobbin.rm-unreachable-exit-code`. Source: NodeManager, ExitUtil; operations.md.
 */
export const DaemonExitCode = {
  ORDERED: 0,
  /** A registration after a RESYNC was refused. Java: NodeManagerStatus.EXCEPTION. */
  REFUSED: 1,
  FAILED: 255,
} as const

export interface DaemonOptions {
  /** As Hadoop's log lines name it: `NodeManager`. */
  readonly title: string
  readonly host: string
  /** The folder of the configuration. */
  readonly confDir: string | undefined
  readonly service: Service
  /** Resolves with an exit code when the service itself decides that it is over; never rejects. */
  readonly over: Promise<number>
  readonly log: Log
  /** Called once everything is up. */
  readonly onStarted?: () => void
}

/** Starts the service, runs it until a signal or its own end, stops it. Resolves with the exit code of the process. */
export async function runDaemon(options: DaemonOptions): Promise<number> {
  const { title, host, service, over, log } = options
  const abort = new AbortController()
  const signalled = onSignal(log, () => abort.abort(new Stopped('told to stop')))
  endOnBug(log)
  const versions = `Bobbin ${version}, Node.js ${process.versions.node}`
  const folder = options.confDir ?? 'no configuration folder'
  log.info(`STARTUP_MSG: Starting ${title} on ${host}, pid ${process.pid}, ${versions}, ${folder}`)
  let code: number
  try {
    await service.start(abort.signal)
    releaseYoungGeneration()
    options.onStarted?.()
    code = await Promise.race([over, signalled])
  } catch (thrown) {
    const isStopped = abort.signal.aborted && abort.signal.reason instanceof Stopped
    code = isStopped ? await signalled : DaemonExitCode.FAILED
    if (!isStopped) failedToStart(title, thrown, log)
  }
  await service.stop()
  log.info(`SHUTDOWN_MSG: Shutting down ${title} at ${host}`)
  return code
}

/** Says why; what the operator has to mend (a BobbinError) needs no stack. @returns the exit code */
export function failedToStart(title: string, thrown: unknown, log: Log): number {
  const details = thrown instanceof BobbinError ? { code: thrown.code } : { err: asError(thrown) }
  log.error(details, `Error starting ${title}: ${messageOf(thrown)}`)
  return DaemonExitCode.FAILED
}

class Stopped extends Error {}

/** Resolves with 128+n at the first signal. */
function onSignal(log: Log, first: () => void): Promise<number> {
  const tell = (signal: StopSignal): void => log.error(`RECEIVED SIGNAL ${constants.signals[signal]}: ${signal}`)
  return new Promise((resolve) => {
    onStopSignals(['SIGTERM', 'SIGINT', 'SIGHUP'], {
      stop: (signal) => {
        tell(signal)
        first()
        resolve(exitCodeOfSignal(signal))
      },
      end: tell,
    })
  })
}

/** A broken invariant, or anything else that nobody caught, ends the process: the supervisor starts a sound one. */
function endOnBug(log: Log): void {
  const end = (thrown: unknown) => {
    const what = thrown instanceof Bug ? 'a broken invariant' : 'an error that nobody caught'
    log.fatal({ err: asError(thrown) }, `ending because of ${what}: ${messageOf(thrown)}`)
    process.exit(DaemonExitCode.FAILED)
  }
  process.on('uncaughtException', end)
  process.on('unhandledRejection', end)
}
