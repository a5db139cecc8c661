import type { ListenAddress } from '../config/node-manager-config.ts'
import type { Resource } from '../protocol/resource.ts'

/** The embedded ResourceManager's part of the configuration; each field names the Hadoop key that it comes from. */
export interface EmbeddedRmConfig {
  /** `yarn.resourcemanager.address` */
  readonly client: ListenAddress
  /** `yarn.resourcemanager.scheduler.address` */
  readonly scheduler: ListenAddress
  /** `yarn.resourcemanager.resource-tracker.address` */
  readonly resourceTracker: ListenAddress
  /** `yarn.resourcemanager.webapp.address` */
  readonly web: ListenAddress
  /** Told to NodeManagers as `rm_version` and shown over REST; `bobbin.hadoop-version`. */
  readonly hadoopVersion: string
  /** `yarn.scheduler.minimum-allocation-mb`, `-vcores` */
  readonly minimumAllocation: Resource
  /** `yarn.scheduler.maximum-allocation-mb`, `-vcores` */
  readonly maximumAllocation: Resource
  /** `yarn.resourcemanager.nodemanagers.heartbeat-interval-ms` */
  readonly heartbeatIntervalMs: number
  /** `yarn.nm.liveness-monitor.expiry-interval-ms` */
  readonly nodeExpiryMs: number
  /** `yarn.am.liveness-monitor.expiry-interval-ms` */
  readonly masterExpiryMs: number
  /** `yarn.resourcemanager.rm.container-allocation.expiry-interval-ms`; also the life of a container token. */
  readonly containerExpiryMs: number
  /** `yarn.resourcemanager.am.max-attempts`: of an application that names none. */
  readonly maxAttempts: number
  /** `yarn.resourcemanager.am.global.max-attempts`, else `yarn.resourcemanager.am.max-attempts`: what one may name. */
  readonly globalMaxAttempts: number
  /** `yarn.resourcemanager.max-completed-applications` */
  readonly maxCompletedApplications: number
  /** `yarn.resourcemanager.container-tokens.master-key-rolling-interval-secs`, as milliseconds. */
  readonly containerTokenRollMs: number
  /** `yarn.resourcemanager.nm-tokens.master-key-rolling-interval-secs`, as milliseconds. */
  readonly nmTokenRollMs: number
  /** `yarn.resourcemanager.am-rm-tokens.master-key-rolling-interval-secs`, as milliseconds. */
  readonly amRmTokenRollMs: number
}
