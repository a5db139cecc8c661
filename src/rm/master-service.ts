import type { Log } from '../base/log.ts'
import type { applicationMaster } from '../protocol/application-master.ts'
import {
  attemptOfContainer,
  containerIdFromProto,
  containerIdToProto,
  nodeIdToProto,
  nodeParts,
  parseAttemptId,
} from '../protocol/ids.ts'
import { hadoop, toNumber } from '../protocol/messages.ts'
import { JavaClass, RemoteError } from '../protocol/remote-error.ts'
import { resourceFromProto, resourceToProto, type Resource } from '../protocol/resource.ts'
import type { Caller, Handlers } from '../protocol/rpc-caller.ts'
import type { AmrmTokens } from '../security/rm-amrm-tokens.ts'
import type { RmNMTokens } from '../security/rm-tokens.ts'
import { tokenToProto } from '../security/token.ts'
import { normalise, NOTHING } from './amounts.ts'
import type { Applications } from './applications.ts'
import { ANY, type Ask } from './asks.ts'
import type { FinalStatus } from './attempt.ts'
import type { ContainerTokenMaker } from './container-tokens.ts'
import { CompletionText, type RmContainer } from './containers.ts'
import { checkAsk, labelsNotEnabled, type AllocationLimits } from './errors.ts'
import { NOT_REGISTERED, type MasterSession, type MasterSessions } from './master-session.ts'
import type { RmNodes } from './nodes.ts'
import { resourceTypes } from './resource-types.ts'
import { nextResponseId } from './response-id.ts'
import type { FifoScheduler } from './scheduler.ts'
import type { SchedulerAttempt } from './scheduler-attempt.ts'

type AllocateRequest = hadoop.yarn.AllocateRequestProto.$Properties
type AllocateResponse = hadoop.yarn.AllocateResponseProto.$Properties
type FinishRequest = hadoop.yarn.FinishApplicationMasterRequestProto.$Properties
type FinishResponse = hadoop.yarn.FinishApplicationMasterResponseProto.$Properties
type RegisterRequest = hadoop.yarn.RegisterApplicationMasterRequestProto.$Properties
type RegisterResponse = hadoop.yarn.RegisterApplicationMasterResponseProto.$Properties
type ContainerProto = hadoop.yarn.ContainerProto.$Properties
type NMTokenProto = hadoop.yarn.NMTokenProto.$Properties

const { ExecutionTypeProto, FinalApplicationStatusProto, SchedulerResourceTypes } = hadoop.yarn

export interface MasterServiceOptions {
  readonly sessions: MasterSessions
  readonly applications: Applications
  readonly scheduler: FifoScheduler
  readonly nodes: RmNodes
  readonly amrmTokens: AmrmTokens
  readonly nmTokens: RmNMTokens
  readonly containerTokens: ContainerTokenMaker
  readonly minimumAllocation: Resource
  readonly maximumAllocation: Resource
  /** The attempt's master has called. */
  readonly onCall: (attemptId: MasterSession['attempt']['id']) => void
  readonly log: Log
}

/** ApplicationMasters ask here. The caller is an attempt id, proven by its AMRM token. Source: ApplicationMasterService. */
export class MasterService {
  readonly handlers = {
    registerApplicationMaster: (request, caller) => this.register(request, caller),
    allocate: (request, caller) => this.allocate(request, caller),
    finishApplicationMaster: (request, caller) => this.finish(request, caller),
  } satisfies Handlers<typeof applicationMaster.methods>
  readonly #options: MasterServiceOptions

  constructor(options: MasterServiceOptions) {
    this.#options = options
  }

