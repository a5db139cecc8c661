import { Command, Option } from 'commander'
import { createLogger } from '../base/logger.ts'
import type { Log } from '../base/log.ts'
import { addDefine } from './defines.ts'
import { parseCommand } from './parse-command.ts'

/** What every daemon command takes. */
export interface DaemonCliOptions {
  readonly confDir: string | undefined
  /** `-D key=value`, which wins over the files. */
  readonly defines: Readonly<Record<string, string>>
  readonly log: Log
}

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** What `--help` says besides the options. */
export interface HelpTexts {
  /** One sentence. */
  readonly description: string
  /** Lines as they are printed. */
  readonly details: string
}

interface Parsed {
  readonly config?: string
  readonly define: Readonly<Record<string, string>>
  readonly logLevel: (typeof LEVELS)[number]
  readonly logFormat?: 'text' | 'json'
}

/** @returns the exit code instead when there is nothing to run: help was asked for, or the command line is wrong. */
export function parseDaemonOptions(
  name: string,
  { description, details }: HelpTexts,
  argv: readonly string[],
): DaemonCliOptions | number {
  const command = new Command(`bobbin ${name}`)
    .description(description)
    .option('--config <dir>', 'folder of core-site.xml and yarn-site.xml')
    .addOption(
      new Option('-D, --define <key=value>', 'set a configuration key, over the files; may be repeated')
        .argParser(addDefine)
        .default({}, 'none'),
    )
    .addOption(new Option('--log-level <level>', 'what to log').choices(LEVELS).default('info'))
    .addOption(
      new Option('--log-format <format>', 'default: text on a terminal, json elsewhere').choices(['text', 'json']),
    )
    .helpOption('-h, --help', 'this text')
    .addHelpText('after', `\n${details}`)
    .showHelpAfterError(`('bobbin ${name} --help' tells more)`)
  const exitCode = parseCommand(command, argv)
  if (exitCode !== undefined) return exitCode
  const options = command.opts<Parsed>()
  const format = options.logFormat ?? (process.stderr.isTTY ? 'text' : 'json')
  return {
    confDir: options.config,
    defines: options.define,
    log: createLogger({ level: options.logLevel, format, fd: 2 }),
  }
}
