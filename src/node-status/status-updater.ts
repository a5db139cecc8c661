import { asError, BobbinError, messageOf } from '../base/errors.ts'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Service } from '../base/service.ts'
import type { RecoveryConfig, StatusUpdaterConfig } from '../config/node-manager-config.ts'
import type { ContainerId } from '../protocol/ids.ts'
import { nodeIdToProto } from '../protocol/ids.ts'
import { toNumber } from '../protocol/messages.ts'
import { resourceFromProto, resourceText, type Resource } from '../protocol/resource.ts'
import type { resourceTracker } from '../protocol/resource-tracker.ts'
import type { RpcCaller } from '../protocol/rpc-caller.ts'
import type { NodeStateStore } from '../recovery/store.ts'
import { CompletedContainers } from './completed-containers.ts'
import { DEFAULT_INTERVAL_MS, Heartbeat, keysOf, killByResourceManager } from './heartbeat.ts'
import { KeepAlive } from './keep-alive.ts'
import { Lateness, type StallMeter } from './lateness.ts'
import type {
  ManagedContainers,
  RegistrationListener,
  ShutdownReason,
  SystemCredentialsListener,
} from './managed-node.ts'
import type { NodeFacts } from './node-status.ts'
import { checkRegistration, registrationRequest } from './register.ts'

export interface NodeStatusUpdaterOptions {
  /** Retries and fails over by itself; rejects with ERR_RM_UNREACHABLE when it has given up. Closed by stop(). */
  readonly rm: RpcCaller<typeof resourceTracker.methods>
  /** Read when the node registers: by then the ports are known. */
  readonly node: NodeFacts
  httpPort(): number
  readonly resource: Resource
  readonly physicalResource: Resource
  readonly config: StatusUpdaterConfig
  readonly recovery: Pick<RecoveryConfig, 'isEnabled' | 'isSupervised'>
  readonly containers: ManagedContainers
  readonly store: Pick<NodeStateStore, 'removeContainer'>
  readonly listener: RegistrationListener
  readonly credentials: SystemCredentialsListener
  /** Called at most once; the heartbeats have ended by then. */
  onShutdown(reason: ShutdownReason): void
  readonly clock: Clock
  readonly log: Log
  readonly random?: () => number
  readonly stalls?: StallMeter
}

/** An unregistration that takes longer is given up: the ResourceManager finds out by the missing heartbeats. */
const UNREGISTER_DEADLINE_MS = 2000
/** Between two looks at the containers that are killed before a registration. */
const CLEANUP_POLL_MS = 1000
/** What the connection rejects with when no ResourceManager was reached within the configured wait. */
const UNREACHABLE = 'ERR_RM_UNREACHABLE'

/** Registers the node with the ResourceManager and keeps it alive there. Source: NodeStatusUpdaterImpl. */
export class NodeStatusUpdater implements Service {
  readonly name = 'node-status-updater'
  readonly #options: NodeStatusUpdaterOptions
  readonly #completed: CompletedContainers
  readonly #keepAlive: KeepAlive
  readonly #heartbeat: Heartbeat
  readonly #lateness: Lateness
  readonly #stopping = new AbortController()
  #loop: Promise<void> = Promise.resolve()
  #resource: Resource
  #isRegistered = false
  /** Set when the ResourceManager has ended the registration, or cannot be reached. */
  #isOver = false
  #isBeatWanted = false
  #intervalMs = DEFAULT_INTERVAL_MS
  #wake: AbortController | undefined

