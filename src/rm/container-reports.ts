import type { Log } from '../base/log.ts'
import { ContainerExitStatus } from '../protocol/container-exit-status.ts'
import {
  applicationOfContainer,
  containerIdFromProto,
  containerIdToProto,
  type ApplicationId,
  type ContainerId,
} from '../protocol/ids.ts'
import { hadoop } from '../protocol/messages.ts'
import type { Applications } from './applications.ts'
import { abortedStatus } from './containers.ts'
import type { RmNode } from './nodes.ts'
import type { FifoScheduler } from './scheduler.ts'

type ContainerStatus = hadoop.yarn.ContainerStatusProto.$Properties
type RegisteredStatus = hadoop.yarn.NMContainerStatusProto.$Properties

const { ContainerStateProto } = hadoop.yarn

export interface ContainerReportsOptions {
  readonly applications: Applications
  readonly scheduler: FifoScheduler
  readonly log: Log
}

/** Takes in what a node says of its containers. Source: RMNodeImpl, AbstractYarnScheduler. */
export class ContainerReports {
  readonly #options: ContainerReportsOptions

  constructor(options: ContainerReportsOptions) {
    this.#options = options
  }

  isGoingOn(id: ApplicationId): boolean {
    return this.#options.applications.find(id)?.isOver === false
  }

  /** A heartbeat's list: every container that runs on the node is in it. */
  reported(node: RmNode, statuses: readonly ContainerStatus[]): void {
    const seen = new Set<ContainerId>()
    for (const status of statuses) {
      const id = containerIdFromProto(status.containerId)
      seen.add(id)
      if (status.state === ContainerStateProto.C_COMPLETE) this.#completed(node, id, status)
      else this.#running(node, id)
    }
    this.#missing(node, seen)
  }

  /** A registration's list counts like a heartbeat's. */
  registered(node: RmNode, statuses: readonly RegisteredStatus[]): void {
    this.reported(node, statuses.map(completion))
  }

  #completed(node: RmNode, id: ContainerId, status: ContainerStatus): void {
    if (node.completedIds.has(id)) return
    if (this.#options.scheduler.findContainer(id) === undefined) {
      // Ended by us before, or never ours: there is nobody to tell.
      node.orders.containersToForget.add(id)
      return
    }
    node.completedIds.add(id)
    this.#options.scheduler.completed(id, status)
  }

  #running(node: RmNode, id: ContainerId): void {
    if (this.#options.scheduler.findContainer(id) !== undefined) {
      this.#options.scheduler.launched(id)
      return
    }
    const application = applicationOfContainer(id)
    if (this.isGoingOn(application)) node.orders.containersToCleanup.add(id)
    else node.orders.applicationsToCleanup.add(application)
  }

  #missing(node: RmNode, seen: ReadonlySet<ContainerId>): void {
    const missing = [...node.containersById.values()].filter(({ id, state }) => state === 'RUNNING' && !seen.has(id))
    for (const { id } of missing) {
      const diagnostics = `Container ${id} was running but not reported from ${node.id}`
      this.#options.log.warn(diagnostics)
      const status = abortedStatus(containerIdToProto(id), diagnostics, ContainerStateProto.C_COMPLETE)
      this.#options.scheduler.completed(id, status)
    }
  }
}

function completion(status: RegisteredStatus): ContainerStatus {
  return {
    containerId: status.containerId ?? null,
    state: status.containerState ?? ContainerStateProto.C_RUNNING,
    diagnostics: status.diagnostics ?? '',
    exitStatus: status.containerExitStatus ?? ContainerExitStatus.INVALID,
    capability: status.resource ?? null,
    executionType: status.executionType ?? null,
  }
}
