import { fileURLToPath } from 'node:url'
import { systemClock } from '../base/clock.ts'
import { Services } from '../base/service.ts'
import { loadNodeManagerConfig } from '../config/load.ts'
import { embeddedRmConfig } from '../config/rm-config.ts'
import { buildNodeManager } from '../main.ts'
import { EmbeddedResourceManager } from '../rm/resource-manager.ts'
import { failedToStart, runDaemon } from './daemon.ts'
import { parseDaemonOptions } from './daemon-options.ts'
import { exitCodeOf, processStartTime } from './nodemanager.ts'

/** What the project brings for a cluster of one machine. */
export const ownConfig = fileURLToPath(new URL('../../../config', import.meta.url))

const DESCRIPTION = `Runs the embedded ResourceManager and a NodeManager in one process: a cluster of one machine, without Hadoop.

The configuration folder is Bobbin's own config/ unless --config names another: loopback, the usual ports, files
below bobbin.work.dir (/tmp/bobbin-USER). Try: bobbin run --config config -- echo hello`

export async function standaloneCli(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const options = await parseDaemonOptions('standalone', DESCRIPTION, argv)
  if (typeof options === 'number') return options
  const { log } = options
  try {
    const loaded = await loadNodeManagerConfig({ ...options, confDir: options.confDir ?? ownConfig, env })
    const { config, configuration } = loaded
    for (const notice of loaded.notices) log.info(notice)
    for (const warning of loaded.warnings) log.warn(warning)
    const rm = new EmbeddedResourceManager({
      config: embeddedRmConfig(configuration),
      ipcClient: config.ipcClient,
      hadoopVersion: config.statusUpdater.hadoopVersion,
      clock: systemClock,
      log: log.child({ component: 'ResourceManager' }),
    })
    const startTime = processStartTime()
    const node = buildNodeManager({ config, environment: env, startTime, clock: systemClock, log })
    return await runDaemon({
      title: 'standalone cluster',
      host: config.containerManager.host,
      service: new Services('standalone', [rm, node.service], log),
      over: exitCodeOf(node, config.statusUpdater.unreachableExitCode, log),
      log,
      onStarted: () =>
        log.info(
          `Up: ResourceManager http://${config.resourceManager.members[0]?.web.host}:${rm.addresses.web.port}/ws/v1/cluster, NodeManager http://${config.web.host}:${node.webPort()}/ws/v1/node`,
        ),
    })
  } catch (thrown) {
    return failedToStart('the standalone cluster', thrown, log)
  }
}
