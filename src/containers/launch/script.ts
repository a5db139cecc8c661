/** The text of launch_container.sh, line by line as Hadoop's. Source: ContainerExecutor.writeLaunchEnv, UnixShellScriptBuilder. */
import { posix } from 'node:path'
import { ARGUMENT_LIMIT_BYTES, bareOrQuoted, doubleQuoted, insideDoubleQuotes } from '../../base/shell-quoting.ts'
import type { LaunchEnvironment, Variable } from './environment.ts'
import type { Link } from './links.ts'
import { LaunchRefusal } from './refusal.ts'
import { isOneWord } from './shell-word.ts'

export interface ScriptParts {
  readonly logDir: string
  readonly environment: LaunchEnvironment
  readonly links: readonly Link[]
  /** Expanded; joined by blanks into one command line. */
  readonly commands: readonly string[]
  readonly hasDebugInfo: boolean
}

/** From here on the command goes through a file: the shell's own expansion may lengthen it on its way to exec. */
const INLINE_COMMAND_LIMIT = 98_304
const COMMAND_FILE = 'launch_command.sh'

/** What bash ends with when a program's arguments are too long, and when a name is none. */
const TOO_LONG = 126
const NOT_A_NAME = 1

/** @throws LaunchRefusal naming the variable that the script could not set */
export function launchScript(parts: ScriptParts): string {
  const lines = [
    '#!/bin/bash',
    '',
    'set -o pipefail -e',
    `export PRELAUNCH_OUT=${doubleQuoted(`${parts.logDir}/prelaunch.out`)}`,
    'exec >"${PRELAUNCH_OUT}"',
    `export PRELAUNCH_ERR=${doubleQuoted(`${parts.logDir}/prelaunch.err`)}`,
    'exec 2>"${PRELAUNCH_ERR}"',
    ...environmentLines(parts.environment),
    'echo "Setting up job resources"',
    ...parts.links.flatMap(linkLines),
    ...(parts.hasDebugInfo ? debugLines(parts.logDir) : []),
    'echo "Launching container"',
    ...commandLines(parts.commands.join(' ')),
  ]
  return `${lines.join('\n')}\n`
}

function environmentLines({ whitelisted, ofNode, ofContainer }: LaunchEnvironment): string[] {
  return [
    'echo "Setting up env variables"',
    // The daemon's own values are taken as they are.
    ...whitelisted
      .filter(([name]) => isName(name))
      .map(([name, value]) => `export ${name}=\${${name}:-${doubleQuoted(value)}}`),
    ...[...ofNode, ...ofContainer].map(exportLine),
  ]
}

/**
 * The value stands raw inside its quotes: what acts in it acts. One that would break out of them, or leave one open, is
 * taken as it was given.
 */
function exportLine([name, value]: Variable): string {
  if (!isName(name))
    throw new LaunchRefusal(
      `Environment variable '${name}': not a valid identifier; a shell's names are letters, digits and _, not beginning with a digit`,
      NOT_A_NAME,
    )
  if (value.includes('\0'))
    throw new LaunchRefusal(
      `Environment variable ${name}: the value has a NUL byte, which no environment can hold`,
      NOT_A_NAME,
    )
  const bytes = Buffer.byteLength(value) + name.length + 2
  if (bytes > ARGUMENT_LIMIT_BYTES)
    throw new LaunchRefusal(
      `Environment variable ${name}: Argument list too long: ${bytes} bytes with name and end, and Linux takes ` +
        `${ARGUMENT_LIMIT_BYTES}; localize the value as a file`,
      TOO_LONG,
    )
  return `export ${name}="${isOneWord(value) ? value : insideDoubleQuotes(value)}"`
}

function isName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
}

function linkLines({ target, name }: Link): string[] {
  const link = `ln -sf -- ${doubleQuoted(target)} ${doubleQuoted(name)}`
  if (!name.includes('/')) return [link]
  const parent = posix.dirname(name)
  return [`mkdir -p ${parent.startsWith('-') ? '-- ' : ''}${bareOrQuoted(parent)}`, link]
}

function debugLines(logDir: string): string[] {
  const copy = doubleQuoted(`${logDir}/launch_container.sh`)
  const listing = doubleQuoted(`${logDir}/directory.info`)
  return [
    'echo "Copying debugging information"',
    '# Creating copy of launch script',
    `cp "launch_container.sh" ${copy}`,
    `chmod 640 ${copy}`,
    '# Determining directory contents',
    `echo "ls -l:" 1>${listing}`,
    `ls -l 1>>${listing}`,
    `echo "find -L . -maxdepth 5 -ls:" 1>>${listing}`,
    `find -L . -maxdepth 5 -ls 1>>${listing}`,
    `echo "broken symlinks(find -L . -maxdepth 5 -type l -ls):" 1>>${listing}`,
    `find -L . -maxdepth 5 -type l -ls 1>>${listing}`,
  ]
}

/** Raw inside double quotes, and so expanded twice: by the script and by the shell that runs it. */
function commandLines(command: string): string[] {
  if (Buffer.byteLength(command) <= INLINE_COMMAND_LIMIT) return [`exec /bin/bash -c "${command}"`]
  // An argument may not be this long. `printf` is the shell's own and has no limit.
  return [`printf '%s\\n' "${command}" >${COMMAND_FILE}`, `exec /bin/bash ${COMMAND_FILE}`]
}
