import type { Application } from '../applications/application.ts'
import { asError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Container } from '../containers/container.ts'
import type { ApplicationId, ContainerId } from '../protocol/ids.ts'
import type { hadoop } from '../protocol/messages.ts'

type SignalCommand = hadoop.yarn.SignalContainerCommandProto

export interface NodeContainersOptions {
  /** Delivers a signal to the container's processes; one that does not run gets none. Returns at once. */
  signal(container: Container, command: SignalCommand): void
  /**
   * An application is FINISHED: no master of it is let in any more. Called again when it leaves the table, for a start
   * that came too late.
   */
  onApplicationFinished(id: ApplicationId): void
  readonly log: Log
}

/** The containers and applications of the node, and the orders to them. Source: NMContext, ContainerManagerImpl.handle. */
export class NodeContainers {
  readonly #options: NodeContainersOptions
  readonly #containersById = new Map<ContainerId, Container>()
  readonly #applicationsById = new Map<ApplicationId, Application>()
  /** Applications whose record is being stored; rejects when that fails. */
  readonly #storing = new Map<ApplicationId, Promise<void>>()
  /** Called when the last application is FINISHED. */
  readonly #finishedListeners = new Set<() => void>()

  constructor(options: NodeContainersOptions) {
    this.#options = options
  }

  get containers(): Iterable<Container> {
    return this.#containersById.values()
  }

  get applications(): Iterable<Application> {
    return this.#applicationsById.values()
  }

  /** Those that are not FINISHED. */
  get unfinishedApplicationIds(): readonly ApplicationId[] {
    return [...this.#applicationsById.values()].filter(({ state }) => state !== 'FINISHED').map(({ id }) => id)
  }

  findContainer(id: ContainerId): Container | undefined {
    return this.#containersById.get(id)
  }

  findApplication(id: ApplicationId): Application | undefined {
    return this.#applicationsById.get(id)
  }

  /** To be called for one that is not there yet. */
  addContainer(container: Container): void {
    this.#containersById.set(container.id, container)
  }

  /** Takes a container out of the table. Its record in the store is the NodeStatusUpdater's to remove. */
  forgetContainer(id: ContainerId): void {
    this.#containersById.delete(id)
  }

  /**
   * The application is there at once, and begins when it has been stored.
   * @param stored rejects when it could not be stored: it is taken out again then
   */
  addApplication(application: Application, stored: Promise<void>): void {
    const { id } = application
    this.#applicationsById.set(id, application)
    this.#options.log.info(`Creating a new application reference for app ${id}`)
    const begun = stored.then(
      () => {
        this.#storing.delete(id)
        application.init()
      },
      (thrown: unknown) => {
        this.#storing.delete(id)
        this.#applicationsById.delete(id)
        this.#tellIfAllFinished()
        throw asError(thrown)
      },
    )
    this.#storing.set(id, begun)
  }

  /** Resolves when the application has begun; rejects with what storing it failed with. */
  async begun(id: ApplicationId): Promise<void> {
    await this.#storing.get(id)
  }

  /** Wired to the application's end; it stays in the table, to be seen as long as its logs. */
  applicationFinished({ id }: Pick<Application, 'id'>): void {
    this.#options.onApplicationFinished(id)
    this.#tellIfAllFinished()
  }

  /** Wired to the end of its logs: nothing is left of it on the node. */
  applicationGone({ id }: Pick<Application, 'id'>): void {
    this.#applicationsById.delete(id)
    this.#options.onApplicationFinished(id)
  }

  /** Resolves when every application is FINISHED. */
  async allFinished(): Promise<void> {
    if (this.unfinishedApplicationIds.length === 0) return
    await new Promise<void>((resolve) => {
      this.#finishedListeners.add(resolve)
    })
  }

  killContainer(id: ContainerId, exitStatus: number, diagnostics: string): void {
    const container = this.#containersById.get(id)
    if (container === undefined) {
      this.#options.log.warn(`couldn't find container ${id} while processing FINISH_CONTAINERS event`)
      return
    }
    container.kill(exitStatus, diagnostics)
  }

  finishApplication(id: ApplicationId, reason: string): void {
    const application = this.#applicationsById.get(id)
    if (application === undefined) {
      this.#options.log.info(
        `couldn't find application ${id} while processing FINISH_APPS event. The ResourceManager allocated resources` +
          ' for this application to the NodeManager but no active containers were found to process.',
      )
      return
    }
    const storing = this.#storing.get(id)
    if (storing === undefined) application.finish(reason)
    // The start that is under way answers for a failure to store; there is no application then.
    else
      storing.then(
        () => application.finish(reason),
        () => {},
      )
  }

  signalContainer(id: ContainerId, command: SignalCommand): void {
    const container = this.#containersById.get(id)
    if (container === undefined) this.#options.log.info(`Container ${id} no longer exists`)
    else this.#options.signal(container, command)
  }

  #tellIfAllFinished(): void {
    if (this.#finishedListeners.size === 0 || this.unfinishedApplicationIds.length > 0) return
    for (const listener of this.#finishedListeners) listener()
    this.#finishedListeners.clear()
  }
}
