import { failedToStart, runDaemon } from './daemon.ts'
import { parseDaemonOptions } from './daemon-options.ts'
import { buildLocalCluster } from './local-cluster.ts'
import { shutdownExitCode } from './nodemanager.ts'

const TITLE = 'standalone cluster'
const DESCRIPTION = `Runs the embedded ResourceManager and a NodeManager in one process: a cluster of one machine, without Hadoop.

The configuration folder is Bobbin's own config/ unless --config names another: loopback, the usual ports, files
below bobbin.work.dir (/tmp/bobbin-USER). Try: bobbin run --config config -- echo hello`

export async function standaloneCli(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const options = parseDaemonOptions('standalone', DESCRIPTION, argv)
  if (typeof options === 'number') return options
  const { log } = options
  try {
    const cluster = await buildLocalCluster({ ...options, env })
    const { config, node, service } = cluster
    return await runDaemon({
      title: TITLE,
      host: config.containerManager.host,
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
