import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { Tasks } from '../base/tasks.ts'
import type { EmbeddedRmConfig } from '../config/rm-config.ts'
import { AmrmTokens } from '../security/rm-amrm-tokens.ts'
import { RmContainerTokens, RmNMTokens } from '../security/rm-tokens.ts'
import { AmLauncher, type ConnectToNode } from './am-launcher.ts'
import { Applications } from './applications.ts'
import { ClientService } from './client-service.ts'
import { ContainerTokenMaker } from './container-tokens.ts'
import { DelegationTokens } from './delegation-tokens.ts'
import { KeyRolls } from './key-rolls.ts'
import { Lifecycle } from './lifecycle.ts'
import { MasterService } from './master-service.ts'
import { MasterSessions } from './master-session.ts'
import { ContainerReports } from './container-reports.ts'
import { nodeUpdate } from './node-report.ts'
import { RmNodes } from './nodes.ts'
import { FifoScheduler } from './scheduler.ts'
import { TrackerService } from './tracker-service.ts'

/** The part of the configuration that has nothing to do with sockets. */
export type RmCoreConfig = Omit<
  EmbeddedRmConfig,
  'client' | 'scheduler' | 'resourceTracker' | 'admin' | 'web' | 'ipcServer'
>

export interface RmCoreOptions {
  readonly config: RmCoreConfig
  /** Told to nodes as `rm_version`. */
  readonly hadoopVersion: string
  readonly connect: ConnectToNode
  /** `http://<rm web>`; asked for when an application starts. */
  readonly webUrl: () => string
  readonly clock: Clock
  readonly log: Log
}

/** The ResourceManager without its ports: what the three protocols are answered from. All of it is in memory. */
export class RmCore {
  /** Start time, milliseconds: the first number of every id, and what container tokens are checked for. */
  readonly clusterTimestamp: number
  readonly nodes = new RmNodes()
  readonly scheduler: FifoScheduler
  readonly applications: Applications
  readonly amrmTokens = new AmrmTokens()
  readonly client: ClientService
  readonly master: MasterService
  readonly tracker: TrackerService
  readonly #lifecycle: Lifecycle
  readonly #keyRolls: KeyRolls
  readonly #tasks: Tasks

  constructor(options: RmCoreOptions) {
    const { config, clock, log, webUrl, hadoopVersion, connect } = options
    const { nodes, amrmTokens } = this
    const { minimumAllocation, maximumAllocation, nodeExpiryMs, attemptExpiryMs } = config
    this.clusterTimestamp = clock.now()
    this.#tasks = new Tasks(log)
    const sessions = new MasterSessions()
    const nmTokens = new RmNMTokens()
    const rmContainerTokens = new RmContainerTokens()
    const rmIdentifier = this.clusterTimestamp
    const containerExpiryMs = config.allocationExpiryMs
    const containerTokens = new ContainerTokenMaker({
      tokens: rmContainerTokens,
      nodes,
      rmIdentifier,
      containerExpiryMs,
      clock,
    })
    // The scheduler tells of what the lifecycle, made right below, acts upon.
    this.scheduler = new FifoScheduler({
      nodes,
      minimumAllocation,
      maximumAllocation,
      containerExpiryMs,
      listener: {
        masterAllocated: (container) => this.#lifecycle.masterAllocated(container),
        containerCompleted: (container, status) => this.#lifecycle.containerCompleted(container, status),
      },
      clock,
      log,
    })
    const { scheduler } = this
    this.#lifecycle = new Lifecycle({
      nodes,
      scheduler,
      sessions,
      amrmTokens,
      nmTokens,
      containerTokens,
      launcher: new AmLauncher(connect, log),
      findApplication: (id) => this.applications.find(id),
      masterExpiryMs: attemptExpiryMs,
      webUrl,
      tasks: this.#tasks,
      clock,
      log,
    })
    this.applications = new Applications({
      ...config,
      clusterTimestamp: this.clusterTimestamp,
      effects: this.#lifecycle,
      clock,
      log,
    })
    const { applications } = this
    const shared = { applications, scheduler, nodes, minimumAllocation, maximumAllocation, clock, log }
    this.client = new ClientService({ ...shared, delegationTokens: new DelegationTokens(clock), webUrl })
    this.master = new MasterService({
      ...shared,
      sessions,
      amrmTokens,
      nmTokens,
      containerTokens,
      onCall: (id) => this.#lifecycle.ping(id),
    })
    this.tracker = new TrackerService({
      ...shared,
      containerReports: new ContainerReports({ applications, scheduler, log }),
      containerTokens: rmContainerTokens,
      nmTokens,
      onNodeUpdated: (node) => sessions.nodeUpdated(nodeUpdate(node)),
      heartbeatIntervalMs: config.heartbeatIntervalMs,
      nodeExpiryMs,
      hadoopVersion,
      rmIdentifier,
    })
    this.#keyRolls = new KeyRolls(
      [
        {
          name: 'container tokens',
          keys: rmContainerTokens.keys,
          intervalMs: config.containerTokenRollMs,
          expiryMs: nodeExpiryMs,
        },
        { name: 'NM tokens', keys: nmTokens.keys, intervalMs: config.nmTokenRollMs, expiryMs: nodeExpiryMs },
        { name: 'AMRM tokens', keys: amrmTokens.keys, intervalMs: config.amRmTokenRollMs, expiryMs: attemptExpiryMs },
      ],
      { clock, log },
    )
  }

  /** Starts what goes by the clock. */
  start(): void {
    this.scheduler.start()
    this.tracker.start()
    this.#lifecycle.start()
    this.#keyRolls.start()
  }

  /** Resolves when no call to a node is under way any more. */
  async stop(): Promise<void> {
    this.#keyRolls.stop()
    this.#lifecycle.stop()
    this.tracker.stop()
    this.scheduler.stop()
    this.applications.stop()
    await this.#tasks.idle()
  }
}
