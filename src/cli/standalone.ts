import { ownConfig } from '../project.ts'
import { failedToStart, runDaemon } from './daemon.ts'
import { parseDaemonOptions } from './daemon-options.ts'
import { buildLocalCluster } from './local-cluster.ts'
import { shutdownExitCode } from './nodemanager.ts'

const TITLE = 'standalone cluster'
const HELP = {
  description: 'Runs the embedded ResourceManager and a NodeManager in one process: a cluster of one machine.',
  details: `The configuration folder, unless --config names another, is Bobbin's own:
  ${ownConfig}
Its cluster listens on loopback at the usual ports; its files are below bobbin.work.dir (/tmp/bobbin-USER).
The log goes to standard error. SIGTERM, SIGINT and SIGHUP stop it.

Examples:
  $ bobbin standalone
  $ bobbin standalone -D yarn.nodemanager.webapp.address=127.0.0.1:9042 -D yarn.nodemanager.resource.memory-mb=2048
  $ bobbin run --config ${ownConfig} -- echo hello        in another terminal
`,
}

export async function standaloneCli(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const options = parseDaemonOptions('standalone', HELP, argv)
  if (typeof options === 'number') return options
  const { log } = options
  try {
    const cluster = await buildLocalCluster({ ...options, env })
    const { config, confDir, node, service } = cluster
    return await runDaemon({
      title: TITLE,
      host: config.containerManager.host,
      confDir,
      service,
      over: shutdownExitCode(node, config.unreachableExitCode, log),
      log,
      onStarted: () =>
        log.info(`Up: ResourceManager ${cluster.resourceManagerUrl()}, NodeManager ${cluster.nodeManagerUrl()}`),
    })
  } catch (thrown) {
    return failedToStart(TITLE, thrown, log)
  }
}
