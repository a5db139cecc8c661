/**
 * The composition root: builds every service of a NodeManager by hand, in the order in which they start.
 * Source: org.apache.hadoop.yarn.server.nodemanager.NodeManager.serviceInit.
 */
import { hostname, userInfo } from 'node:os'
import { applicationFactory } from './applications/application.ts'
import { AuxiliaryServices } from './aux-services/registry.ts'
import type { Clock } from './base/clock.ts'
import type { Log } from './base/log.ts'
import { Services, type Service } from './base/service.ts'
import { Tasks } from './base/tasks.ts'
import { firstAddress } from './config/host.ts'
import type { NodeManagerConfig } from './config/node-manager-config.ts'
import { ContainerManager } from './container-manager/container-manager.ts'
import { NodeContainers } from './container-manager/node-containers.ts'
import { containerFactory } from './containers/container.ts'
import { ContainerLauncher } from './containers/launch/launcher.ts'
import { LaunchPreparation } from './containers/launch/preparation.ts'
import { NodeEffects } from './containers/node-effects.ts'
import { DeletionService } from './deletion/deletion-service.ts'
import { DefaultContainerExecutor } from './executors/default.ts'
import { LocalDirsHandler } from './health/local-dirs-handler.ts'
import { NodeHealth } from './health/node-health.ts'
import { ResourceManagerConnection } from './ipc/failover.ts'
import { IpcServer, serve } from './ipc/server.ts'
import { ResourceLocalizationService } from './localization/resource-localization-service.ts'
import { LocalLogHandler } from './logs/local-log-handler.ts'
import { ContainersMonitor } from './monitor/containers-monitor.ts'
import { NodeUsage } from './monitor/node-usage.ts'
import type { ShutdownReason } from './node-status/managed-node.ts'
import { NodeStatusUpdater } from './node-status/status-updater.ts'
import { containerManagement } from './protocol/container-management.ts'
import { nodeId, type NodeId } from './protocol/ids.ts'
import { resourceTracker } from './protocol/resource-tracker.ts'
import { MemoryNodeStateStore } from './recovery/memory.ts'
import { NodeContainerTokens } from './security/node-container-tokens.ts'
import { NodeNMTokens } from './security/node-nm-tokens.ts'
import { version } from './project.ts'
import { WebServer } from './web/server.ts'

export interface NodeManagerOptions {
  readonly config: NodeManagerConfig
  /** The daemon's own environment, which containers inherit in part. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Of the process, milliseconds since the epoch. */
  readonly startTime: number
  readonly clock: Clock
  readonly log: Log
}

export interface NodeManager {
  readonly service: Service
  /** Resolves when the ResourceManager, or its absence, ends the node. */
  readonly shutdown: Promise<ShutdownReason>
  /** Certain once the service has started. */
  nodeId(): NodeId
  webPort(): number
}