  /** @throws RemoteError InvalidApplicationMasterRequestException */
  register(request: RegisterRequest, caller: Caller): RegisterResponse {
    const session = this.#cached(caller.user)
    const { application, attempt } = session
    this.#options.onCall(attempt.id)
    if (session.responseId !== NOT_REGISTERED)
      throw new RemoteError(
        JavaClass.INVALID_APPLICATION_MASTER_REQUEST,
        `Application Master is already registered : ${application.id}`,
      )
    session.responseId = 0
    const { host, rpcPort, trackingUrl } = request
    attempt.send({
      type: 'REGISTERED',
      payload: { host: host ?? '', rpcPort: rpcPort ?? 0, trackingUrl: trackingUrl ?? '' },
    })
    return {
      maximumCapability: resourceToProto(this.#options.scheduler.maximum),
      application_ACLs: application.launchContext?.application_ACLs ?? [],
      queue: application.queue,
      schedulerResourceTypes: [SchedulerResourceTypes.MEMORY, SchedulerResourceTypes.CPU],
      resourceTypes: [...resourceTypes],
    }
  }

  /** @throws RemoteError in the order of Hadoop's checks; nothing of a refused call is applied */
  allocate(request: AllocateRequest, caller: Caller): AllocateResponse {
    const { sessions, scheduler, onCall } = this.#options
    const session = sessions.find(caller.user)
    if (session === undefined)
      throw new RemoteError(
        JavaClass.APPLICATION_ATTEMPT_NOT_FOUND,
        `Application attempt ${caller.user} doesn't exist in ApplicationMasterService cache.`,
      )
    const { attempt } = session
    onCall(attempt.id)
    if (session.responseId === NOT_REGISTERED)
      // Two blanks, as Hadoop writes it.
      throw new RemoteError(
        JavaClass.APPLICATION_MASTER_NOT_REGISTERED,
        `AM is not registered for known application attempt: ${attempt.id} or RM had restarted after AM registered.` +
          '  AM should re-register.',
      )
    const got = request.responseId ?? 0
    if (nextResponseId(got) === session.responseId && session.lastResponse !== undefined) return session.lastResponse
    if (got !== session.responseId)
      throw new RemoteError(
        JavaClass.INVALID_APPLICATION_MASTER_REQUEST,
        `Invalid responseId in AllocateRequest from application attempt: ${attempt.id} ` +
          `expect responseId to be ${session.responseId} but get ${got}`,
      )
    const scheduled = scheduler.find(attempt.id)
    const response =
      attempt.state === 'RUNNING' && scheduled !== undefined
        ? this.#serve(session, scheduled, request, caller)
        : // Unregistered: its container is about to end.
          { limit: resourceToProto(NOTHING), numClusterNodes: this.#options.nodes.activeCount }
    session.responseId = nextResponseId(session.responseId)
    session.lastResponse = { ...response, responseId: session.responseId }
    return session.lastResponse
  }

  /** @throws RemoteError InvalidApplicationMasterRequestException, ApplicationMasterNotRegisteredException */
  finish(request: FinishRequest, caller: Caller): FinishResponse {
    const known = this.#options.sessions.find(caller.user) ?? this.#over(caller.user)
    if (known === 'over') return { isUnregistered: true }
    const session = known ?? this.#cached(caller.user)
    const { application, attempt } = session
    this.#options.onCall(attempt.id)
    if (session.responseId === NOT_REGISTERED)
      throw new RemoteError(
        JavaClass.APPLICATION_MASTER_NOT_REGISTERED,
        `Application Master is trying to unregister before registering for: ${application.id}`,
      )
    attempt.send({
      type: 'UNREGISTERED',
      payload: {
        finalStatus: finalStatuses[request.finalApplicationStatus ?? FinalApplicationStatusProto.APP_UNDEFINED],
        diagnostics: request.diagnostics ?? '',
        trackingUrl: request.trackingUrl ?? '',
      },
    })
    // The final state is known: there is no store to wait for.
    return { isUnregistered: true }
  }

  #serve(
    session: MasterSession,
    scheduled: SchedulerAttempt,
    request: AllocateRequest,
    caller: Caller,
  ): AllocateResponse {
    const { scheduler, nodes, amrmTokens } = this.#options
    const { attempt } = session
    const asks = this.#checked(request, scheduled, attempt)
    this.#acknowledge(attempt)
    attempt.progress = progressOf(request.progress)
    if (request.trackingUrl !== null && request.trackingUrl !== undefined && request.trackingUrl.trim() !== '')
      attempt.originalTrackingUrl = request.trackingUrl
    scheduled.asks.update(asks)
    for (const host of request.blacklistRequest?.blacklistAdditions ?? []) scheduled.blacklist.add(host)
    for (const host of request.blacklistRequest?.blacklistRemovals ?? []) scheduled.blacklist.delete(host)
    for (const proto of request.release ?? []) scheduler.abort(containerIdFromProto(proto), CompletionText.RELEASED)
    scheduler.schedule()
    const allocated = scheduler.pull(scheduled)
    const updatedNodes = [...session.updatedNodes.values()]
    session.updatedNodes.clear()
    const renewed = caller.tokenIdentifier === undefined ? undefined : amrmTokens.renewed(caller.tokenIdentifier)
    return {
      allocatedContainers: allocated.map((container) => this.#containerToProto(session, container)),
      completedContainerStatuses: attempt.takeCompletions(),
      limit: resourceToProto(scheduler.headroom(scheduled)),
      updatedNodes,
      numClusterNodes: nodes.activeCount,
      nmTokens: this.#nmTokens(session, allocated),
      amRmToken: renewed === undefined ? null : tokenToProto(renewed),
      applicationPriority: { priority: 0 },
      updateErrors: (request.updateRequests ?? []).map(refuseUpdate),
      enhancedHeadroom: {
        // Java leaves the zero out.
        totalPendingCount: scheduled.asks.pendingCount || null,
        totalActiveCores: scheduler.clusterTotal.vcores,
      },
    }
  }

  #checked(request: AllocateRequest, scheduled: SchedulerAttempt, attempt: MasterSession['attempt']): Ask[] {
    const { scheduler, minimumAllocation, maximumAllocation } = this.#options
    const limits = { maximum: scheduler.maximum, configuredMaximum: maximumAllocation }
    const asks = (request.ask ?? []).map((ask) => parseAsk(ask, minimumAllocation, limits))
    if (request.blacklistRequest?.blacklistAdditions?.includes(ANY) === true)
      throw new RemoteError(JavaClass.INVALID_RESOURCE_BLACKLIST, 'Cannot add * to the blacklist!')
    for (const proto of request.release ?? []) {
      const id = containerIdFromProto(proto)
      if (attemptOfContainer(id) === scheduled.id) continue
      throw new RemoteError(
        JavaClass.INVALID_CONTAINER_RELEASE,
        `Cannot release container : ${id} not belonging to this application attempt : ${attempt.id}`,
      )
    }
    if ((request.schedulingRequests ?? []).length > 0)
      throw new RemoteError(
        JavaClass.YARN,
        `The allocate call of ${attempt.id} has scheduling requests, but placement constraints are not handled here: ` +
          'ask with resource requests',
      )
    return asks
  }

  /** This call shows that the last answer arrived: the nodes may forget what it told of. */
  #acknowledge(attempt: MasterSession['attempt']): void {
    for (const { nodeId, containerId } of attempt.takeAcknowledged())
      this.#options.nodes.findActive(nodeId)?.orders.containersToForget.add(containerId)
  }

