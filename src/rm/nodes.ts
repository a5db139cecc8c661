import { BobbinError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { StateMachine, type Table } from '../base/state-machine.ts'
import { nodeParts, type ApplicationId, type ContainerId, type NodeId } from '../protocol/ids.ts'
import type { hadoop } from '../protocol/messages.ts'
import type { Resource } from '../protocol/resource.ts'
import { minus, NOTHING, plus } from './amounts.ts'
import type { RmContainer } from './containers.ts'

type HeartbeatResponse = hadoop.yarn.NodeHeartbeatResponseProto.$Properties
type Utilization = hadoop.yarn.ResourceUtilizationProto.$Properties
type Signal = hadoop.yarn.SignalContainerRequestProto.$Properties

/** Every node is in it: topology scripts are not run. Source: NetworkTopology.DEFAULT_RACK. */
const DEFAULT_RACK = '/default-rack'

interface Health {
  readonly isHealthy: boolean
  readonly report: string
  readonly reportTime: number
}

type Edges = {
  RUNNING: { HEALTH: 'RUNNING' | 'UNHEALTHY'; EXPIRED: 'LOST'; TOO_FAR_BEHIND: 'REBOOTED'; UNREGISTERED: 'SHUTDOWN' }
  UNHEALTHY: { HEALTH: 'RUNNING' | 'UNHEALTHY'; EXPIRED: 'LOST'; TOO_FAR_BEHIND: 'REBOOTED'; UNREGISTERED: 'SHUTDOWN' }
  // Final: a registration makes a new node.
  LOST: { HEALTH: 'LOST'; EXPIRED: 'LOST'; TOO_FAR_BEHIND: 'LOST'; UNREGISTERED: 'LOST' }
  REBOOTED: { HEALTH: 'REBOOTED'; EXPIRED: 'REBOOTED'; TOO_FAR_BEHIND: 'REBOOTED'; UNREGISTERED: 'REBOOTED' }
  SHUTDOWN: { HEALTH: 'SHUTDOWN'; EXPIRED: 'SHUTDOWN'; TOO_FAR_BEHIND: 'SHUTDOWN'; UNREGISTERED: 'SHUTDOWN' }
}
type Payloads = { HEALTH: Health; EXPIRED: undefined; TOO_FAR_BEHIND: undefined; UNREGISTERED: undefined }
export type RmNodeState = keyof Edges
type Departure = 'EXPIRED' | 'TOO_FAR_BEHIND' | 'UNREGISTERED'

const verdict = (_: RmNode, health: Health): 'RUNNING' | 'UNHEALTHY' => (health.isHealthy ? 'RUNNING' : 'UNHEALTHY')
const active = {
  HEALTH: verdict,
  EXPIRED: () => 'LOST' as const,
  TOO_FAR_BEHIND: () => 'REBOOTED' as const,
  UNREGISTERED: () => 'SHUTDOWN' as const,
}
const stay = <S extends string>(state: S) => ({
  HEALTH: () => state,
  EXPIRED: () => state,
  TOO_FAR_BEHIND: () => state,
  UNREGISTERED: () => state,
})

const transitions: Table<RmNode, Payloads, Edges> = {
  RUNNING: active,
  UNHEALTHY: active,
  LOST: stay('LOST'),
  REBOOTED: stay('REBOOTED'),
  SHUTDOWN: stay('SHUTDOWN'),
}

export interface RmNodeFields {
  readonly id: NodeId
  readonly httpPort: number
  readonly total: Resource
  /** Of the machine; nothing when the node does not say. */
  readonly physical: Resource
  /** Hadoop version that the node says it is. */
  readonly version: string
  /** Where the registration came from. */
  readonly remoteAddress: string
}

/** What waits for the node's next heartbeat. Each set is emptied into one response. */
export interface NodeOrders {
  readonly containersToCleanup: Set<ContainerId>
  readonly applicationsToCleanup: Set<ApplicationId>
  /** Completions that the master has taken: the node may forget the containers. */
  readonly containersToForget: Set<ContainerId>
  readonly signals: Signal[]
}

/** One NodeManager. Source: RMNodeImpl. */
export class RmNode {
  readonly host: string
  readonly port: number
  readonly rack = DEFAULT_RACK
  /** Of the last answered heartbeat; 0 after a registration. */
  responseId = 0
  /** Answered again when the node repeats a heartbeat. */
  lastResponse: HeartbeatResponse | undefined
  containersUtilization: Utilization | undefined
  nodeUtilization: Utilization | undefined
  /** Allocated here and not over. */
  readonly containersById = new Map<ContainerId, RmContainer>()
  /** Reported as complete and not yet acknowledged; a repeated report of them is skipped. */
  readonly completedIds = new Set<ContainerId>()
  readonly orders: NodeOrders = {
    containersToCleanup: new Set(),
    applicationsToCleanup: new Set(),
    containersToForget: new Set(),
    signals: [],
  }
  #fields: RmNodeFields
  #health: Health = { isHealthy: true, report: '', reportTime: 0 }
  #used: Resource = NOTHING
  readonly #machine: StateMachine<RmNode, Payloads, Edges>

  constructor(fields: RmNodeFields, log: Log) {
    this.#fields = fields
    const { host, port } = nodeParts(fields.id)
    this.host = host
    this.port = port
    this.#machine = new StateMachine(transitions, 'RUNNING', this, { subject: `RMNode ${fields.id}`, log })
  }

  get id(): NodeId {
    return this.#fields.id
  }

  get state(): RmNodeState {
    return this.#machine.state
  }

  get isUsable(): boolean {
    return this.state === 'RUNNING'
  }

  get total(): Resource {
    return this.#fields.total
  }

  get used(): Resource {
    return this.#used
  }

  get available(): Resource {
    return minus(this.total, this.#used)
  }

  get physical(): Resource {
    return this.#fields.physical
  }

  get version(): string {
    return this.#fields.version
  }

  get httpAddress(): string {
    return `${this.host}:${this.#fields.httpPort}`
  }

  /** The `service` of tokens for it: `ip:port`. */
  get tokenService(): string {
    const { remoteAddress } = this.#fields
    return /^\d+\.\d+\.\d+\.\d+$/.test(remoteAddress) ? `${remoteAddress}:${this.port}` : this.id
  }

  get health(): Health {
    return this.#health
  }

  /** The same node registers again: it may have come back with another size or web port. */
  reconnect(fields: RmNodeFields): void {
    this.#fields = fields
    this.responseId = 0
    this.lastResponse = undefined
  }

  reportHealth(health: Health): void {
    this.#health = health
    this.#machine.send({ type: 'HEALTH', payload: health })
  }

  depart(why: Departure): void {
    this.#machine.send({ type: why })
  }

  addContainer(container: RmContainer): void {
    this.containersById.set(container.id, container)
    this.#used = plus(this.#used, container.fields.resource)
  }

  removeContainer(container: RmContainer): void {
    if (!this.containersById.delete(container.id)) return
    this.#used = minus(this.#used, container.fields.resource)
  }
}

/** How many nodes that are gone are remembered. */
const MAX_INACTIVE_NODES = 1000

/** All nodes: those that heartbeat, and those that were lost, shut down or told to register again. */
export class RmNodes {
  readonly #active = new Map<NodeId, RmNode>()
  readonly #inactive = new Map<NodeId, RmNode>()

  /** RUNNING and UNHEALTHY. */
  get active(): Iterable<RmNode> {
    return this.#active.values()
  }

  get inactive(): Iterable<RmNode> {
    return this.#inactive.values()
  }

  get activeCount(): number {
    return this.#active.size
  }

  get usable(): RmNode[] {
    return [...this.#active.values()].filter((node) => node.isUsable)
  }

  findActive(id: NodeId): RmNode | undefined {
    return this.#active.get(id)
  }

  find(id: NodeId): RmNode | undefined {
    return this.#active.get(id) ?? this.#inactive.get(id)
  }

  add(node: RmNode): void {
    if (this.#active.has(node.id)) throw new BobbinError('ERR_NODE_KNOWN', `node ${node.id} is registered already`)
    this.#inactive.delete(node.id)
    this.#active.set(node.id, node)
  }

  isInactive(id: NodeId): boolean {
    return this.#inactive.has(id)
  }

  /** Moves a node that has departed to the inactive ones. */
  retire(node: RmNode): void {
    this.#active.delete(node.id)
    this.#inactive.delete(node.id)
    this.#inactive.set(node.id, node)
    const oldest = this.#inactive.keys().next().value
    if (this.#inactive.size > MAX_INACTIVE_NODES && oldest !== undefined) this.#inactive.delete(oldest)
  }

  /** How many nodes are in a state, active or not. */
  count(state: RmNodeState): number {
    return [...this.#active.values(), ...this.#inactive.values()].filter((node) => node.state === state).length
  }
}
