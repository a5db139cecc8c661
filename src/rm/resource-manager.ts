import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { Services, type Service } from '../base/service.ts'
import { addressText } from '../config/addresses.ts'
import type { Address, IpcClientConfig } from '../config/node-manager-config.ts'
import type { EmbeddedRmConfig } from '../config/rm-config.ts'
import { IpcConnection } from '../ipc/client.ts'
import { IpcServer, serve, type ServedProtocol } from '../ipc/server.ts'
import { applicationClient } from '../protocol/application-client.ts'
import { applicationMaster } from '../protocol/application-master.ts'
import { containerManagement } from '../protocol/container-management.ts'
import { resourceTracker } from '../protocol/resource-tracker.ts'
import { RmCore } from './core.ts'
import { RmWeb } from './web.ts'

export interface EmbeddedResourceManagerOptions {
  readonly config: EmbeddedRmConfig
  /** For the calls to nodes that start and stop ApplicationMasters. */
  readonly ipcClient: IpcClientConfig
  /** What it says it is to NodeManagers and over REST. */
  readonly hadoopVersion: string
  readonly clock: Clock
  readonly log: Log
}

/** Where it can be reached: the configured hosts, with the ports that are really served. */
export interface RmAddresses {
  readonly client: Address
  readonly scheduler: Address
  readonly resourceTracker: Address
  readonly web: Address
}

/**
 * A ResourceManager for one machine and for tests: the three protocols of NodeManagers, ApplicationMasters and clients,
 * and REST. Everything is in memory; a restart begins anew.
 */
export class EmbeddedResourceManager implements Service {
  readonly name = 'ResourceManager'
  readonly #options: EmbeddedResourceManagerOptions
  readonly #core: RmCore
  readonly #client: IpcServer
  readonly #scheduler: IpcServer
  readonly #tracker: IpcServer
  readonly #web: RmWeb
  readonly #services: Services

  constructor(options: EmbeddedResourceManagerOptions) {
    this.#options = options
    const { config, hadoopVersion, ipcClient, clock } = options
    const log = options.log.child({ component: 'ResourceManager' })
    this.#core = new RmCore({
      config,
      hadoopVersion,
      connect: (address, token) =>
        new IpcConnection(containerManagement, address, { kind: 'token', token }, { config: ipcClient, clock, log }),
      webUrl: () => this.#webUrl,
      clock,
      log,
    })
    const { client, master, tracker, amrmTokens } = this.#core
    const server = (name: string, listen: Listen, protocol: ServedProtocol, authentication: Authentication) =>
      new IpcServer({ name, listen, protocols: [protocol], authentication, limits: config.ipcServer, clock, log })
    const simple = { kind: 'simple' } as const
    this.#tracker = server(
      'ResourceTracker (yarn.resourcemanager.resource-tracker.address)',
      config.resourceTracker,
      serve(resourceTracker, tracker.handlers),
      simple,
    )
    this.#scheduler = server(
      'ApplicationMasterProtocol (yarn.resourcemanager.scheduler.address)',
      config.scheduler,
      serve(applicationMaster, master.handlers),
      {
        kind: 'token',
        authenticator: amrmTokens,
      },
    )
    this.#client = server(
      'ApplicationClientProtocol (yarn.resourcemanager.address)',
      config.client,
      serve(applicationClient, client.handlers),
      simple,
    )
    this.#web = new RmWeb({
      listen: config.web,
      context: () => {
        const { clusterTimestamp, applications, scheduler, nodes } = this.#core
        const webUrl = this.#webUrl
        return { clusterTimestamp, hadoopVersion, webUrl, now: clock.now(), applications, scheduler, nodes }
      },
      log,
    })
    // The web port is known before an application can name it.
    this.#services = new Services(
      this.name,
      [this.#web, coreService(this.#core), this.#scheduler, this.#client, this.#tracker],
      log,
    )
  }

  /** Of this start, milliseconds: the first number of all ids. */
  get clusterTimestamp(): number {
    return this.#core.clusterTimestamp
  }

  get addresses(): RmAddresses {
    const { config } = this.#options
    return {
      client: { host: config.client.host, port: this.#client.port },
      scheduler: { host: config.scheduler.host, port: this.#scheduler.port },
      resourceTracker: { host: config.resourceTracker.host, port: this.#tracker.port },
      web: { host: config.web.host, port: this.#web.port },
    }
  }

  get stopDeadlineMs(): number {
    return this.#services.stopDeadlineMs
  }

  async start(signal: AbortSignal): Promise<void> {
    await this.#services.start(signal)
  }

  async stop(): Promise<void> {
    await this.#services.stop()
  }

  get #webUrl(): string {
    return `http://${addressText(this.addresses.web)}`
  }
}

type Listen = EmbeddedRmConfig['client']
type Authentication = ConstructorParameters<typeof IpcServer>[0]['authentication']

function coreService(core: RmCore): Service {
  return {
    name: 'ResourceManager core',
    start: async () => core.start(),
    stop: () => core.stop(),
  }
}
