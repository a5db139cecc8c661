import type { Application, CreateApplication } from '../applications/application.ts'
import type { AuxiliaryServices } from '../aux-services/registry.ts'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Container, CreateContainer } from '../containers/container.ts'
import { applicationIdToProto, applicationOfContainer, containerIdToProto } from '../protocol/ids.ts'
import { encode, hadoop } from '../protocol/messages.ts'
import { JavaClass, RemoteError } from '../protocol/remote-error.ts'
import { resourceText } from '../protocol/resource.ts'
import type { Caller } from '../protocol/rpc-caller.ts'
import type { NodeStateStore } from '../recovery/store.ts'
import type { ContainerTokenIdentifier } from '../security/container-token.ts'
import { emptyCredentials, writeCredentials } from '../security/credentials.ts'
import type { NMTokenIdentifier } from '../security/nm-token.ts'
import type { NodeContainerTokens } from '../security/node-container-tokens.ts'
import type { NodeNMTokens } from '../security/node-nm-tokens.ts'
import { tokenFromProto } from '../security/token.ts'
import type { RequestAudit } from './audit.ts'
import { authorizeStart, authorizeUser, checkUserName, nmTokenOf } from './authorize.ts'
import { callFailure, containerFailure, isContainerFailure, storeFailure, yarnException } from './failures.ts'
import { checkCredentials, checkResources, checkServices } from './launch-context.ts'
import type { NodeContainers } from './node-containers.ts'
import type { RegistrationGate } from './registration-gate.ts'

type StartRequest = hadoop.yarn.StartContainerRequestProto.$Properties
type StartsRequest = hadoop.yarn.StartContainersRequestProto.$Properties
type StartsResponse = hadoop.yarn.StartContainersResponseProto.$Properties

const { StartContainerRequestProto } = hadoop.yarn

/** Both kinds of tokens that a start is checked by. */
export interface NodeTokens {
  readonly container: NodeContainerTokens
  readonly nm: NodeNMTokens
}

/** Makes what a start brings into being. */
export interface Factories {
  readonly createContainer: CreateContainer
  readonly createApplication: CreateApplication
}

export interface StartContainersOptions {
  readonly node: NodeContainers
  readonly gate: RegistrationGate
  readonly tokens: NodeTokens
  readonly factories: Factories
  readonly auxServices: Pick<AuxiliaryServices, 'has' | 'metaData'>
  readonly store: Pick<NodeStateStore, 'storeApplication' | 'storeContainer'>
  readonly clock: Clock
  readonly log: Log
  readonly audit: RequestAudit
}

/** What is known of one entry once its token is proven. */
interface Start {
  readonly request: StartRequest
  readonly token: ContainerTokenIdentifier
  readonly nmToken: NMTokenIdentifier
  readonly caller: Caller
}

/**
 * Starts each container of a request in turn. A refused token ends the call in the middle: what stands before it has
 * been started, and the caller gets no list. Source: ContainerManagerImpl.startContainers.
 */
export class StartContainers {
  readonly #options: StartContainersOptions
  #isStopping = false

  constructor(options: StartContainersOptions) {
    this.#options = options
  }

  /** From here on every start is refused. */
  stopAccepting(): void {
    this.#isStopping = true
  }

  async handle(requests: StartsRequest, caller: Caller): Promise<StartsResponse> {
    const nmToken = nmTokenOf(caller)
    authorizeUser(caller, nmToken)
    const succeededRequests = []
    const failedRequests = []
    for (const request of requests.startContainerRequest ?? []) {
      await this.#options.gate.pass()
      const token = this.#verify(request)
      try {
        await this.#start({ request, token, nmToken, caller })
        succeededRequests.push(containerIdToProto(token.containerId))
      } catch (thrown) {
        if (!isContainerFailure(thrown)) throw callFailure(thrown)
        failedRequests.push(containerFailure(token.containerId, thrown))
      }
    }
    const servicesMetaData = Array.from(this.#options.auxServices.metaData(), ([key, value]) => ({ key, value }))
    return { servicesMetaData, succeededRequests, failedRequests }
  }

  #verify({ containerToken }: StartRequest): ContainerTokenIdentifier {
    if (containerToken === null || containerToken === undefined || containerToken.identifier.length === 0) {
      throw callFailure(new RemoteError(JavaClass.IO, 'Invalid ContainerToken'))
    }
    return this.#options.tokens.container.verify(tokenFromProto(containerToken))
  }