  constructor(options: NodeStatusUpdaterOptions) {
    this.#options = options
    this.#resource = options.resource
    const { containers, store, config, clock, log, credentials, listener } = options
    this.#completed = new CompletedContainers({
      containers,
      store,
      trackStoppedContainersMs: config.trackStoppedContainersMs,
      clock,
      log,
    })
    this.#keepAlive = new KeepAlive({
      containers,
      isEnabled: config.isSecurityEnabled && config.isLogAggregationEnabled,
      livenessExpiryMs: config.livenessExpiryMs,
      clock,
      random: options.random ?? Math.random,
    })
    this.#heartbeat = new Heartbeat({
      ...this.#parts(),
      containers,
      credentials,
      log,
      onMasterKeys: (keys) => listener.masterKeys(keys),
      onResource: (resource) => this.#setResource(resource),
    })
    this.#lateness = new Lateness({ clock, log, ...(options.stalls === undefined ? {} : { stalls: options.stalls }) })
  }

  /** Total of the node, as configured or as the ResourceManager has set it. */
  get resource(): Resource {
    return this.#resource
  }

  /** True for a container that has completed here within the tracked duration. */
  isRecentlyStopped(id: ContainerId): boolean {
    return this.#completed.isRecentlyStopped(id)
  }

  /**
   * Heartbeats at once: a container is done, or the node's health has changed. During a heartbeat: another one follows
   * it without a pause.
   */
  beatNow(): void {
    this.#isBeatWanted = true
    this.#wake?.abort()
  }

  /** Rejects when the ResourceManager refuses the node (Hadoop's words), or cannot be reached. */
  async start(signal: AbortSignal): Promise<void> {
    await this.#register(AbortSignal.any([signal, this.#stopping.signal]))
    this.#lateness.enable()
    this.#loop = this.#run()
  }

  /** Ends the heartbeats, and unregisters unless the node is to be back soon or is unknown there anyway. */
  async stop(): Promise<void> {
    if (this.#stopping.signal.aborted) return
    this.#stopping.abort(new BobbinError('ERR_STOPPING', 'the node status updater stops'))
    this.#wake?.abort()
    await this.#loop
    this.#lateness.disable()
    const { recovery, rm } = this.#options
    const isBackSoon = recovery.isEnabled && recovery.isSupervised
    if (this.#isRegistered && !this.#isOver && !isBackSoon) await this.#unregister()
    await this.#completed.idle()
    rm.close()
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    const { clock } = this.#options
    let dueMs = clock.monotonicMs()
    while (!signal.aborted && !this.#isOver) {
      const startMs = clock.monotonicMs()
      this.#lateness.check(startMs - dueMs)
      this.#isBeatWanted = false
      const intervalMs = await this.#beat()
      // From the start of the heartbeat, not from its answer: the interval does not drift. When a slow answer has used
      // it up, the next one is due now.
      dueMs = Math.max(startMs + intervalMs, clock.monotonicMs())
      if (!this.#isOver) dueMs = Math.min(dueMs, await this.#waitUntil(dueMs))
    }
  }

  /** @returns the time of waking when something asked for a heartbeat; `dueMs` else. */
  async #waitUntil(dueMs: number): Promise<number> {
    const { clock } = this.#options
    if (!this.#isBeatWanted && !this.#stopping.signal.aborted) {
      this.#wake = new AbortController()
      await clock.sleep(dueMs - clock.monotonicMs(), this.#wake.signal)
      this.#wake = undefined
    }
    return this.#isBeatWanted ? clock.monotonicMs() : dueMs
  }

  /** One heartbeat and what follows from its answer. Never rejects. @returns the interval, milliseconds */
  async #beat(): Promise<number> {
    const { rm, log } = this.#options
    const { signal } = this.#stopping
    try {
      const response = await rm.call('nodeHeartbeat', this.#heartbeat.request(), signal)
      const { action, intervalMs, diagnostics } = this.#heartbeat.handle(response)
      this.#intervalMs = intervalMs
      if (action === 'shutdown') this.#shutDown(diagnostics)
      else if (action === 'resync') await this.#resync(diagnostics)
    } catch (thrown) {
      if (signal.aborted) return 0
      if (isUnreachable(thrown)) this.#giveUp(thrown)
      else {
        log.error({ err: asError(thrown) }, `Caught exception in status-updater: ${messageOf(thrown)}`)
        this.#heartbeat.missed()
      }
    }
    return this.#intervalMs
  }

  async #register(signal: AbortSignal): Promise<void> {
    const { listener, rm, containers, physicalResource, config, node, log } = this.#options
    listener.registering()
    try {
      const request = registrationRequest({
        ...this.#parts(),
        containers,
        httpPort: this.#options.httpPort(),
        resource: this.#resource,
        physicalResource,
        hadoopVersion: config.hadoopVersion,
      })
      const response = await rm.call('registerNodeManager', request, signal)
      checkRegistration(response, config)
      const keys = keysOf(response)
      listener.registered({ nodeId: node.nodeId(), rmIdentifier: toNumber(response.rmIdentifier, 0), ...keys })
      this.#isRegistered = true
      this.#heartbeat.restart(keys)
      if (response.resource) this.#setResource(resourceFromProto(response.resource))
      const size = response.resource ? 'updated total resource' : 'total resource'
      log.info(`Registered with ResourceManager as ${node.nodeId()} with ${size} of ${resourceText(this.#resource)}`)
    } catch (thrown) {
      listener.unregistered()
      throw thrown
    }
  }

  #parts() {
    return { report: this.#options.node, completed: this.#completed, keepAlive: this.#keepAlive }
  }

  async #resync(diagnostics: string): Promise<void> {
    const { listener, config, log } = this.#options
    const { signal } = this.#stopping
    log.warn('Node is out of sync with ResourceManager, hence resyncing.')
    log.warn(`Message from ResourceManager: ${diagnostics}`)
    listener.unregistered()
    if (config.isWorkPreserving) log.info('Preserving containers on resync')
    else await this.#killAll()
    if (signal.aborted) return
    try {
      await this.#register(signal)
      log.info('NodeStatusUpdater is reRegistered and restarted')
      this.#isBeatWanted = true
    } catch (thrown) {
      if (signal.aborted) return
      if (isUnreachable(thrown)) this.#giveUp(thrown)
      else this.#end('refused', `Registration after a resync failed: ${messageOf(thrown)}`)
    }
  }

  /** Resolves when every container is complete: their statuses go into the registration. */
  async #killAll(): Promise<void> {
    const { containers, clock, log } = this.#options
    log.info('Cleaning up running containers on resync')
    for (const { id, state } of [...containers.containers]) if (state !== 'DONE') killByResourceManager(containers, id)
    const isBusy = () => [...containers.containers].some((container) => container.state !== 'DONE')
    while (isBusy() && !this.#stopping.signal.aborted) {
      this.#isBeatWanted = false
      await this.#waitUntil(clock.monotonicMs() + CLEANUP_POLL_MS)
    }
  }

  #shutDown(diagnostics: string): void {
    const { log } = this.#options
    log.warn('Received SHUTDOWN signal from Resourcemanager as part of heartbeat, hence shutting down.')
    log.warn(`Message from ResourceManager: ${diagnostics}`)
    this.#end('ordered', diagnostics)
  }

  #giveUp(thrown: unknown): void {
    this.#end('unreachable', messageOf(thrown))
  }

  #end(kind: ShutdownReason['kind'], message: string): void {
    this.#isOver = true
    this.#lateness.disable()
    if (kind !== 'ordered') this.#options.log.error(`Node status updater ends: ${message}`)
    this.#options.onShutdown({ kind, message })
  }

  #setResource(resource: Resource): void {
    const { log } = this.#options
    if (resourceText(resource) !== resourceText(this.#resource))
      log.info(`Node's resource is updated to ${resourceText(resource)}`)
    this.#resource = resource
  }

  async #unregister(): Promise<void> {
    const { rm, node, clock, log } = this.#options
    const deadline = new AbortController()
    const timer = clock.schedule(UNREGISTER_DEADLINE_MS, () =>
      deadline.abort(new BobbinError('ERR_DEADLINE', `no answer within ${UNREGISTER_DEADLINE_MS} ms`)),
    )
    try {
      await rm.call('unRegisterNodeManager', { nodeId: nodeIdToProto(node.nodeId()) }, deadline.signal)
      log.info(`Successfully Unregistered the Node ${node.nodeId()} with ResourceManager.`)
    } catch (thrown) {
      log.warn(`Unregistration of the Node ${node.nodeId()} failed: ${messageOf(thrown)}`)
    } finally {
      timer.cancel()
    }
  }
}

function isUnreachable(thrown: unknown): boolean {
  return thrown instanceof BobbinError && thrown.code === UNREACHABLE
}
