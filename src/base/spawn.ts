import { constants } from 'node:os'
import { BobbinError, messageOf } from './errors.ts'

export interface DetachedProcess {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  /** The whole environment: nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>
  /** Open descriptors; a pipe would break, and the process with it, when the daemon dies. */
  readonly stdout: number
  readonly stderr: number
  /** Aborted before the program has its turn: it is not started. */
  readonly cancel: AbortSignal
}

/** Resolves when the next program may be started. */
let turn: Promise<void> = Promise.resolve()

/** A start holds the event loop for milliseconds, so of many at once each waits for a pass of the loop of its own. */
function nextTurn(): Promise<void> {
  turn = turn.then(() => new Promise((resolve) => setImmediate(resolve)))
  return turn
}

/**
 * Runs a program in a session of its own, so that it lives on when the daemon dies.
 * @returns the exit code when it has ended; 128+n when it was ended by signal n; undefined when it was cancelled
 * @throws BobbinError ERR_SPAWN when it could not be started
 */
export async function runDetached(program: DetachedProcess): Promise<number | undefined> {
  // Loaded when the first process is started: it would be a fifth of the daemon's start.
  const { execa } = await import('execa')
  await nextTurn()
  if (program.cancel.aborted) return undefined
  const result = await execa(program.file, program.args, {
    cwd: program.cwd,
    env: program.environment,
    extendEnv: false,
    stdin: 'ignore',
    // execa's types stop at 9; any open descriptor is passed on as it is.
    stdout: program.stdout as 9,
    stderr: program.stderr as 9,
    buffer: false,
    detached: true,
    cleanup: false,
    reject: false,
  })
  if (result.exitCode !== undefined) return result.exitCode
  if (result.signal !== undefined) return 128 + constants.signals[result.signal]
  throw new BobbinError('ERR_SPAWN', `Cannot start ${program.file}: ${messageOf(result.cause)}`, result.cause)
}
