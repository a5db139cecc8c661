/** What a failed container's diagnostics say. Source: ContainerLaunch.handleContainerExitWithFailure, DefaultContainerExecutor. */
import { constants, lstat, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { asError, BobbinError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { LaunchConfig } from '../../config/node-manager-config.ts'
import type { LaunchOutcome } from '../../executors/executor.ts'
import { isKilledExitCode } from '../../executors/exit-code.ts'
import { readTail } from '../../executors/read-tail.ts'
import type { ContainerId } from '../../protocol/ids.ts'

export type StderrOptions = Pick<LaunchConfig, 'stderrTailBytes' | 'stderrPattern'>

const PRELAUNCH_ERRORS = 'prelaunch.err'

/** What the executor tells of a start script that failed; undefined when it did not. */
export function executorDiagnostics(id: ContainerId, outcome: LaunchOutcome): string | undefined {
  const { exitCode, stdout, stderr } = outcome
  if (exitCode === 0) return undefined
  if (isKilledExitCode(exitCode)) return `Container killed on request. Exit code is ${exitCode}`
  return [
    'Exception from container-launch.\n',
    `Container id: ${id}\n`,
    `Exit code: ${exitCode}\n`,
    stderr === '' ? '' : `Exception message: ${stderr}\n`,
    stdout === '' ? '' : `Shell output: ${stdout}\n`,
  ].join('')
}

/** The first words of every failure; a container that was killed gets no more. */
export function exitText(exitCode: number): string {
  return `Container exited with a non-zero exit code ${exitCode}. `
}

/** Never rejects: a log that cannot be read is left out, and said so in the log. */
export async function failureText(exitCode: number, logDir: string, options: StderrOptions, log: Log): Promise<string> {
  const parts = [exitText(exitCode)]
  for (const part of [prelaunchErrors, containerErrors]) {
    try {
      parts.push(await part(logDir, options))
    } catch (thrown) {
      log.error({ err: asError(thrown) }, `Failed to get tail of the container's error log file in ${logDir}`)
    }
  }
  return parts.join('')
}

async function prelaunchErrors(logDir: string, { stderrTailBytes }: StderrOptions): Promise<string> {
  const tail = await tailOf(join(logDir, PRELAUNCH_ERRORS), stderrTailBytes)
  return `Error file: ${PRELAUNCH_ERRORS}.\n${tailText(PRELAUNCH_ERRORS, stderrTailBytes, tail)}`
}

/** Of the newest file that looks like the container's stderr. */
async function containerErrors(logDir: string, { stderrTailBytes, stderrPattern }: StderrOptions): Promise<string> {
  const matches = globMatcher(stderrPattern)
  const names = (await readdir(logDir)).filter(matches).sort()
  const [only] = names
  if (only === undefined) return ''
  const newest = names.length === 1 ? only : await newestOf(logDir, names)
  const listing = names.length === 1 ? '' : `Error files: ${names.join(', ')}.\n`
  const tail = await tailOf(join(logDir, newest), stderrTailBytes)
  return `${listing}${tailText(newest, stderrTailBytes, tail)}\n${mapReduceHint(tail)}`
}

async function newestOf(logDir: string, names: readonly string[]): Promise<string> {
  const files = await Promise.all(
    names.map(async (name) => ({ name, time: (await lstat(join(logDir, name))).mtimeMs })),
  )
  return files.reduce((newest, file) => (file.time > newest.time ? file : newest)).name
}

/** The number is the configured one, however short the file is. */
function tailText(name: string, bytes: number, tail: string): string {
  return `Last ${bytes} bytes of ${name} :\n${tail}`
}

/** The directory is the container's: a link out of it is not followed, and a FIFO would never end. */
async function tailOf(path: string, bytes: number): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    if (!(await file.stat()).isFile())
      throw new BobbinError('ERR_NO_FILE', `${path} is not a file: its end cannot be shown`)
    return await readTail(file, bytes)
  } finally {
    await file.close()
  }
}

/** Hadoop's globs as far as names of log files need them: `*`, `?`, `[…]` and `{a,b}`. */
function globMatcher(pattern: string): (name: string) => boolean {
  let source = ''
  for (let i = 0, braces = 0; i < pattern.length; i++) {
    const c = pattern[i] ?? ''
    if (c === '*') source += '.*'
    else if (c === '?') source += '.'
    else if (c === '{') {
      braces++
      source += '(?:'
    } else if (c === '}' && braces > 0) {
      braces--
      source += ')'
    } else if (c === ',' && braces > 0) source += '|'
    else if (c === '[' && pattern.indexOf(']', i) > i) {
      const end = pattern.indexOf(']', i)
      source += pattern.slice(i, end + 1).replaceAll('\\', '\\\\')
      i = end
    } else source += c.replace(/[\\^$.+()|[\]{}]/, '\\$&')
  }
  const expression = new RegExp(`^(?:${source})$`, 's')
  return (name) => expression.test(name)
}

function mapReduceHint(tail: string): string {
  if (!tail.includes('Error: Could not find or load main class org.apache.hadoop.mapreduce')) return ''
  const property = (name: string) =>
    `<property>\n  <name>${name}</name>\n` +
    '  <value>HADOOP_MAPRED_HOME=${full path of your hadoop distribution directory}</value>\n</property>\n'
  return (
    'Please check whether your <HADOOP_HOME>/etc/hadoop/mapred-site.xml contains the below configuration:\n' +
    ['yarn.app.mapreduce.am.env', 'mapreduce.map.env', 'mapreduce.reduce.env'].map(property).join('')
  )
}
