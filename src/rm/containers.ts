import type { Log } from '../base/log.ts'
import { StateMachine, type Table } from '../base/state-machine.ts'
import { ContainerExitStatus } from '../protocol/container-exit-status.ts'
import type { ApplicationAttemptId, ContainerId, NodeId } from '../protocol/ids.ts'
import type { hadoop } from '../protocol/messages.ts'
import type { Resource } from '../protocol/resource.ts'

/** Texts of completions that the ResourceManager makes. Source: SchedulerUtils. */
export const CompletionText = {
  RELEASED: 'Container released by application',
  LOST_NODE: 'Container released on a *lost* node',
  EXPIRED: 'Container expired since it was unused',
  COMPLETED_APPLICATION: 'Container of a completed application',
} as const

type ContainerStatus = hadoop.yarn.ContainerStatusProto.$Properties

type Edges = {
  /** The scheduler has decided; the master has not been told. */
  ALLOCATED: { ACQUIRED: 'ACQUIRED'; FINISHED: 'COMPLETED' }
  ACQUIRED: { LAUNCHED: 'RUNNING'; FINISHED: 'COMPLETED' }
  RUNNING: { LAUNCHED: 'RUNNING'; FINISHED: 'COMPLETED' }
  COMPLETED: { ACQUIRED: 'COMPLETED'; LAUNCHED: 'COMPLETED'; FINISHED: 'COMPLETED' }
}
type Payloads = { ACQUIRED: undefined; LAUNCHED: undefined; FINISHED: Ending }
interface Ending {
  readonly exitStatus: number
  readonly finishTime: number
}
export type RmContainerState = keyof Edges

const transitions: Table<RmContainer, Payloads, Edges> = {
  ALLOCATED: { ACQUIRED: () => 'ACQUIRED', FINISHED: finish },
  ACQUIRED: { LAUNCHED: () => 'RUNNING', FINISHED: finish },
  RUNNING: { LAUNCHED: () => 'RUNNING', FINISHED: finish },
  COMPLETED: { ACQUIRED: () => 'COMPLETED', LAUNCHED: () => 'COMPLETED', FINISHED: () => 'COMPLETED' },
}

function finish(container: RmContainer, { exitStatus, finishTime }: Ending): 'COMPLETED' {
  container.exitStatus = exitStatus
  container.finishTime = finishTime
  return 'COMPLETED'
}

export interface RmContainerFields {
  readonly id: ContainerId
  readonly attemptId: ApplicationAttemptId
  readonly user: string
  readonly nodeId: NodeId
  readonly nodeHttpAddress: string
  readonly resource: Resource
  readonly priority: number
  readonly allocationRequestId: number
  readonly creationTime: number
  /** Runs the attempt's ApplicationMaster. */
  readonly isMaster: boolean
}

/** A container as the ResourceManager knows it. Source: RMContainerImpl. */
export class RmContainer {
  readonly fields: RmContainerFields
  /** 0 while it is not over, as reports show it. */
  exitStatus = 0
  finishTime = 0
  readonly #machine: StateMachine<RmContainer, Payloads, Edges>

  constructor(fields: RmContainerFields, log: Log) {
    this.fields = fields
    this.#machine = new StateMachine(transitions, 'ALLOCATED', this, { subject: `RMContainer ${fields.id}`, log })
  }

  get id(): ContainerId {
    return this.fields.id
  }

  get state(): RmContainerState {
    return this.#machine.state
  }

  /** Pulled by its master, or by the launcher for a master's own. */
  acquired(): void {
    this.#machine.send({ type: 'ACQUIRED' })
  }

  /** Seen running on its node. */
  launched(): void {
    this.#machine.send({ type: 'LAUNCHED' })
  }

  finished(exitStatus: number, finishTime: number): void {
    this.#machine.send({ type: 'FINISHED', payload: { exitStatus, finishTime } })
  }
}

/** A completion that the ResourceManager itself makes. Source: SchedulerUtils.createAbnormalContainerStatus. */
export function abortedStatus(
  containerId: hadoop.yarn.ContainerIdProto.$Properties,
  diagnostics: string,
  completeState: hadoop.yarn.ContainerStateProto,
): ContainerStatus {
  return { containerId, state: completeState, diagnostics, exitStatus: ContainerExitStatus.ABORTED }
}
