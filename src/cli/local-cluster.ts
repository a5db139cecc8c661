import { systemClock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { Services, type Service } from '../base/service.ts'
import { addressText } from '../config/addresses.ts'
import { loadNodeManagerConfig, type LoadedConfiguration } from '../config/load.ts'
import type { NodeManagerConfig } from '../config/node-manager-config.ts'
import { embeddedRmConfig } from '../config/rm-config.ts'
import { buildNodeManager, type NodeManager } from '../main.ts'
import { ownConfig } from '../project.ts'
import { EmbeddedResourceManager } from '../rm/resource-manager.ts'
import { processStartTime } from './daemon.ts'

export interface LocalClusterOptions {
  /** Undefined: what the project brings for a cluster of one machine. */
  readonly confDir: string | undefined
  readonly defines: Readonly<Record<string, string>>
  readonly env: NodeJS.ProcessEnv
  readonly log: Log
}

/** The embedded ResourceManager and a NodeManager in this process. */
export interface LocalCluster {
  readonly service: Service
  readonly node: NodeManager
  readonly config: NodeManagerConfig
  readonly configuration: LoadedConfiguration['configuration']
  /** `http://host:port/ws/v1/cluster`, certain once the service has started. */
  resourceManagerUrl(): string
  /** `http://host:port/ws/v1/node` */
  nodeManagerUrl(): string
}

/** @throws ConfigError, ConfigFileError */
export async function buildLocalCluster(options: LocalClusterOptions): Promise<LocalCluster> {
  const { env, log, defines } = options
  const loaded = await loadNodeManagerConfig({ confDir: options.confDir ?? ownConfig, defines, env })
  for (const notice of loaded.notices) log.info(notice)
  for (const warning of loaded.warnings) log.warn(warning)
  const { config, configuration } = loaded
  const rmConfig = embeddedRmConfig(configuration)
  const rm = new EmbeddedResourceManager({
    config: rmConfig,
    ipcClient: config.ipcClient,
    hadoopVersion: config.statusUpdater.hadoopVersion,
    clock: systemClock,
    log,
  })
  const node = buildNodeManager({ config, environment: env, startTime: processStartTime(), clock: systemClock, log })
  return {
    service: new Services('standalone', [rm, node.service], log),
    node,
    config,
    configuration,
    resourceManagerUrl: () => `http://${addressText(rm.addresses.web)}/ws/v1/cluster`,
    nodeManagerUrl: () => `http://${addressText({ host: config.web.host, port: node.webPort() })}/ws/v1/node`,
  }
}
