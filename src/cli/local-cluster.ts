import { systemClock } from '../base/clock.ts'
import { Services, type Service } from '../base/service.ts'
import { addressText } from '../config/addresses.ts'
import { embeddedRmConfig } from '../config/rm-config.ts'
import { ownConfig } from '../project.ts'
import { EmbeddedResourceManager } from '../rm/resource-manager.ts'
import { buildConfiguredNode, type ConfiguredNode, type ConfiguredNodeOptions } from './configured-node.ts'

/** The embedded ResourceManager and a NodeManager in this process. */
export interface LocalCluster extends ConfiguredNode {
  readonly service: Service
  /** `http://host:port/ws/v1/cluster`, certain once the service has started. */
  resourceManagerUrl(): string
  /** `http://host:port/ws/v1/node` */
  nodeManagerUrl(): string
}

/**
 * Without a folder it is the one that the project brings for a cluster of one machine.
 * @throws ConfigError, ConfigFileError
 */
export async function buildLocalCluster(options: ConfiguredNodeOptions): Promise<LocalCluster> {
  const { log } = options
  const configured = await buildConfiguredNode({ ...options, confDir: options.confDir ?? ownConfig })
  const { config, configuration, node } = configured
  const rmConfig = embeddedRmConfig(configuration)
  const rm = new EmbeddedResourceManager({
    config: rmConfig,
    ipcClient: config.ipcClient,
    hadoopVersion: config.statusUpdater.hadoopVersion,
    clock: systemClock,
    log,
  })
  return {
    ...configured,
    service: new Services('standalone', [rm, node.service], log),
    resourceManagerUrl: () => `http://${addressText(rm.addresses.web)}/ws/v1/cluster`,
    nodeManagerUrl: () => `http://${addressText({ host: config.web.host, port: node.webPort() })}/ws/v1/node`,
  }
}
