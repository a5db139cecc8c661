import { listenAddress, warnOfLoopback } from './addresses.ts'
import type { Configuration } from './configuration.ts'
import { freeze } from './freeze.ts'
import { nodeResourceConfig } from './hardware.ts'
import { systemHost } from './host.ts'
import type { HostFacts } from './host.ts'
import { readIpcClient, readIpcServer } from './ipc.ts'
import type {
  DirectoriesConfig,
  LaunchConfig,
  LocalizationConfig,
  MonitorConfig,
  NodeManagerConfig,
  RecoveryConfig,
  StatusUpdaterConfig,
} from './node-manager-config.ts'
import { readResourceManager } from './resource-manager.ts'
import { Settings } from './settings.ts'

/** Java: AuxServices. */
const AUX_SERVICE_NAME = /^[A-Za-z_]+[A-Za-z0-9_]*$/

/** The cache names directories with one of 36 digits, so that many files must fit beside them. */
const CACHE_DIRECTORY_DIGITS = 36

/**
 * The daemon's whole configuration, deep-frozen.
 * @throws ConfigError that lists everything that is wrong
 */
export async function nodeManagerConfig(
  configuration: Configuration,
  host: HostFacts = systemHost,
): Promise<{ readonly config: NodeManagerConfig; readonly warnings: readonly string[] }> {
  const settings = new Settings(configuration)
  // Together: each asks the name service or the machine, which may take its time.
  const [containerManager, web, resource] = await Promise.all([
    listenAddress(settings, 'yarn.nodemanager.address', host),
    listenAddress(settings, 'yarn.nodemanager.webapp.address', host),
    nodeResourceConfig(settings, host),
  ])
  const config: NodeManagerConfig = {
    containerManager,
    web,
    resourceManager: readResourceManager(settings, 'node'),
    ipcClient: readIpcClient(settings),
    ipcServer: readIpcServer(settings, settings.read('yarn.nodemanager.container-manager.thread-count')),
    resource,
    directories: directories(settings),
    statusUpdater: statusUpdater(settings),
    launch: launch(settings),
    localization: localization(settings),
    deletion: {
      debugDelaySec: settings.read('yarn.nodemanager.delete.debug-delay-sec'),
      threads: settings.read('yarn.nodemanager.delete.thread-count'),
    },
    logs: { retainSec: settings.read('yarn.nodemanager.log.retain-seconds') },
    monitor: monitor(settings),
    recovery: recovery(settings),
    auxServices: auxServices(settings),
    defaultFileSystem: settings.read('fs.defaultFS'),
    isAclEnabled: settings.read('yarn.acl.enable'),
    unreachableExitCode: settings.read('bobbin.rm-unreachable-exit-code'),
  }
  checkExecutor(settings)
  // To check it: other values name it as a variable, and with an empty one their directories would lie at the root.
  settings.read('bobbin.work.dir')
  for (const { resourceTracker } of config.resourceManager.members.slice(0, 1)) {
    warnOfLoopback(settings, config.containerManager, resourceTracker)
  }
  settings.finish()
  return { config: freeze(config), warnings: settings.warnings }
}

/** Containers of a cluster that counts on LinuxContainerExecutor must not run as the daemon's own user instead. */
function checkExecutor(settings: Settings): void {
  const name = 'yarn.nodemanager.container-executor.class'
  if (settings.read(name).endsWith('.LinuxContainerExecutor')) {
    settings.fail(name, 'this version of Bobbin has only DefaultContainerExecutor')
  }
}

function directories(settings: Settings): DirectoriesConfig {
  return {
    localDirs: directoryList(settings, 'yarn.nodemanager.local-dirs'),
    logDirs: directoryList(settings, 'yarn.nodemanager.log-dirs'),
    logDirMode: settings.read('yarn.nodemanager.default-container-executor.log-dirs.permissions'),
    minHealthyDisks: settings.read('yarn.nodemanager.disk-health-checker.min-healthy-disks'),
  }
}

function directoryList(
  settings: Settings,
  name: 'yarn.nodemanager.local-dirs' | 'yarn.nodemanager.log-dirs',
): readonly string[] {
  const paths = settings.read(name)
  if (paths.length === 0) settings.fail(name, 'at least one directory is needed')
  return [...new Set(paths)]
}

