import type { Configuration } from './configuration.ts'
import { freeze } from './freeze.ts'
import { readIpcServer } from './ipc.ts'
import type { Address, IpcServerConfig, ListenAddress } from './node-manager-config.ts'
import { Settings } from './settings.ts'

/** What the embedded ResourceManager reads; the keys are those of Hadoop's. */
export interface EmbeddedRmConfig {
  /** `yarn.resourcemanager.address` */
  readonly client: ListenAddress
  /** `yarn.resourcemanager.scheduler.address` */
  readonly scheduler: ListenAddress
  /** `yarn.resourcemanager.resource-tracker.address` */
  readonly resourceTracker: ListenAddress
  /** `yarn.resourcemanager.admin.address` */
  readonly admin: ListenAddress
  /** `yarn.resourcemanager.webapp.address` */
  readonly web: ListenAddress
  readonly ipcServer: IpcServerConfig
  /** `yarn.scheduler.minimum-allocation-mb`, `-vcores` */
  readonly minimumAllocation: Allocation
  /** `yarn.scheduler.maximum-allocation-mb`, `-vcores` */
  readonly maximumAllocation: Allocation
  /** `yarn.resourcemanager.nodemanagers.heartbeat-interval-ms` */
  readonly heartbeatIntervalMs: number
  /** `yarn.nm.liveness-monitor.expiry-interval-ms` */
  readonly nodeExpiryMs: number
  /** `yarn.am.liveness-monitor.expiry-interval-ms` */
  readonly attemptExpiryMs: number
  /** `yarn.resourcemanager.rm.container-allocation.expiry-interval-ms` */
  readonly allocationExpiryMs: number
  /** `yarn.resourcemanager.am.max-attempts`: of an application that does not say. */
  readonly maxAttempts: number
  /** `yarn.resourcemanager.am.global.max-attempts`: the most that one may ask for. */
  readonly globalMaxAttempts: number
  /** `yarn.resourcemanager.max-completed-applications` */
  readonly maxCompletedApplications: number
  /** `yarn.resourcemanager.container-tokens.master-key-rolling-interval-secs`, in ms as the two below. */
  readonly containerTokenRollMs: number
  /** `yarn.resourcemanager.nm-tokens.master-key-rolling-interval-secs` */
  readonly nmTokenRollMs: number
  /** `yarn.resourcemanager.am-rm-tokens.master-key-rolling-interval-secs` */
  readonly amRmTokenRollMs: number
}

export interface Allocation {
  readonly memoryMb: number
  readonly vcores: number
}

/** Calls of one port of a ResourceManager. Java: yarn.resourcemanager.client.thread-count and its like, 50. */
const HANDLER_COUNT = 50

/** @throws ConfigError */
export function embeddedRmConfig(configuration: Configuration): EmbeddedRmConfig {
  const settings = new Settings(configuration)
  const config = readEmbeddedRm(settings)
  checkSizes(settings, config)
  checkTimes(settings, config)
  settings.finish()
  return freeze(config)
}

function readEmbeddedRm(settings: Settings): EmbeddedRmConfig {
  const bindHost = settings.read('yarn.resourcemanager.bind-host')
  const listen = ({ host, port }: Address): ListenAddress => ({ bindHost: bindHost || host, host, port })
  return {
    client: listen(settings.read('yarn.resourcemanager.address')),
    scheduler: listen(settings.read('yarn.resourcemanager.scheduler.address')),
    resourceTracker: listen(settings.read('yarn.resourcemanager.resource-tracker.address')),
    admin: listen(settings.read('yarn.resourcemanager.admin.address')),
    web: listen(settings.read('yarn.resourcemanager.webapp.address')),
    ipcServer: readIpcServer(settings, HANDLER_COUNT),
    minimumAllocation: {
      memoryMb: settings.read('yarn.scheduler.minimum-allocation-mb'),
      vcores: settings.read('yarn.scheduler.minimum-allocation-vcores'),
    },
    maximumAllocation: {
      memoryMb: settings.read('yarn.scheduler.maximum-allocation-mb'),
      vcores: settings.read('yarn.scheduler.maximum-allocation-vcores'),
    },
    heartbeatIntervalMs: settings.read('yarn.resourcemanager.nodemanagers.heartbeat-interval-ms'),
    nodeExpiryMs: settings.read('yarn.nm.liveness-monitor.expiry-interval-ms'),
    attemptExpiryMs: settings.read('yarn.am.liveness-monitor.expiry-interval-ms'),
    allocationExpiryMs: settings.read('yarn.resourcemanager.rm.container-allocation.expiry-interval-ms'),
    maxAttempts: settings.read('yarn.resourcemanager.am.max-attempts'),
    globalMaxAttempts: settings.read('yarn.resourcemanager.am.global.max-attempts'),
    maxCompletedApplications: settings.read('yarn.resourcemanager.max-completed-applications'),
    containerTokenRollMs:
      1000 * settings.read('yarn.resourcemanager.container-tokens.master-key-rolling-interval-secs'),
    nmTokenRollMs: 1000 * settings.read('yarn.resourcemanager.nm-tokens.master-key-rolling-interval-secs'),
    amRmTokenRollMs: 1000 * settings.read('yarn.resourcemanager.am-rm-tokens.master-key-rolling-interval-secs'),
  }
}

function checkSizes(settings: Settings, { minimumAllocation: least, maximumAllocation: most }: EmbeddedRmConfig): void {
  if (least.memoryMb > most.memoryMb) {
    settings.fail('yarn.scheduler.minimum-allocation-mb', `must not be above the maximum, ${most.memoryMb}`)
  }
  if (least.vcores > most.vcores) {
    settings.fail('yarn.scheduler.minimum-allocation-vcores', `must not be above the maximum, ${most.vcores}`)
  }
}

/** Source: ResourceManager.validateConfigs, the constructors of the three secret managers. */
function checkTimes(settings: Settings, config: EmbeddedRmConfig): void {
  if (config.nodeExpiryMs < config.heartbeatIntervalMs) {
    settings.fail(
      'yarn.nm.liveness-monitor.expiry-interval-ms',
      `must not be below the heartbeat interval, ${config.heartbeatIntervalMs} ms`,
    )
  }
  const leastMs = 3 * config.nodeExpiryMs
  const reason = `must be more than three times yarn.nm.liveness-monitor.expiry-interval-ms, ${leastMs / 1000} s`
  if (config.containerTokenRollMs <= leastMs) {
    settings.fail('yarn.resourcemanager.container-tokens.master-key-rolling-interval-secs', reason)
  }
  if (config.nmTokenRollMs <= leastMs) {
    settings.fail('yarn.resourcemanager.nm-tokens.master-key-rolling-interval-secs', reason)
  }
  const leastAttemptMs = 3 * config.attemptExpiryMs
  if (config.amRmTokenRollMs <= leastAttemptMs) {
    const attemptReason = `must be more than three times yarn.am.liveness-monitor.expiry-interval-ms, ${leastAttemptMs / 1000} s`
    settings.fail('yarn.resourcemanager.am-rm-tokens.master-key-rolling-interval-secs', attemptReason)
  }
}
