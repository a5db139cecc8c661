import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import {
  containerId,
  containerIdToProto,
  attemptParts,
  type ApplicationAttemptId,
  type ContainerId,
} from '../protocol/ids.ts'
import { hadoop } from '../protocol/messages.ts'
import { resourceText, type Resource } from '../protocol/resource.ts'
import { componentwiseMax, componentwiseMin, fitsIn, NOTHING, plus } from './amounts.ts'
import { ANY, type Ask, type AskKey, type Locality } from './asks.ts'
import { abortedStatus, CompletionText, RmContainer } from './containers.ts'
import { LivenessMonitor } from './liveness.ts'
import type { RmNode, RmNodes } from './nodes.ts'
import { SchedulerAttempt, type SchedulerAttemptFields } from './scheduler-attempt.ts'

type ContainerStatus = hadoop.yarn.ContainerStatusProto.$Properties

export interface SchedulerListener {
  /** The container of an attempt's ApplicationMaster; it counts as acquired. */
  masterAllocated(container: RmContainer): void
  /** A container that its master knows of, or the master's own, is over. Called once for each. */
  containerCompleted(container: RmContainer, status: ContainerStatus): void
}

export interface SchedulerOptions {
  readonly nodes: RmNodes
  readonly minimumAllocation: Resource
  readonly maximumAllocation: Resource
  readonly containerExpiryMs: number
  readonly listener: SchedulerListener
  readonly clock: Clock
  readonly log: Log
}

/**
 * Places containers by memory and vcores: what was submitted first is served first, wherever it fits. An ask that fits
 * nowhere now does not hold up those behind it; nothing is reserved, nothing is preempted.
 */
export class FifoScheduler {
  readonly #options: SchedulerOptions
  readonly #attempts = new Map<ApplicationAttemptId, SchedulerAttempt>()
  readonly #containers = new Map<ContainerId, RmContainer>()
  /** Of containers that no master has pulled: the asks to put back when one is lost. */
  readonly #servedAsks = new Map<ContainerId, Ask[]>()
  readonly #unused: LivenessMonitor<ContainerId>

