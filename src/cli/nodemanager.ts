import type { Log } from '../base/log.ts'
import type { NodeManager } from '../main.ts'
import type { ShutdownReason } from '../node-status/managed-node.ts'
import { buildConfiguredNode } from './configured-node.ts'
import { DaemonExitCode, failedToStart, runDaemon } from './daemon.ts'
import { parseDaemonOptions } from './daemon-options.ts'

const HELP = {
  description: 'Runs the NodeManager in the foreground until it is told to stop.',
  details: `The configuration folder is the first of --config, YARN_CONF_DIR, HADOOP_CONF_DIR, $HADOOP_HOME/etc/hadoop,
/etc/hadoop/conf and /etc/hadoop that is there. The log goes to standard error. SIGTERM, SIGINT and SIGHUP stop it.

Exit code:
  0    the ResourceManager ordered the shutdown (decommissioned)
  1    it refused the registration that follows a RESYNC
  2    the command line is wrong
  75   it could not be reached for yarn.resourcemanager.connect.max-wait.ms while running
       (bobbin.rm-unreachable-exit-code sets another code)
  129,130,143  ended by SIGHUP, SIGINT, SIGTERM
  255  could not start, or a broken invariant
`,
}

export async function nodeManagerCli(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const options = parseDaemonOptions('nodemanager', HELP, argv)
  if (typeof options === 'number') return options
  const { log } = options
  try {
    const { config, confDir, node } = await buildConfiguredNode({ ...options, env })
    return await runDaemon({
      title: 'NodeManager',
      host: config.containerManager.host,
      confDir,
      service: node.service,
      over: shutdownExitCode(node, config.unreachableExitCode, log),
      log,
    })
  } catch (thrown) {
    return failedToStart('NodeManager', thrown, log)
  }
}

/** Why the node ended, as the exit code of its process. */
export async function shutdownExitCode(node: NodeManager, unreachableExitCode: number, log: Log): Promise<number> {
  const reason: ShutdownReason = await node.shutdown
  log.error(`The node ends: ${reason.message}`)
  switch (reason.kind) {
    case 'ordered':
      return DaemonExitCode.ORDERED
    case 'unreachable':
      return unreachableExitCode
    case 'refused':
      return DaemonExitCode.REFUSED
  }
}
