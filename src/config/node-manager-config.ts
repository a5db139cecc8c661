/**
 * The daemon's configuration as one frozen, typed object; main.ts hands each service its own slice.
 * Every field names the Hadoop key that it comes from; types, defaults and checks are in keys.ts.
 */

export interface Address {
  readonly host: string
  readonly port: number
}

/** A port that we serve. */
export interface ListenAddress {
  /** What the socket binds to: the host of the address key, or `yarn.nodemanager.bind-host` where that is set. */
  readonly bindHost: string
  /** What is told to others: the canonical name of the address key's host; of the machine for a wildcard. */
  readonly host: string
  /** 0: any free one. */
  readonly port: number
}

/** `yarn.resourcemanager.*`: how a client finds and insists on a ResourceManager. */
export interface ResourceManagerConfig {
  /** One entry, or one for each id of `yarn.resourcemanager.ha.rm-ids`. */
  readonly members: readonly ResourceManagerMember[]
  readonly isHa: boolean
  /** Attempts on one connect failure before the next pause or member; `ipc.client.connect.max.retries` and its interval. */
  readonly retry: RetryConfig
}

export interface ResourceManagerMember {
  /** The rm-id; empty without HA. */
  readonly id: string
  readonly resourceTracker: Address
  readonly client: Address
  readonly scheduler: Address
  readonly web: Address
}

/** Source: RMProxy.createRetryPolicy, ServerProxy; protocol-rpcs.md §3.7. */
export interface RetryConfig {
  /** −1: for ever; less than the interval: one attempt. `yarn.nodemanager.resourcemanager.connect.max-wait.ms`, else `yarn.resourcemanager.connect.max-wait.ms`. */
  readonly maxWaitMs: number
  readonly retryIntervalMs: number
  /** `yarn.client.failover-max-attempts`; −1: maxWait / sleepBase. */
  readonly failoverMaxAttempts: number
  readonly failoverSleepBaseMs: number
  readonly failoverSleepMaxMs: number
  /** Used with HA in place of the two below: `yarn.client.failover-retries`, `-retries-on-socket-timeouts`. */
  readonly failoverRetries: number
  readonly failoverRetriesOnTimeouts: number
}

/** `ipc.client.*`, `ipc.*` */
export interface IpcClientConfig {
  /** 0: none. */
  readonly connectTimeoutMs: number
  /** Attempts after the first, when a connection is refused and the like. */
  readonly connectMaxRetries: number
  readonly connectRetryIntervalMs: number
  /** Attempts after the first, when connecting takes too long. */
  readonly connectMaxRetriesOnTimeouts: number
  /** From sending a call to its reply; 0: none. */
  readonly rpcTimeoutMs: number
  readonly doPing: boolean
  readonly pingIntervalMs: number
  /** Without a call for so long, the connection is closed. 0: right after the last reply. */
  readonly maxIdleTimeMs: number
  /** Bytes; 0 or less: unlimited. */
  readonly maxResponseLength: number
  readonly tcpNoDelay: boolean
}

/** `ipc.server.*`, `ipc.maximum.data.length`, `hadoop.rpc.protection` */
export interface IpcServerConfig {
  readonly maxDataLength: number
  readonly listenQueueSize: number
  /** 0: unlimited. */
  readonly maxConnections: number
  readonly idleThreshold: number
  readonly maxIdleTimeMs: number
  readonly idleScanIntervalMs: number
  readonly killMax: number
  readonly tcpNoDelay: boolean
  /** Calls of one port that are handled at a time: `yarn.nodemanager.container-manager.thread-count`. */
  readonly handlerCount: number
  /** `hadoop.rpc.protection` in order: authentication → auth, integrity → auth-int, privacy → auth-conf. */
  readonly qop: readonly ('auth' | 'auth-int' | 'auth-conf')[]
}

export interface NodeManagerConfig {
  /** `yarn.nodemanager.address` */
  readonly containerManager: ListenAddress
  /** `yarn.nodemanager.webapp.address` */
  readonly web: ListenAddress
  readonly resourceManager: ResourceManagerConfig
  readonly ipcClient: IpcClientConfig
  readonly ipcServer: IpcServerConfig
  readonly resource: NodeResourceConfig
  readonly directories: DirectoriesConfig
  readonly statusUpdater: StatusUpdaterConfig
  readonly launch: LaunchConfig
  readonly localization: LocalizationConfig
  readonly deletion: DeletionConfig
  readonly logs: LogsConfig
  readonly monitor: MonitorConfig
  readonly recovery: RecoveryConfig
  /** `yarn.nodemanager.aux-services`, names checked. */
  readonly auxServices: readonly string[]
  /** `fs.defaultFS`: what a resource's path without a scheme is relative to. */
  readonly defaultFileSystem: string
  /** `yarn.acl.enable` */
  readonly isAclEnabled: boolean
  /** `bobbin.rm-unreachable-exit-code`: of the process. */
  readonly unreachableExitCode: number
}

