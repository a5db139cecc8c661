/** Runs a command; resolves with the exit code. */
export type Run = (argv: readonly string[], env: NodeJS.ProcessEnv) => Promise<number>

export interface Command {
  readonly name: string
  readonly summary: string
  readonly isDaemon: boolean
  readonly load: () => Promise<Run>
}

export const commands: readonly Command[] = [
  {
    name: 'nodemanager',
    summary: 'the NodeManager, in the foreground',
    isDaemon: true,
    load: async () => (await import('./nodemanager.ts')).nodeManagerCli,
  },
  {
    name: 'standalone',
    summary: 'the NodeManager with the embedded ResourceManager: a cluster of one machine, without Hadoop',
    isDaemon: true,
    load: async () => (await import('./standalone.ts')).standaloneCli,
  },
  {
    name: 'run',
    summary: 'run a command in containers of a cluster and print its output',
    isDaemon: false,
    load: async () => (await import('./run.ts')).runCli,
  },
  {
    name: 'quickstart',
    summary: 'see it work: a cluster on this machine runs an application and is stopped again',
    isDaemon: true,
    load: async () => (await import('./quickstart.ts')).quickstartCli,
  },
]

export function findCommand(name: string): Command | undefined {
  return commands.find((command) => command.name === name)
}