export function buildNodeManager(options: NodeManagerOptions): NodeManager {
  const { config, environment, clock } = options
  const component = (name: string): Log => options.log.child({ component: name })
  const tasks = new Tasks(component('Tasks'))
  if (config.recovery.isEnabled)
    component('NodeManager').warn(
      'yarn.nodemanager.recovery.enabled is set, but this version keeps no state over a restart: a stop ends all containers',
    )
  if (config.statusUpdater.isLogAggregationEnabled)
    component('NodeManager').warn(
      'yarn.log-aggregation-enable is on, but this version does not upload logs: they stay in yarn.nodemanager.log-dirs' +
        ` for yarn.nodemanager.log.retain-seconds (${config.logs.retainSec}) after the end of their application`,
    )
  const store = new MemoryNodeStateStore()

  // ---- files and processes -----------------------------------------------------------------------------------
  const { niceAdjustment } = config.launch
  const { logDirMode } = config.directories
  const executor = new DefaultContainerExecutor({ niceAdjustment, logDirMode, searchPath: environment['PATH'] ?? '' })
  const dirs = new LocalDirsHandler({ ...config.directories, clock, log: component('LocalDirsHandler') })
  const health = new NodeHealth(dirs)
  const deletion = new DeletionService({ ...config.deletion, executor, clock, log: component('DeletionService') })
  const localization = new ResourceLocalizationService({
    ...config.localization,
    defaultFileSystem: config.defaultFileSystem,
    logDirMode,
    isFresh: true,
    localDirs: dirs,
    deletion,
    executor,
    clock,
    log: component('ResourceLocalizationService'),
  })

  const logHandler = new LocalLogHandler({ ...config.logs, dirs, deletion, clock, log: component('LogHandler') })

  // ---- containers ----------------------------------------------------------------------------------------------
  const auxServices = new AuxiliaryServices({
    configured: config.auxServices,
    provided: [],
    log: component('AuxServices'),
  })
  const ownNodeId = () => nodeId(config.containerManager.host, ipcServer.port)
  const launcher = new ContainerLauncher({
    ...config.launch,
    preparation: new LaunchPreparation({
      ...config.launch,
      dirs,
      node: () => ({ nodeId: ownNodeId(), httpPort: web.port }),
      auxServiceMetaData: () => auxServices.metaData(),
      daemonEnvironment: environment,
    }),
    executor,
    store,
    clock,
    tasks,
    log: component('ContainerLaunch'),
    place: ownPlace,
  })
  const node = new NodeContainers({
    signal: (container, command) =>
      tasks.run(`signal to ${container.id}`, () => launcher.signal(container.id, command)),
    onApplicationFinished: (id) => nmTokens.applicationFinished(id),
    log: component('ContainerManager'),
  })
  const monitor = new ContainersMonitor({
    ...config.monitor,
    containers: node,
    vcores: () => statusUpdater.resource.vcores,
    physicalCores: config.resource.physicalCores,
    clock,
    log: component('ContainersMonitor'),
  })
  const effects = new NodeEffects({
    localization,
    launcher,
    store,
    tasks,
    log: component('Container'),
    onContainerDone: (container) => {
      node.findApplication(container.applicationId)?.containerDone(container.id)
      statusUpdater.beatNow()
    },
  })
  const applications = applicationFactory({
    localization,
    logHandling: logHandler,
    store,
    tasks,
    log: component('Application'),
    onApplicationStopped: () => {},
    onApplicationFinished: (application) => node.applicationFinished(application),
    onApplicationGone: (application) => node.applicationGone(application),
  })
  const containers = containerFactory({
    effects,
    clock,
    log: component('Container'),
    diagnosticsMaxSize: config.launch.diagnosticsMaxSize,
  })

  // ---- masters -------------------------------------------------------------------------------------------------
  const containerTokens = new NodeContainerTokens(clock, component('NMContainerTokenSecretManager'))
  const nmTokens = new NodeNMTokens(component('NMTokenSecretManagerInNM'))
  const containerManager = new ContainerManager({
    node,
    tokens: { container: containerTokens, nm: nmTokens },
    createContainer: containers,
    createApplication: applications,
    auxServices,
    recentlyStopped: { isRecentlyStopped: (id) => statusUpdater.isRecentlyStopped(id) },
    store,
    config: { ...config.launch, keepsContainersOnStop: false },
    clock,
    log: component('ContainerManager'),
    auditLog: component('NMAuditLogger'),
  })
  const ipcServer = new IpcServer({
    name: 'ContainerManager (yarn.nodemanager.address)',
    listen: config.containerManager,
    protocols: [serve(containerManagement, containerManager.handlers())],
    authentication: { kind: 'token', authenticator: nmTokens },
    limits: config.ipcServer,
    clock,
    log: component('IpcServer'),
  })

  // ---- what others see -------------------------------------------------------------------------------------------
  const web = new WebServer({
    web: config.web,
    node: () => ({
      ...config.resource,
      nodeId: ownNodeId(),
      resource: statusUpdater.resource,
      health,
      hadoopVersion: config.statusUpdater.hadoopVersion,
      productVersion: version,
      startTime: options.startTime,
    }),
    containers: node,
    logs: {
      get logDirs() {
        return dirs.readableLogDirs
      },
    },
    log: component('WebServer'),
  })
  const nodeUsage = new NodeUsage({ ...config.monitor, clock, log: component('NodeResourceMonitor') })
  let onShutdown: (reason: ShutdownReason) => void = () => {}
  const shutdown = new Promise<ShutdownReason>((resolve) => {
    onShutdown = resolve
  })
  const statusUpdater = new NodeStatusUpdater({
    rm: new ResourceManagerConnection({
      protocol: resourceTracker,
      resourceManager: config.resourceManager,
      addressOf: (member) => member.resourceTracker,
      login: { kind: 'simple', user: userInfo().username },
      ipcClient: config.ipcClient,
      clock,
      log: component('ResourceTrackerClient'),
    }),
    node: {
      nodeId: ownNodeId,
      health: () => health,
      containersUtilization: () => monitor.utilization(),
      nodeUtilization: () => nodeUsage.utilization(),
    },
    httpPort: () => web.port,
    resource: config.resource,
    physicalResource: { memoryMb: config.resource.physicalMemoryMb, vcores: config.resource.physicalCores },
    config: config.statusUpdater,
    // Containers end with this process, so the node is always unregistered.
    recovery: { isEnabled: false, isSupervised: false },
    containers: node,
    store,
    listener: containerManager,
    credentials: { systemCredentials: () => {} },
    onShutdown,
    clock,
    log: component('NodeStatusUpdater'),
  })

  // Stopped backwards: first the ResourceManager is told, then no call comes in, then the containers end.
  const services = [
    { name: 'executor', start: () => executor.init(), stop: () => Promise.resolve() },
    dirs,
    deletion,
    localization,
    logHandler,
    auxServices,
    monitor,
    containerManager,
    ipcServer,
    web,
    nodeUsage,
    statusUpdater,
  ]
  return {
    service: new Services('NodeManager', services, component('NodeManager')),
    shutdown,
    nodeId: ownNodeId,
    webPort: () => web.port,
  }
}

/** Source: ContainerExecutor.getIpAndHost, which asks what the machine's own name stands for. */
async function ownPlace(): Promise<{ host: string; ips: readonly string[] }> {
  const host = hostname()
  const address = await firstAddress(host)
  return { host, ips: address === undefined ? [] : [address] }
}