/** What is offered to the ResourceManager. */
export interface NodeResourceConfig {
  readonly memoryMb: number
  readonly vcores: number
  /** Of the machine, for `physicalResource`. */
  readonly physicalMemoryMb: number
  readonly physicalCores: number
  readonly isPmemCheckEnabled: boolean
  readonly isVmemCheckEnabled: boolean
  readonly vmemPmemRatio: number
}

export interface DirectoriesConfig {
  readonly localDirs: readonly string[]
  readonly logDirs: readonly string[]
  /** `yarn.nodemanager.default-container-executor.log-dirs.permissions`, as a mode. */
  readonly logDirMode: number
  /** `yarn.nodemanager.disk-health-checker.min-healthy-disks`, a fraction; local and log dirs are judged apart. */
  readonly minHealthyDisks: number
}

export interface StatusUpdaterConfig {
  /** Hadoop version that is told to the ResourceManager; `bobbin.hadoop-version`. */
  readonly hadoopVersion: string
  /** `yarn.nodemanager.resourcemanager.minimum.version` */
  readonly minimumResourceManagerVersion: string
  /** `yarn.nodemanager.duration-to-track-stopped-containers` */
  readonly trackStoppedContainersMs: number
  /** `yarn.nm.liveness-monitor.expiry-interval-ms` */
  readonly livenessExpiryMs: number
  /** `yarn.log-aggregation-enable` */
  readonly isLogAggregationEnabled: boolean
  /** `hadoop.security.authentication` is kerberos. */
  readonly isSecurityEnabled: boolean
  /** `yarn.resourcemanager.work-preserving-recovery.enabled` */
  readonly isWorkPreserving: boolean
}

export interface LaunchConfig {
  /** `yarn.nodemanager.env-whitelist` */
  readonly environmentWhitelist: readonly string[]
  /** `yarn.nodemanager.admin-env` and `yarn.nodemanager.admin-env.NAME`, in order. */
  readonly adminEnvironment: readonly { readonly name: string; readonly value: string }[]
  /** `yarn.nodemanager.force.path` */
  readonly forcePath: string
  /** `yarn.nodemanager.user-home-dir` */
  readonly userHomeDir: string
  /** `yarn.nodemanager.log-container-debug-info.enabled` */
  readonly isDebugInfoEnabled: boolean
  /** `yarn.nodemanager.log-container-debug-info-on-error.enabled` */
  readonly isDebugInfoOnErrorEnabled: boolean
  /** `yarn.nodemanager.container-diagnostics-maximum-size`, characters. */
  readonly diagnosticsMaxSize: number
  /** `yarn.nodemanager.container.stderr.tail.bytes` */
  readonly stderrTailBytes: number
  /** `yarn.nodemanager.container.stderr.pattern`: a glob, or several in braces. */
  readonly stderrPattern: string
  /** `yarn.nodemanager.sleep-delay-before-sigkill.ms`; 0: killed at once. */
  readonly sleepBeforeSigkillMs: number
  /** `yarn.nodemanager.process-kill-wait.ms`: how long a pid file, and an end, is waited for. */
  readonly processKillWaitMs: number
  /** `yarn.nodemanager.container-executor.os.sched.priority.adjustment`; undefined when not set. */
  readonly niceAdjustment: number | undefined
}

export interface LocalizationConfig {
  /** `yarn.nodemanager.localizer.fetch.thread-count`: public resources at a time. */
  readonly fetchThreads: number
  /** `yarn.nodemanager.local-cache.max-files-per-directory`, sub-directories counted in. */
  readonly maxFilesPerDirectory: number
}

export interface DeletionConfig {
  /** `yarn.nodemanager.delete.debug-delay-sec`; −1: nothing is ever removed. */
  readonly debugDelaySec: number
  /** `yarn.nodemanager.delete.thread-count`: removals at a time. */
  readonly threads: number
}

export interface LogsConfig {
  /** `yarn.nodemanager.log.retain-seconds`: from the end of an application to the removal of its logs. */
  readonly retainSec: number
}

export interface MonitorConfig {
  /** `yarn.nodemanager.container-monitor.interval-ms`, else that of the resource monitor; 0 or less: not measured. */
  readonly containerIntervalMs: number
  /** `yarn.nodemanager.resource-monitor.interval-ms`, of the node's own utilisation; 0 or less: not measured. */
  readonly nodeIntervalMs: number
}

export interface RecoveryConfig {
  /** `yarn.nodemanager.recovery.enabled` */
  readonly isEnabled: boolean
  /** `yarn.nodemanager.recovery.supervised` */
  readonly isSupervised: boolean
  /** `yarn.nodemanager.recovery.dir` */
  readonly directory: string
}