function statusUpdater(settings: Settings): StatusUpdaterConfig {
  const trackKey = 'yarn.nodemanager.duration-to-track-stopped-containers'
  const trackStoppedContainersMs = settings.read(trackKey)
  if (trackStoppedContainersMs < 0) {
    settings.fail(trackKey, `Invalid configuration for ${trackKey} default value is 10Min(600000).`)
  }
  return {
    hadoopVersion: settings.read('bobbin.hadoop-version'),
    minimumResourceManagerVersion: settings.read('yarn.nodemanager.resourcemanager.minimum.version'),
    trackStoppedContainersMs,
    livenessExpiryMs: settings.read('yarn.nm.liveness-monitor.expiry-interval-ms'),
    isLogAggregationEnabled: settings.read('yarn.log-aggregation-enable'),
    isSecurityEnabled: settings.read('hadoop.security.authentication') === 'kerberos',
    isWorkPreserving: settings.read('yarn.resourcemanager.work-preserving-recovery.enabled'),
  }
}

function launch(settings: Settings): LaunchConfig {
  return {
    environmentWhitelist: settings.read('yarn.nodemanager.env-whitelist').filter((name) => name !== ''),
    adminEnvironment: adminEnvironment(settings),
    forcePath: settings.read('yarn.nodemanager.force.path'),
    userHomeDir: settings.read('yarn.nodemanager.user-home-dir'),
    isDebugInfoEnabled: settings.read('yarn.nodemanager.log-container-debug-info.enabled'),
    isDebugInfoOnErrorEnabled: settings.read('yarn.nodemanager.log-container-debug-info-on-error.enabled'),
    diagnosticsMaxSize: settings.read('yarn.nodemanager.container-diagnostics-maximum-size'),
    stderrTailBytes: settings.read('yarn.nodemanager.container.stderr.tail.bytes'),
    stderrPattern: settings.read('yarn.nodemanager.container.stderr.pattern'),
    sleepBeforeSigkillMs: settings.read('yarn.nodemanager.sleep-delay-before-sigkill.ms'),
    processKillWaitMs: settings.read('yarn.nodemanager.process-kill-wait.ms'),
    niceAdjustment: settings.read('yarn.nodemanager.container-executor.os.sched.priority.adjustment'),
  }
}

/** The list, then the keys of single variables, which win. Java: Apps.setEnvFromInputProperty. */
function adminEnvironment(settings: Settings): LaunchConfig['adminEnvironment'] {
  const values = new Map(settings.read('yarn.nodemanager.admin-env').map(({ name, value }) => [name, value]))
  const single = settings.configuration.withPrefix('yarn.nodemanager.admin-env.')
  for (const [name, value] of single) values.set(name, value)
  return [...values].map(([name, value]) => ({ name, value }))
}

function localization(settings: Settings): LocalizationConfig {
  const key = 'yarn.nodemanager.local-cache.max-files-per-directory'
  const maxFilesPerDirectory = settings.read(key)
  if (maxFilesPerDirectory <= CACHE_DIRECTORY_DIGITS) {
    settings.fail(key, `${key} parameter is configured with a value less than 37.`)
  }
  return { fetchThreads: settings.read('yarn.nodemanager.localizer.fetch.thread-count'), maxFilesPerDirectory }
}

function monitor(settings: Settings): MonitorConfig {
  return {
    containerIntervalMs: settings.read('yarn.nodemanager.container-monitor.interval-ms'),
    nodeIntervalMs: settings.read('yarn.nodemanager.resource-monitor.interval-ms'),
  }
}

function recovery(settings: Settings): RecoveryConfig {
  const isEnabled = settings.read('yarn.nodemanager.recovery.enabled')
  const address = 'yarn.nodemanager.address'
  if (isEnabled && settings.read(address).port === 0) {
    settings.fail(address, `Cannot support recovery with an ephemeral server port. Check the setting of ${address}`)
  }
  return {
    isEnabled,
    isSupervised: settings.read('yarn.nodemanager.recovery.supervised'),
    directory: settings.read('yarn.nodemanager.recovery.dir'),
  }
}

function auxServices(settings: Settings): readonly string[] {
  const key = 'yarn.nodemanager.aux-services'
  const names = settings.read(key).filter((name) => name !== '')
  for (const name of names.filter((candidate) => !AUX_SERVICE_NAME.test(candidate))) {
    settings.fail(
      key,
      `The ServiceName: ${name} set in ${key} is invalid.` +
        'The valid service name should only contain a-zA-Z0-9_ and cannot start with numbers.',
    )
  }
  return [...new Set(names)]
}