  #containerToProto({ application }: MasterSession, container: RmContainer): ContainerProto {
    const { nodeId, nodeHttpAddress, resource, priority, allocationRequestId } = container.fields
    application.nodeIds.add(nodeId)
    const token = this.#options.containerTokens.make(container, application.submission.logAggregationContext)
    return {
      id: containerIdToProto(container.id),
      nodeId: nodeIdToProto(nodeId),
      nodeHttpAddress,
      resource: resourceToProto(resource),
      priority: { priority },
      containerToken: tokenToProto(token),
      executionType: ExecutionTypeProto.GUARANTEED,
      allocationRequestId,
    }
  }

  /** One for each node that the attempt has had none for. */
  #nmTokens({ attempt, application }: MasterSession, allocated: readonly RmContainer[]): NMTokenProto[] {
    const tokens: NMTokenProto[] = []
    for (const { fields } of allocated) {
      const service = this.#options.nodes.find(fields.nodeId)?.tokenService
      const token = this.#options.nmTokens.tokenIfNew(attempt.id, fields.nodeId, application.user, service)
      if (token !== undefined) tokens.push({ nodeId: nodeParts(fields.nodeId), token: tokenToProto(token) })
    }
    return tokens
  }

  #cached(user: string): MasterSession {
    const session = this.#options.sessions.find(user)
    if (session !== undefined) return session
    throw new RemoteError(JavaClass.INVALID_APPLICATION_MASTER_REQUEST, `Application doesn't exist in cache ${user}`)
  }

  /** An attempt whose final state is known already. */
  #over(user: string): 'over' | undefined {
    const attempt = this.#options.applications.findAttempt(parseAttemptId(user))
    return attempt?.state === 'FINISHED' ? 'over' : undefined
  }
}

/** @throws RemoteError InvalidLabelResourceRequestException, InvalidResourceRequestException */
function parseAsk(ask: hadoop.yarn.ResourceRequestProto.$Properties, minimum: Resource, limits: AllocationLimits): Ask {
  if ((ask.nodeLabelExpression ?? '').trim() !== '') throw labelsNotEnabled()
  const size = resourceFromProto(ask.capability)
  checkAsk(size, limits)
  return {
    priority: ask.priority?.priority ?? 0,
    allocationRequestId: toNumber(ask.allocationRequestId, -1),
    resourceName: ask.resourceName ?? ANY,
    capability: normalise(size, minimum, limits.maximum),
    count: ask.numContainers ?? 0,
    relaxLocality: ask.relaxLocality ?? true,
  }
}

/** NaN, −∞ and less than nothing are nothing. */
function progressOf(progress: number | null | undefined): number {
  if (progress === null || progress === undefined || Number.isNaN(progress)) return 0
  return Math.min(1, Math.max(0, progress))
}

const finalStatuses: { readonly [S in hadoop.yarn.FinalApplicationStatusProto]: FinalStatus } = {
  [FinalApplicationStatusProto.APP_UNDEFINED]: 'UNDEFINED',
  [FinalApplicationStatusProto.APP_SUCCEEDED]: 'SUCCEEDED',
  [FinalApplicationStatusProto.APP_FAILED]: 'FAILED',
  [FinalApplicationStatusProto.APP_KILLED]: 'KILLED',
  [FinalApplicationStatusProto.APP_ENDED]: 'ENDED',
}

function refuseUpdate(
  updateRequest: hadoop.yarn.UpdateContainerRequestProto.$Properties,
): hadoop.yarn.UpdateContainerErrorProto.$Properties {
  return {
    reason: 'Containers cannot be resized or promoted by the embedded ResourceManager',
    updateRequest,
  }
}
