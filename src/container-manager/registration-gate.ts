/** No ResourceManager: every start is refused. Source: ResourceManagerConstants.RM_INVALID_IDENTIFIER. */
const NO_RESOURCE_MANAGER = -1

/**
 * Keeps starts and the registration apart: a container that is started while the node registers would be missing in the
 * registration, or be measured by the identifier of the ResourceManager before. Source: ContainerManagerImpl and
 * NodeStatusUpdaterImpl lock the same context.
 */
export class RegistrationGate {
  #rmIdentifier = NO_RESOURCE_MANAGER
  #opened: Promise<void> = Promise.resolve()
  #open: (() => void) | undefined

  /** Of the ResourceManager that the node is registered with. */
  get rmIdentifier(): number {
    return this.#rmIdentifier
  }

  close(): void {
    if (this.#open !== undefined) return
    this.#opened = new Promise((resolve) => {
      this.#open = resolve
    })
  }

  /** @param rmIdentifier undefined: not registered */
  open(rmIdentifier: number | undefined): void {
    this.#rmIdentifier = rmIdentifier ?? NO_RESOURCE_MANAGER
    this.#open?.()
    this.#open = undefined
  }

  /** Resolves while the gate is open. It is open only until the next await. */
  async pass(): Promise<void> {
    do await this.#opened
    while (this.#open !== undefined)
  }
}
