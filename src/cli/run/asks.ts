/** What the ResourceManager is still asked for: one kind of container, anywhere in the cluster. */
import { hadoop } from '../../protocol/messages.ts'
import { resourceToProto, type Resource } from '../../protocol/resource.ts'

/** The key under which the ResourceManager keeps the ask. Source: resourcemanager.md, ApplicationMasterProtocol. */
const PRIORITY = 0
const ALLOCATION_REQUEST_ID = 0
const ANYWHERE = '*'

/**
 * An ask is absolute, and the ResourceManager counts it down itself while it allocates. So the number is sent when it
 * grows, when nothing more is wanted and after a re-registration, but not after each allocation: such an ask would
 * cross the next allocation on the way and bring a container too many.
 */
export class Asks {
  readonly #capability: Resource
  #wanted = 0
  #mustSend = false

  constructor(capability: Resource) {
    this.#capability = capability
  }

  /** How many containers are still to come. */
  get wanted(): number {
    return this.#wanted
  }

  /** One more container. */
  add(): void {
    this.#wanted++
    this.#mustSend = true
  }

  /** A container came. @returns false when it is one too many, to be released */
  take(): boolean {
    if (this.#wanted === 0) return false
    this.#wanted--
    if (this.#wanted === 0) this.#mustSend = true
    return true
  }

  /** The ResourceManager has forgotten everything. */
  resend(): void {
    this.#mustSend = true
  }

  /** For the next allocate call; empty when the ResourceManager knows already. */
  next(): hadoop.yarn.ResourceRequestProto.$Properties[] {
    if (!this.#mustSend) return []
    this.#mustSend = false
    return [
      {
        priority: { priority: PRIORITY },
        resourceName: ANYWHERE,
        capability: resourceToProto(this.#capability),
        numContainers: this.#wanted,
        relaxLocality: true,
        executionTypeRequest: {
          executionType: hadoop.yarn.ExecutionTypeProto.GUARANTEED,
          enforceExecutionType: false,
        },
        allocationRequestId: ALLOCATION_REQUEST_ID,
      },
    ]
  }
}
