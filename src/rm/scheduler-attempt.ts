import type { ApplicationAttemptId, ContainerId } from '../protocol/ids.ts'
import type { Resource } from '../protocol/resource.ts'
import { NOTHING, plus } from './amounts.ts'
import { AskTable } from './asks.ts'
import type { RmContainer } from './containers.ts'

export interface SchedulerAttemptFields {
  readonly id: ApplicationAttemptId
  readonly user: string
  /** Place of the application in the order of submission: the lower, the earlier served. */
  readonly order: number
  /** The first container is for the ApplicationMaster. False for an unmanaged one. */
  readonly isMasterWanted: boolean
}

/** What the scheduler keeps of one application attempt. */
export class SchedulerAttempt {
  readonly id: ApplicationAttemptId
  readonly user: string
  readonly order: number
  isMasterWanted: boolean
  readonly asks = new AskTable()
  /** Host names that the attempt wants nothing on. */
  readonly blacklist = new Set<string>()
  /** Allocated and not over. */
  readonly containersById = new Map<ContainerId, RmContainer>()
  /** Of the last container id. */
  sequence = 0
  #allocated: RmContainer[] = []

  constructor({ id, user, order, isMasterWanted }: SchedulerAttemptFields) {
    this.id = id
    this.user = user
    this.order = order
    this.isMasterWanted = isMasterWanted
  }

  get used(): Resource {
    return [...this.containersById.values()].reduce((sum, container) => plus(sum, container.fields.resource), NOTHING)
  }

  addAllocated(container: RmContainer): void {
    this.#allocated.push(container)
  }

  takeAllocated(): RmContainer[] {
    const taken = this.#allocated
    this.#allocated = []
    return taken
  }

  forget(container: RmContainer): void {
    this.containersById.delete(container.id)
    this.#allocated = this.#allocated.filter((other) => other !== container)
  }
}
