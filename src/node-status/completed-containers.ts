import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { Tasks } from '../base/tasks.ts'
import { toContainerStatus, toNMContainerStatus } from '../containers/container-status.ts'
import { applicationOfContainer, type ApplicationId, type ContainerId } from '../protocol/ids.ts'
import type { hadoop } from '../protocol/messages.ts'
import type { NodeStateStore } from '../recovery/store.ts'
import type { ManagedContainers } from './managed-node.ts'

type ContainerStatus = hadoop.yarn.ContainerStatusProto.$Properties
type NMContainerStatus = hadoop.yarn.NMContainerStatusProto.$Properties

export interface CompletedContainersOptions {
  readonly containers: ManagedContainers
  readonly store: Pick<NodeStateStore, 'removeContainer'>
  /** At least this long a stopped container stays known to `isRecentlyStopped`. */
  readonly trackStoppedContainersMs: number
  readonly clock: Clock
  readonly log: Log
}

/** Application states in which no master waits for a container any more. Source: isApplicationStopped. */
const STOPPED_STATES: ReadonlySet<string> = new Set([
  'FINISHING_CONTAINERS_WAIT',
  'APPLICATION_RESOURCES_CLEANINGUP',
  'FINISHED',
])

/**
 * Decides in which heartbeat a completion is reported, and how long a completed container stays known: in the table
 * until the ResourceManager has acknowledged it, in "recently stopped" for some minutes more.
 * Source: NodeStatusUpdaterImpl.getContainerStatuses, removeOrTrackCompletedContainersFromContext.
 */
export class CompletedContainers {
  readonly #options: CompletedContainersOptions
  readonly #removals: Tasks
  /** Completions that the next heartbeat reports. */
  readonly #pending = new Map<ContainerId, ContainerStatus>()
  /** With the time from which each may be forgotten; in order of time. */
  readonly #recentlyStopped = new Map<ContainerId, number>()
  /** Acknowledged before they were done. */
  readonly #acknowledgedEarly = new Set<ContainerId>()

  constructor(options: CompletedContainersOptions) {
    this.#options = options
    this.#removals = new Tasks(options.log)
  }

  /** For a heartbeat: every container that is not complete, then the completions that have not been reported yet. */
  statuses(): ContainerStatus[] {
    const { containers } = this.#options
    const statuses: ContainerStatus[] = []
    for (const container of [...containers.containers]) {
      if (container.state !== 'DONE') {
        statuses.push(toContainerStatus(container))
        continue
      }
      const isStopped = this.#isApplicationStopped(container.applicationId)
      if (isStopped) containers.forgetContainer(container.id)
      if (isStopped || !this.#recentlyStopped.has(container.id))
        this.#pending.set(container.id, toContainerStatus(container))
      this.#remember(container.id)
    }
    this.#forgetOld()
    statuses.push(...this.#pending.values())
    return statuses
  }

  /** For a registration: every container whose application is known, completed ones too; the others are dropped. */
  registrationStatuses(): NMContainerStatus[] {
    const { containers } = this.#options
    const statuses: NMContainerStatus[] = []
    for (const container of [...containers.containers]) {
      if (containers.findApplication(container.applicationId) === undefined) {
        containers.forgetContainer(container.id)
        continue
      }
      statuses.push(toNMContainerStatus(container))
      if (container.state === 'DONE') this.#remember(container.id)
    }
    return statuses
  }

  /** The master has picked these up, or nobody will. One that is not done yet is forgotten once it is. */
  acknowledge(ids: Iterable<ContainerId>): void {
    const { containers, log } = this.#options
    for (const id of ids) this.#acknowledgedEarly.add(id)
    const removed: ContainerId[] = []
    for (const id of [...this.#acknowledgedEarly]) {
      const container = containers.findContainer(id)
      if (container === undefined || container.state === 'DONE') this.#acknowledgedEarly.delete(id)
      if (container?.state === 'DONE') {
        containers.forgetContainer(id)
        removed.push(id)
      }
      this.#pending.delete(id)
    }
    if (removed.length > 0) log.info(`Removed completed containers from NM context: [${removed.join(', ')}]`)
  }

  /** The pending completions have reached the ResourceManager, or are going to through a registration. */
  clearPending(): void {
    this.#pending.clear()
  }

  /** True for a container that has completed here within the tracked duration, still in the table or not. */
  isRecentlyStopped(id: ContainerId): boolean {
    return this.#recentlyStopped.has(id)
  }

  /** Resolves when the removals from the store that are under way are over. */
  idle(): Promise<void> {
    return this.#removals.idle()
  }

  #isApplicationStopped(id: ApplicationId): boolean {
    const application = this.#options.containers.findApplication(id)
    return application === undefined || STOPPED_STATES.has(application.state)
  }

  #remember(id: ContainerId): void {
    if (this.#recentlyStopped.has(id)) return
    this.#recentlyStopped.set(id, this.#options.clock.now() + this.#options.trackStoppedContainersMs)
  }

  #forgetOld(): void {
    const { containers, clock, store } = this.#options
    const now = clock.now()
    for (const [id, expiry] of this.#recentlyStopped) {
      if (expiry >= now) break
      if (containers.findContainer(id) !== undefined) continue
      if (!this.#isApplicationStopped(applicationOfContainer(id))) continue
      this.#recentlyStopped.delete(id)
      this.#removals.run(`removing container ${id} from the store`, () => store.removeContainer(id))
    }
  }
}
