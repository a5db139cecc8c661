import { systemClock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { loadNodeManagerConfig, type LoadedConfiguration } from '../config/load.ts'
import type { NodeManagerConfig } from '../config/node-manager-config.ts'
import { buildNodeManager, type NodeManager } from '../main.ts'

export interface ConfiguredNodeOptions {
  /** Undefined: the folder is looked for. */
  readonly confDir: string | undefined
  readonly defines: Readonly<Record<string, string>>
  readonly env: NodeJS.ProcessEnv
  readonly log: Log
}

export interface ConfiguredNode extends LoadedConfiguration {
  readonly config: NodeManagerConfig
  readonly node: NodeManager
}

/**
 * Reads the configuration, says what is remarkable about it, and builds the node.
 * @throws ConfigError, ConfigFileError
 */
export async function buildConfiguredNode(options: ConfiguredNodeOptions): Promise<ConfiguredNode> {
  const { env, log } = options
  const loaded = await loadNodeManagerConfig(options)
  for (const notice of loaded.notices) log.info(notice)
  for (const warning of loaded.warnings) log.warn(warning)
  const startTime = Math.round(performance.timeOrigin)
  const node = buildNodeManager({ config: loaded.config, environment: env, startTime, clock: systemClock, log })
  return { ...loaded, node }
}