  constructor(options: SchedulerOptions) {
    this.#options = options
    this.#unused = new LivenessMonitor<ContainerId>({
      expiryMs: options.containerExpiryMs,
      clock: options.clock,
      onExpired: (id) => this.abort(id, CompletionText.EXPIRED),
    })
  }

  start(): void {
    this.#unused.start()
  }

  stop(): void {
    this.#unused.stop()
  }

  add(fields: SchedulerAttemptFields): SchedulerAttempt {
    const attempt = new SchedulerAttempt(fields)
    this.#attempts.set(attempt.id, attempt)
    return attempt
  }

  find(id: ApplicationAttemptId): SchedulerAttempt | undefined {
    return this.#attempts.get(id)
  }

  findContainer(id: ContainerId): RmContainer | undefined {
    return this.#containers.get(id)
  }

  /** Forgets the attempt; its containers end. */
  remove(id: ApplicationAttemptId): void {
    const attempt = this.#attempts.get(id)
    if (attempt === undefined) return
    for (const container of [...attempt.containersById.values()])
      this.abort(container.id, CompletionText.COMPLETED_APPLICATION)
    this.#attempts.delete(id)
  }

  /** Serves what can be served. May be called at any time; the more often, the sooner. */
  schedule(): void {
    const waiting = [...this.#attempts.values()].filter((attempt) => attempt.asks.pendingCount > 0)
    if (waiting.length === 0) return
    const nodes = this.#options.nodes.usable
    for (const attempt of waiting.sort((a, b) => a.order - b.order))
      for (const key of attempt.asks.pending()) this.#serve(attempt, key, nodes)
  }

  /** Hands out what has been allocated since the last call. From now on the containers expire unless they are used. */
  pull(attempt: SchedulerAttempt): RmContainer[] {
    const pulled = attempt.takeAllocated()
    for (const container of pulled) this.#acquire(container)
    return pulled
  }

  /** A heartbeat shows the container alive. */
  launched(id: ContainerId): void {
    this.#unused.forget(id)
    this.#containers.get(id)?.launched()
  }

  /** The node reports the end of a container. */
  completed(id: ContainerId, status: ContainerStatus): void {
    const container = this.#containers.get(id)
    if (container !== undefined) this.#complete(container, status)
  }

  /** Ends a container for a reason of our own, with exit status −100. Its node is told to kill it. Unknown: nothing. */
  abort(id: ContainerId, diagnostics: string): void {
    const container = this.#containers.get(id)
    if (container === undefined) return
    const node = this.#options.nodes.findActive(container.fields.nodeId)
    if (container.state !== 'ALLOCATED') node?.orders.containersToCleanup.add(id)
    const { C_COMPLETE } = hadoop.yarn.ContainerStateProto
    this.#complete(container, abortedStatus(containerIdToProto(id), diagnostics, C_COMPLETE))
  }

  /** The node takes no containers any more: those on it are lost. */
  nodeUnusable(node: RmNode): void {
    for (const id of [...node.containersById.keys()]) this.abort(id, CompletionText.LOST_NODE)
  }

  /** What one container may have now: the configured maximum, lowered to the largest usable node in each type. */
  get maximum(): Resource {
    const { nodes, maximumAllocation } = this.#options
    const totals = nodes.usable.map((node) => node.total)
    return totals.length === 0
      ? maximumAllocation
      : componentwiseMin(maximumAllocation, totals.reduce(componentwiseMax, NOTHING))
  }

  /** Of the usable nodes together. */
  get clusterTotal(): Resource {
    return this.#options.nodes.usable.reduce((sum, node) => plus(sum, node.total), NOTHING)
  }

  get clusterUsed(): Resource {
    return this.#options.nodes.usable.reduce((sum, node) => plus(sum, node.used), NOTHING)
  }

  /** What an attempt may still hope for: free on the usable nodes that it has not excluded, never negative. */
  headroom(attempt: SchedulerAttempt): Resource {
    const free = this.#options.nodes.usable
      .filter((node) => !attempt.blacklist.has(node.host))
      .reduce((sum, node) => plus(sum, componentwiseMax(node.available, NOTHING)), NOTHING)
    return free
  }

  get pendingCount(): number {
    return [...this.#attempts.values()].reduce((sum, attempt) => sum + attempt.asks.pendingCount, 0)
  }

  get pendingResource(): Resource {
    return [...this.#attempts.values()].reduce((sum, attempt) => plus(sum, attempt.asks.pendingResource), NOTHING)
  }

  get containerCount(): number {
    return this.#containers.size
  }

  #serve(attempt: SchedulerAttempt, key: AskKey, nodes: readonly RmNode[]): void {
    while (attempt.asks.wantedOf(key) > 0) {
      const place = this.#place(attempt, key, nodes)
      if (place === undefined) return
      this.#allocate(attempt, key, place.node, place.locality)
    }
  }

  /** The nearest node to what is asked that has room; among equals the one with the most memory free. */
  #place(
    attempt: SchedulerAttempt,
    key: AskKey,
    nodes: readonly RmNode[],
  ): { node: RmNode; locality: Locality } | undefined {
    const order: readonly Locality[] = ['host', 'rack', 'any']
    let best: { node: RmNode; locality: Locality } | undefined
    for (const node of nodes) {
      if (attempt.blacklist.has(node.host) || !fitsIn(key.capability, node.available)) continue
      const locality = attempt.asks.localityOf(key, node.host, node.rack)
      if (locality === undefined) continue
      const nearer = best === undefined ? -1 : order.indexOf(locality) - order.indexOf(best.locality)
      if (best === undefined || nearer < 0 || (nearer === 0 && isFreer(node, best.node))) best = { node, locality }
    }
    return best
  }

  #allocate(attempt: SchedulerAttempt, key: AskKey, node: RmNode, locality: Locality): void {
    const { clock, log, listener } = this.#options
    const isMaster = attempt.isMasterWanted
    const container = new RmContainer(
      {
        id: containerId({ ...attemptParts(attempt.id), epoch: 0, sequence: ++attempt.sequence }),
        attemptId: attempt.id,
        user: attempt.user,
        nodeId: node.id,
        nodeHttpAddress: node.httpAddress,
        resource: key.capability,
        priority: key.priority,
        allocationRequestId: key.allocationRequestId,
        creationTime: clock.now(),
        isMaster,
      },
      log,
    )
    const names = { host: [node.host, node.rack, ANY], rack: [node.rack, ANY], any: [ANY] }[locality]
    this.#servedAsks.set(container.id, attempt.asks.served(key, names))
    this.#track(attempt, node, container)
    log.info(`Assigned container ${container.id} of capacity ${resourceText(key.capability)} on host ${node.id}`)
    if (isMaster) {
      attempt.isMasterWanted = false
      this.#acquire(container)
      listener.masterAllocated(container)
    } else attempt.addAllocated(container)
  }

  #track(attempt: SchedulerAttempt, node: RmNode, container: RmContainer): void {
    this.#containers.set(container.id, container)
    attempt.containersById.set(container.id, container)
    node.addContainer(container)
  }

  #acquire(container: RmContainer): void {
    this.#servedAsks.delete(container.id)
    container.acquired()
    this.#unused.watch(container.id)
  }

  #complete(container: RmContainer, status: ContainerStatus): void {
    const { clock, nodes, listener } = this.#options
    const { id, state } = container
    container.finished(status.exitStatus ?? 0, clock.now())
    this.#unused.forget(id)
    this.#containers.delete(id)
    nodes.find(container.fields.nodeId)?.removeContainer(container)
    const attempt = this.#attempts.get(container.fields.attemptId)
    attempt?.forget(container)
    const served = this.#servedAsks.get(id)
    this.#servedAsks.delete(id)
    // Its master has never heard of it, so that it gets another one in place of a completion.
    if (state === 'ALLOCATED') attempt?.asks.restore(served ?? [])
    else listener.containerCompleted(container, status)
  }
}

function isFreer(a: RmNode, b: RmNode): boolean {
  return a.available.memoryMb > b.available.memoryMb
}
