import { CommanderError, type Command } from 'commander'

/** Exit code for a wrong command line, of every command. */
const USAGE_EXIT_CODE = 2

/**
 * Reads a command's own arguments.
 * @returns the exit code when there is nothing to run: help was asked for (0), or the command line is wrong; commander has
 *   printed its help or its complaint by then
 */
export function parseCommand(command: Command, argv: readonly string[]): 0 | typeof USAGE_EXIT_CODE | undefined {
  try {
    command.exitOverride().parse(argv, { from: 'user' })
    return undefined
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown
    return thrown.exitCode === 0 ? 0 : USAGE_EXIT_CODE
  }
}
