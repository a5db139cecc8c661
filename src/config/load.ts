import { checkSetKeys } from './check.ts'
import { findConfDir } from './conf-dir.ts'
import { Configuration } from './configuration.ts'
import type { HostFacts } from './host.ts'
import { nodeManagerConfig } from './node-manager.ts'
import type { NodeManagerConfig } from './node-manager-config.ts'
import { readResources } from './resources.ts'
import { systemProperties } from './system-properties.ts'

export interface LoadOptions {
  /** `--config DIR`; else what findConfDir finds. */
  readonly confDir?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** `-D name=value` */
  readonly defines: Readonly<Record<string, string>>
  /** Site files in the order of reading: later ones override earlier ones. */
  readonly files?: readonly string[]
}

export interface LoadedConfiguration {
  readonly configuration: Configuration
  /** Undefined: there was none, and everything has its default. */
  readonly confDir: string | undefined
  /** To be logged once there is a log, at warn. */
  readonly warnings: readonly string[]
  /** The same, at info. */
  readonly notices: readonly string[]
}

const SITE_FILES = ['core-site.xml', 'yarn-site.xml']

/**
 * Reads the configuration folder.
 * @throws ConfigFileError for a folder or file that can't be read
 */
export async function loadConfiguration({
  confDir,
  env,
  defines,
  files = SITE_FILES,
}: LoadOptions): Promise<LoadedConfiguration> {
  const folder = await findConfDir({ option: confDir, env })
  const properties = folder === undefined ? [] : await readResources(folder, files)
  const configuration = new Configuration({
    properties,
    defines,
    environment: env,
    systemProperties: systemProperties(env),
  })
  const warnings = [
    ...(properties.length === 0 ? [nothingRead(folder, files)] : []),
    ...configuration.warnings,
    ...checkSetKeys(configuration),
  ]
  return { configuration, confDir: folder, warnings, notices: configuration.notices }
}

function nothingRead(folder: string | undefined, files: readonly string[]): string {
  const noFolder = 'no configuration folder (--config, YARN_CONF_DIR, HADOOP_CONF_DIR)'
  return `${folder === undefined ? noFolder : `no setting in ${folder}/${files.join(', ')}`}: everything has its default`
}

/**
 * Everything that a NodeManager needs to start.
 * @throws ConfigFileError for a folder or file that can't be read
 * @throws ConfigError that lists all wrong values
 */
export async function loadNodeManagerConfig(
  options: LoadOptions & { readonly host?: HostFacts },
): Promise<LoadedConfiguration & { readonly config: NodeManagerConfig }> {
  const loaded = await loadConfiguration(options)
  const { config, warnings } = await nodeManagerConfig(loaded.configuration, options.host)
  return { ...loaded, config, warnings: [...loaded.warnings, ...warnings] }
}
