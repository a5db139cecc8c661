import type { Log } from '../base/log.ts'
import { Services, type Service } from '../base/service.ts'

/** A service that runs inside the node for its containers, such as a shuffle. Source: AuxiliaryService. */
export interface AuxiliaryService extends Service {
  /** What ApplicationMasters are told of it with each answer to a start, such as its port. Read once it has started. */
  metaData(): Buffer
}

export interface AuxiliaryServicesOptions {
  /** `yarn.nodemanager.aux-services` */
  readonly configured: readonly string[]
  /** Those that this version knows; of them the configured ones run. */
  readonly provided: readonly AuxiliaryService[]
  readonly log: Log
}

/** The auxiliary services of the node by name. Source: AuxServices. */
export class AuxiliaryServices implements Service {
  readonly name = 'auxiliary-services'
  readonly #options: AuxiliaryServicesOptions
  readonly #runningByName: ReadonlyMap<string, AuxiliaryService>
  readonly #services: Services

  constructor(options: AuxiliaryServicesOptions) {
    const running = options.provided.filter(({ name }) => options.configured.includes(name))
    this.#options = options
    this.#runningByName = new Map(running.map((service) => [service.name, service]))
    this.#services = new Services(this.name, running, options.log)
  }

  get stopDeadlineMs(): number {
    return this.#services.stopDeadlineMs
  }

  /**
   * Hadoop does not start without a configured service. A node that does can be joined to a cluster whose other nodes
   * have the service, and loses nothing before a container needs it.
   */
  async start(signal: AbortSignal): Promise<void> {
    const { configured, log } = this.#options
    for (const name of configured.filter((name) => !this.has(name))) {
      log.warn(
        `yarn.nodemanager.aux-services: ${name} is not provided by this version: ` +
          'a container that names it in its service data is refused, others run',
      )
    }
    await this.#services.start(signal)
  }

  async stop(): Promise<void> {
    await this.#services.stop()
  }

  has(name: string): boolean {
    return this.#runningByName.has(name)
  }

  /** For `services_meta_data`, by the service's name. */
  metaData(): ReadonlyMap<string, Buffer> {
    return new Map(Array.from(this.#runningByName, ([name, service]) => [name, service.metaData()]))
  }
}
