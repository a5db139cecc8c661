import type { CreateApplication } from '../applications/application.ts'
import type { AuxiliaryServices } from '../aux-services/registry.ts'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Service } from '../base/service.ts'
import type { CreateContainer } from '../containers/container.ts'
import type { containerManagement } from '../protocol/container-management.ts'
import { containerIdFromProto, type NodeId } from '../protocol/ids.ts'
import { hadoop } from '../protocol/messages.ts'
import type { Handlers } from '../protocol/rpc-caller.ts'
import type { NodeStateStore } from '../recovery/store.ts'
import { masterKeyFromProto } from '../security/master-key.ts'
import { RequestAudit } from './audit.ts'
import { containerStatuses } from './container-statuses.ts'
import type { NodeContainers } from './node-containers.ts'
import type { RecentlyStopped } from './recently-stopped.ts'
import { RegistrationGate } from './registration-gate.ts'
import { StartContainers, type NodeTokens } from './start-containers.ts'
import { stopContainers } from './stop-containers.ts'

const { SignalContainerCommandProto } = hadoop.yarn

type MasterKeyProto = hadoop.yarn.MasterKeyProto.$Properties

export interface ContainerManagerOptions {
  readonly node: NodeContainers
  readonly tokens: NodeTokens
  readonly createContainer: CreateContainer
  readonly createApplication: CreateApplication
  readonly auxServices: Pick<AuxiliaryServices, 'has' | 'metaData'>
  readonly recentlyStopped: RecentlyStopped
  readonly store: Pick<NodeStateStore, 'storeApplication' | 'storeContainer' | 'storeContainerKilled'>
  readonly config: ContainerManagerConfig
  readonly clock: Clock
  readonly log: Log
  /** Named NMAuditLogger, so that its lines can be told apart. */
  readonly auditLog: Log
}

export interface ContainerManagerConfig {
  readonly sleepBeforeSigkillMs: number
  readonly processKillWaitMs: number
  /** The next process takes the containers over: they go on while this one stops. */
  readonly keepsContainersOnStop: boolean
}

/** New keys, each absent when it has not changed. */
interface MasterKeyUpdates {
  readonly containerToken: MasterKeyProto | undefined
  readonly nmToken: MasterKeyProto | undefined
}

interface Registration extends MasterKeyUpdates {
  readonly nodeId: NodeId
  readonly rmIdentifier: number
}

/** Added to the time that killing takes. Java: ContainerManagerImpl.SHUTDOWN_CLEANUP_SLOP_MS. */
const STOP_SLOP_MS = 1000

/**
 * Serves the ContainerManagementProtocol: who may do what, then the containers themselves. It listens to the
 * registration, for that decides which tokens count. Source: ContainerManagerImpl.
 */
export class ContainerManager implements Service {
  readonly name = 'container-manager'
  /** Killing takes its configured time, and saying what is left a moment more. */
  readonly stopDeadlineMs: number
  readonly #options: ContainerManagerOptions
  readonly #gate = new RegistrationGate()
  readonly #audit: RequestAudit
  readonly #starts: StartContainers

  constructor(options: ContainerManagerOptions) {
    const { createContainer, createApplication } = options
    this.#options = options
    this.stopDeadlineMs = killTimeMs(options.config) + 2 * STOP_SLOP_MS
    this.#audit = new RequestAudit(options.auditLog)
    this.#starts = new StartContainers({
      ...options,
      gate: this.#gate,
      factories: { createContainer, createApplication },
      audit: this.#audit,
    })
  }

  /** Calls are answered from the beginning; before the registration every start is refused. */
  start(): Promise<void> {
    return Promise.resolve()
  }

  /** Refuses starts from here on, ends every application and waits as long as killing may take until all are FINISHED. */
  async stop(): Promise<void> {
    const { node, config, clock, log } = this.#options
    this.#starts.stopAccepting()
    // Those that wait are to hear why they are refused.
    this.#gate.open(this.#gate.rmIdentifier)
    const ids = node.unfinishedApplicationIds
    if (ids.length === 0) return
    log.info(`Applications still running : [${ids.join(', ')}]`)
    if (config.keepsContainersOnStop) return
    for (const id of ids) node.finishApplication(id, 'Application killed on shutdown')
    log.info('Waiting for Applications to be Finished')
    const waiting = new AbortController()
    await Promise.race([node.allFinished(), clock.sleep(killTimeMs(config) + STOP_SLOP_MS, waiting.signal)])
    waiting.abort()
    const alive = node.unfinishedApplicationIds
    if (alive.length === 0) log.info('All applications in FINISHED state')
    else log.warn(`Done waiting for Applications to be Finished. Still alive: [${alive.join(', ')}]`)
  }

  /**
   * Updates of a running container, localization for it and its re-initialization are not served: the server answers
   * them as methods that it does not have.
   */
  handlers(): Handlers<typeof containerManagement.methods> {
    const parts = { ...this.#options, audit: this.#audit }
    return {
      startContainers: (request, caller) => this.#starts.handle(request, caller),
      stopContainers: (request, caller) => stopContainers(parts, request, caller),
      getContainerStatuses: (request, caller) => containerStatuses(parts, request, caller),
      signalToContainer: ({ containerId, command }) => {
        // As in Hadoop, any attempt that may log in here may signal any container.
        const id = containerIdFromProto(containerId)
        this.#options.log.info(`${id} signal request ${SignalContainerCommandProto[command]} by Application Master`)
        this.#options.node.signalContainer(id, command)
        return {}
      },
    }
  }

  /** From here until registered or unregistered starts wait, for the answer may be overtaken by an ApplicationMaster. */
  registering(): void {
    this.#gate.close()
  }

  registered(registration: Registration): void {
    const { container, nm } = this.#options.tokens
    container.setNodeId(registration.nodeId)
    nm.setNodeId(registration.nodeId)
    this.masterKeys(registration)
    this.#gate.open(registration.rmIdentifier)
  }

  /** Every start is refused until the next registration. */
  unregistered(): void {
    this.#gate.open(undefined)
  }

  masterKeys({ containerToken, nmToken }: MasterKeyUpdates): void {
    const { container, nm } = this.#options.tokens
    if (containerToken !== undefined) container.setMasterKey(masterKeyFromProto(containerToken))
    if (nmToken !== undefined) nm.setMasterKey(masterKeyFromProto(nmToken))
  }
}

/** From a kill to the last attempt at it. */
function killTimeMs({ sleepBeforeSigkillMs, processKillWaitMs }: ContainerManagerConfig): number {
  return sleepBeforeSigkillMs + processKillWaitMs
}