  async #start(start: Start): Promise<void> {
    const { node, tokens, log, audit } = this.#options
    const { token, caller } = start
    const { container, application } = this.#admit(start)
    try {
      await this.#store(start, container)
    } catch (thrown) {
      log.error({ err: thrown }, `Container ${container.id} was not started: its start could not be stored`)
      node.forgetContainer(container.id)
      tokens.container.forgetStarted(token)
      if (node.findApplication(container.applicationId) === undefined)
        tokens.nm.applicationFinished(container.applicationId)
      throw storeFailure(`The start of ${container.id} could not be stored`, thrown)
    }
    // Killed while it was stored, it is done, and the application must not wait for it.
    if (!container.isDone) application.addContainer(container)
    audit.success({ caller, operation: 'Start Container Request', containerId: container.id })
  }

  /**
   * Every check, and then the place in the tables, without an await between them: of two equal starts at the same time
   * the second finds the first one there.
   */
  #admit(start: Start): { container: Container; application: Application } {
    const { node, gate, tokens, auxServices, clock, log } = this.#options
    const { request, token, nmToken, caller } = start
    const now = clock.now()
    const hasStarted = tokens.container.hasStarted(token)
    authorizeStart({ nmToken, token, hasStarted, rmIdentifier: gate.rmIdentifier, now })
    checkUserName(token)
    const nmTokenKey = tokens.nm.keyForStart(nmToken)
    const launchContext = request.containerLaunchContext ?? {}
    checkServices(launchContext, auxServices)
    const { containerId } = token
    log.info(`Start request for ${containerId} by user ${caller.user} with resource ${resourceText(token.resource)}`)
    checkResources(launchContext)
    const credentials = checkCredentials(launchContext)
    this.#checkAbsent(start)
    if (this.#isStopping) {
      throw yarnException('Container start failed as the NodeManager is in the process of shutting down')
    }
    const container = this.#options.factories.createContainer({
      token,
      launchContext,
      credentials: credentials ?? Buffer.alloc(0),
      startTime: now,
    })
    const application = node.findApplication(container.applicationId) ?? this.#addApplication(start, credentials)
    node.addContainer(container)
    tokens.container.rememberStarted(token)
    // Not before: what nothing was started with, nobody would forget.
    tokens.nm.rememberKey(nmToken.attemptId, nmTokenKey)
    return { container, application }
  }

  #checkAbsent({ token: { containerId }, caller }: Start): void {
    const { node, audit } = this.#options
    if (node.findContainer(containerId) === undefined) return
    const operation = 'Start Container Request'
    audit.failure({ caller, operation, containerId }, 'Container already running on this node!')
    throw yarnException(`Container ${containerId} already is running on this node!!`)
  }

  /** An application begins with its first container here, whose ACLs and log context it takes. */
  #addApplication({ request, token }: Start, credentials: Buffer | undefined): Application {
    const { node, factories, store } = this.#options
    const id = applicationOfContainer(token.containerId)
    const record = {
      id: applicationIdToProto(id),
      user: token.user,
      credentials: credentials ?? writeCredentials(emptyCredentials()),
      acls: request.containerLaunchContext?.application_ACLs ?? [],
      logAggregationContext: token.logAggregationContext ?? null,
    }
    const application = factories.createApplication({ id, user: token.user, record })
    node.addApplication(application, store.storeApplication(id, record))
    return application
  }

  async #store({ request, token }: Start, { id, applicationId, spec }: Container): Promise<void> {
    await this.#options.node.begun(applicationId)
    await this.#options.store.storeContainer({
      containerId: id,
      version: token.version,
      startTime: spec.startTime,
      request: encode(StartContainerRequestProto, request),
    })
  }
}
