/**
 * Quoting for launch_container.sh, where a NodeManager puts the command between the double quotes of
 * `exec /bin/bash -c "…"` and a variable's value between those of `export NAME="…"`, both without escaping anything.
 * Before that it replaces `<LOG_DIR>`, `<CPS>`, `<ADD_OPENS>`, `{{` and `}}` wherever they stand.
 * Source: ContainerLaunch.expandEnvironment, ContainerLaunch.UnixShellScriptBuilder.
 */
import { ARGUMENT_LIMIT_BYTES, insideDoubleQuotes } from '../../base/shell-quoting.ts'
import { RunExitCode, RunError } from './exit-codes.ts'

/** The characters that begin or end what a NodeManager replaces; a pair of empty quotes after each keeps it whole. */
const MARKERS = /[{}<]/g

/** A single argument of a command line that bash reads back exactly. */
function shellWord(argument: string): string {
  const quoted = argument.replaceAll("'", String.raw`'\''`).replaceAll(MARKERS, "$&''")
  return `'${quoted}'`
}

/** A variable's value for the launch context: the process sees exactly `value`. */
export function environmentValue(value: string): string {
  return insideDoubleQuotes(value).replaceAll(MARKERS, '$&""')
}

/**
 * The launch context's command: the process gets exactly these arguments, its output goes to the files `stdout` and
 * `stderr` of the container's log directory.
 * @throws RunError when it is longer than bash could be given on a node
 */
export function launchCommand(argv: readonly string[]): string {
  // `exec` makes the program replace the shell: it gets the signals, and no builtin of bash takes its place.
  const script = `exec -- ${argv.map(shellWord).join(' ')} 1>'<LOG_DIR>/stdout' 2>'<LOG_DIR>/stderr'`
  const bytes = Buffer.byteLength(script)
  if (bytes >= ARGUMENT_LIMIT_BYTES) {
    const limit = `a node can start at most ${ARGUMENT_LIMIT_BYTES - 1} bytes`
    throw new RunError(
      RunExitCode.USAGE,
      `the command is too long: ${bytes} bytes with its quotes, ${limit}; put it into a --file`,
    )
  }
  return insideDoubleQuotes(script)
}
