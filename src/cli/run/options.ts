/** What `bobbin run` is asked to do, and its reading from the command line. */
import { userInfo } from 'node:os'
import { basename } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import type { Resource } from '../../protocol/resource.ts'
import { addDefine } from '../defines.ts'
import { parseCommand } from '../parse-command.ts'
import type { RunExitCode } from './exit-codes.ts'

export interface RunOptions {
  /** The program and its arguments; at least one. */
  readonly command: readonly string[]
  readonly containers: number
  /** Of each container. */
  readonly resource: Resource
  /** Paths of files that each container gets under their base names; they must exist at the same path on the nodes. */
  readonly files: readonly string[]
  readonly environment: ReadonlyMap<string, string>
  readonly name: string
  readonly queue: string
  /** Who submits, as long as the cluster runs without Kerberos. */
  readonly user: string
  /** From now to the end of the application; undefined: no limit. */
  readonly timeoutMs: number | undefined
}

export interface ParsedRun {
  readonly options: RunOptions
  readonly configDirectory: string | undefined
  /** `-D key=value`, over the configuration's files. */
  readonly defines: Readonly<Record<string, string>>
}

export type ParsedArguments =
  | ({ readonly kind: 'run' } & ParsedRun)
  /** Help was asked for, or the arguments are wrong; everything has been written. */
  | { readonly kind: 'exit'; readonly exitCode: RunExitCode }

export interface ArgumentOutput {
  readonly writeOut: (text: string) => void
  readonly writeErr: (text: string) => void
}

interface RawOptions {
  readonly containers: number
  readonly memory: number
  readonly vcores: number
  readonly file: readonly string[]
  readonly env: ReadonlyMap<string, string>
  readonly name?: string
  readonly queue: string
  readonly user?: string
  readonly timeout?: number
  readonly config?: string
  readonly define: Readonly<Record<string, string>>
}

const HELP = `
The command runs in each container's work directory. Its arguments and the values of --env reach it unchanged: no
shell expands them on the node. For a shell, say so: -- sh -c '…'.
This process is the application's master: it talks to the ResourceManager and directly to the nodes that run the
containers (container port and web port), and the application ends when it ends.

Output: what the containers write to stdout and stderr goes to stdout and stderr here, each line with its container
in front when there are several. Progress goes to stderr.

Exit code:
  0        every container ended with 0
  1-255    a single container: the command's own exit code
  1        several containers, and one of them failed; or YARN ended it (status below 0, such as -104: over its memory)
  2        wrong options, files or configuration
  121      the ResourceManager can not be reached, as long as yarn.resourcemanager.connect.max-wait.ms lets it try
  122      the ResourceManager refused the application or failed it
  123      the application was killed by someone else
  124      --timeout was reached; the application has been killed
  125      a node or its log files can not be reached, or another error
  129,130,143  ended by SIGHUP, SIGINT, SIGTERM; the application has been killed

Examples:
  $ bobbin run -- hostname
  $ bobbin run --containers 4 --memory 2048 --vcores 2 -- sh -c 'echo $CONTAINER_ID on $NM_HOST'
  $ bobbin run --file job.py --env MODE=fast --timeout 600 -- python3 job.py --input /data/in.csv
`

/** @param argv what follows `bobbin run` */
export function parseArguments(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  output: ArgumentOutput,
): ParsedArguments {
  const command = declare(env).configureOutput(output)
  const exitCode = parseCommand(command, argv)
  if (exitCode !== undefined) return { kind: 'exit', exitCode }
  const raw = command.opts<RawOptions>()
  const options = toOptions(raw, command.args, env)
  return { kind: 'run', options, configDirectory: raw.config, defines: raw.define }
}

function declare(env: NodeJS.ProcessEnv): Command {
  return new Command('bobbin run')
    .description('Runs a command in containers of a YARN cluster, prints its output and ends with its result.')
    .usage('[options] -- COMMAND [ARG...]')
    .argument('<command...>', 'the program and its arguments')
    .addOption(count('-n, --containers <N>', 'how many containers', 10_000).default(1))
    .addOption(count('-m, --memory <MB>', 'memory of each container, MB').default(1024))
    .addOption(count('-c, --vcores <N>', 'virtual cores of each container', 2 ** 31 - 1).default(1))
    .addOption(
      new Option('-f, --file <PATH>', 'a file for the work directory, from the same path on the nodes; may be repeated')
        .argParser(readFile)
        .default([], 'none'),
    )
    .addOption(
      new Option('-e, --env <K=V>', 'an environment variable; may be repeated')
        .argParser(readVariable)
        .default(new Map(), 'none'),
    )
    .option('--name <NAME>', "the application's name (default: the program's)")
    .option('--queue <QUEUE>', 'where to submit', 'default')
    .option('--user <USER>', `who submits (default: ${currentUser(env)})`)
    .addOption(count('--timeout <SECONDS>', 'kill the application after so long', 2_000_000))
    .option('--config <DIR>', 'folder of core-site.xml and yarn-site.xml (default: YARN_CONF_DIR, HADOOP_CONF_DIR)')
    .addOption(
      new Option('-D, --define <KEY=VALUE>', 'set a configuration key, over the files; may be repeated')
        .argParser(addDefine)
        .default({}, 'none'),
    )
    .helpOption('-h, --help', 'this text')
    .passThroughOptions()
    .allowExcessArguments()
    .addHelpText('after', HELP)
    .showHelpAfterError("('bobbin run --help' tells more)")
}

function toOptions(raw: RawOptions, command: readonly string[], env: NodeJS.ProcessEnv): RunOptions {
  return {
    command,
    containers: raw.containers,
    resource: { memoryMb: raw.memory, vcores: raw.vcores },
    files: raw.file,
    environment: raw.env,
    name: raw.name ?? basename(command[0] ?? ''),
    queue: raw.queue,
    user: raw.user ?? currentUser(env),
    timeoutMs: raw.timeout === undefined ? undefined : raw.timeout * 1000,
  }
}

/** As Hadoop's clients: HADOOP_USER_NAME, else the operating system's user. */
function currentUser(env: NodeJS.ProcessEnv): string {
  return env['HADOOP_USER_NAME'] ?? userInfo().username
}

function count(flags: string, description: string, maximum = Number.MAX_SAFE_INTEGER): Option {
  return new Option(flags, description).argParser((text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < 1 || value > maximum)
      throw new InvalidArgumentError(`It must be a whole number from 1 to ${maximum}.`)
    return value
  })
}

function readFile(path: string, files: readonly string[]): readonly string[] {
  const twin = files.find((file) => basename(file) === basename(path))
  if (twin !== undefined)
    throw new InvalidArgumentError(`It would have the same name in the work directory as '${twin}'.`)
  return [...files, path]
}

function readVariable(text: string, variables: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const match = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(text)
  if (match?.[1] === undefined || match[2] === undefined)
    throw new InvalidArgumentError('It must be NAME=VALUE, the name of letters, digits and underscores.')
  return new Map(variables).set(match[1], match[2])
}
