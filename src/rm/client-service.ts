import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { applicationClient } from '../protocol/application-client.ts'
import {
  applicationIdFromProto,
  applicationIdToProto,
  applicationOfAttempt,
  attemptIdFromProto,
  attemptOfContainer,
  containerIdFromProto,
} from '../protocol/ids.ts'
import { toNumber, type hadoop } from '../protocol/messages.ts'
import { JavaClass, RemoteError } from '../protocol/remote-error.ts'
import { resourceToProto, type Resource } from '../protocol/resource.ts'
import type { Caller, Handlers } from '../protocol/rpc-caller.ts'
import { tokenToProto } from '../security/token.ts'
import type { RmApplication } from './application.ts'
import { applicationReport, attemptReport, containerReport, type ReportContext } from './application-report.ts'
import { matchesFilter } from './application-filter.ts'
import type { Applications } from './applications.ts'
import type { RmAttempt } from './attempt.ts'
import type { RmContainer } from './containers.ts'
import type { DelegationTokens } from './delegation-tokens.ts'
import { attemptNotFound, containerNotFound } from './errors.ts'
import { nodeReport, nodeStateToProto } from './node-report.ts'
import type { RmNodes } from './nodes.ts'
import { queueInfo, queueUserAcls, type QueueContext } from './queue-info.ts'
import { resourceTypes } from './resource-types.ts'
import type { FifoScheduler } from './scheduler.ts'
import { parseSubmission } from './submission.ts'

export interface ClientServiceOptions {
  readonly applications: Applications
  readonly scheduler: FifoScheduler
  readonly nodes: RmNodes
  readonly delegationTokens: DelegationTokens
  readonly minimumAllocation: Resource
  readonly maximumAllocation: Resource
  /** `http://<rm web>`; known once the port is. */
  readonly webUrl: () => string
  readonly clock: Clock
  readonly log: Log
}

/** Clients submit, watch and kill here. Reservations, moves and changes of priority are not served. Source: ClientRMService. */
export class ClientService {
  readonly handlers = {
    getNewApplication: () => ({
      applicationId: applicationIdToProto(this.#options.applications.newId()),
      maximumCapability: resourceToProto(this.#options.scheduler.maximum),
    }),
    submitApplication: (request, caller) => this.submit(request, caller),
    getApplicationReport: (request, caller) => ({
      applicationReport: this.#report(this.#application(request.applicationId), caller),
    }),
    forceKillApplication: (request, caller) => this.kill(request, caller),
    failApplicationAttempt: (request, caller) => this.fail(request, caller),
    getApplications: (request, caller) => ({
      applications: [...this.#options.applications.all]
        .filter((application) => matchesFilter(application, request, caller.user))
        .slice(0, toNumber(request.limit, Infinity))
        .map((application) => this.#report(application, caller)),
    }),
    getApplicationAttempts: (request) => {
      const application = this.#application(request.applicationId)
      const webUrl = this.#options.webUrl()
      return { applicationAttempts: application.attempts.map((attempt) => attemptReport(application, attempt, webUrl)) }
    },
    getApplicationAttemptReport: (request) => {
      const { application, attempt } = this.#attempt(attemptIdFromProto(request.applicationAttemptId))
      return { applicationAttemptReport: attemptReport(application, attempt, this.#options.webUrl()) }
    },
    getContainers: (request) => {
      const { attempt } = this.#attempt(attemptIdFromProto(request.applicationAttemptId))
      const containers = this.#options.scheduler.find(attempt.id)?.containersById.values() ?? []
      return { containers: [...containers].map(containerReport) }
    },
    getContainerReport: (request) => ({
      containerReport: containerReport(this.#container(containerIdFromProto(request.containerId))),
    }),
    signalToContainer: (request, caller) => {
      const container = this.#container(containerIdFromProto(request.containerId))
      this.#options.log.info(`User ${caller.user} signals container ${container.id}: ${request.command}`)
      this.#options.nodes.findActive(container.fields.nodeId)?.orders.signals.push(request)
      return {}
    },
    getClusterMetrics: () => ({ clusterMetrics: this.#metrics() }),
    getClusterNodes: (request) => {
      const { active, inactive } = this.#options.nodes
      const states = new Set(request.nodeStates ?? [])
      const isAsked = (state: hadoop.yarn.NodeStateProto) => states.size === 0 || states.has(state)
      const nodes = [...active, ...inactive].filter((node) => isAsked(nodeStateToProto[node.state]))
      return { nodeReports: nodes.map(nodeReport) }
    },
    getQueueInfo: (request, caller) => {
      const question = {
        name: request.queueName ?? '',
        includesApplications: request.includeApplications ?? false,
        includesChildren: (request.includeChildQueues ?? false) || (request.recursive ?? false),
      }
      return { queueInfo: queueInfo(question, this.#queueContext(caller)) ?? null }
    },
    getQueueUserAcls: () => ({ queueUserAcls: queueUserAcls() }),
    getResourceTypeInfo: () => ({ resourceTypeInfo: [...resourceTypes] }),
    getResourceProfiles: refuseProfiles,
    getResourceProfile: refuseProfiles,
    getDelegationToken: (request, caller) => ({
      token: tokenToProto(this.#options.delegationTokens.create(caller.user, request.renewer)),
    }),
    // There are no labels and no attributes.
    getClusterNodeLabels: () => ({}),
    getNodeToLabels: () => ({}),
    getLabelsToNodes: () => ({}),
    getClusterNodeAttributes: () => ({}),
    getAttributesToNodes: () => ({}),
    getNodesToAttributes: () => ({}),
  } satisfies Handlers<typeof applicationClient.methods>
  readonly #options: ClientServiceOptions

  constructor(options: ClientServiceOptions) {
    this.#options = options
  }

  /** @throws RemoteError what is wrong with the submission; an unknown queue fails the application instead */
  submit(
    request: hadoop.yarn.SubmitApplicationRequestProto.$Properties,
    caller: Caller,
  ): hadoop.yarn.SubmitApplicationResponseProto.$Properties {
    const { applications, scheduler, minimumAllocation, maximumAllocation } = this.#options
    const context = request.applicationSubmissionContext ?? {}
    // Clients submit again after a failover: what is known is not checked twice.
    if (applications.find(applicationIdFromProto(context.applicationId)) !== undefined) return {}
    const limits = {
      minimum: minimumAllocation,
      maximum: scheduler.maximum,
      configuredMaximum: maximumAllocation,
    }
    applications.submit(parseSubmission(context, caller.user, limits), context.amContainerSpec ?? {})
    return {}
  }

  /** Java's client repeats the call until it is true. @throws RemoteError ApplicationNotFoundException */
  kill(
    request: hadoop.yarn.KillApplicationRequestProto.$Properties,
    caller: Caller,
  ): hadoop.yarn.KillApplicationResponseProto.$Properties {
    const id = applicationIdFromProto(request.applicationId)
    const application = this.#options.applications.find(id)
    if (application === undefined)
      throw new RemoteError(JavaClass.APPLICATION_NOT_FOUND, `Trying to kill an absent application ${id}`)
    const why = (request.diagnostics ?? '').trim()
    application.send({
      type: 'KILL',
      payload: {
        diagnostics:
          `Application ${id} was killed by user ${caller.user} at ${caller.remoteAddress}` +
          (why === '' ? '' : ` with diagnostic message: ${why}`),
      },
    })
    return { isKillCompleted: application.isFinalStateKnown }
  }

  /** @throws RemoteError ApplicationNotFoundException, ApplicationAttemptNotFoundException */
  fail(
    request: hadoop.yarn.FailApplicationAttemptRequestProto.$Properties,
    caller: Caller,
  ): hadoop.yarn.FailApplicationAttemptResponseProto.$Properties {
    const { attempt } = this.#attempt(attemptIdFromProto(request.applicationAttemptId))
    const diagnostics = `Attempt failed by user ${caller.user} at ${caller.remoteAddress}`
    attempt.send({ type: 'FAIL', payload: { diagnostics } })
    return {}
  }

  #report(application: RmApplication, caller: Caller): hadoop.yarn.ApplicationReportProto.$Properties {
    return applicationReport(application, caller.user, this.#reportContext())
  }

  #reportContext(): ReportContext {
    const { scheduler, webUrl, clock, applications } = this.#options
    return {
      scheduler,
      webUrl: webUrl(),
      now: clock.now(),
      remainingLifetimeMs: (application) => applications.remainingLifetimeMs(application),
    }
  }

  #queueContext(caller: Caller): QueueContext {
    const { applications, scheduler } = this.#options
    const reports = () =>
      [...applications.all]
        .filter((application) => !application.isFinalStateKnown)
        .map((application) => this.#report(application, caller))
    return { applications, scheduler, reports }
  }

  #metrics(): hadoop.yarn.YarnClusterMetricsProto.$Properties {
    const { nodes } = this.#options
    return {
      numNodeManagers: nodes.activeCount,
      numDecommissionedNms: 0,
      numActiveNms: nodes.count('RUNNING'),
      numLostNms: nodes.count('LOST'),
      numUnhealthyNms: nodes.count('UNHEALTHY'),
      numRebootedNms: nodes.count('REBOOTED'),
      numDecommissioningNms: 0,
      numShutdownNms: nodes.count('SHUTDOWN'),
    }
  }

  #application(proto: hadoop.yarn.ApplicationIdProto.$Properties | null | undefined): RmApplication {
    return this.#options.applications.get(applicationIdFromProto(proto))
  }

  #attempt(id: RmAttempt['id']): { application: RmApplication; attempt: RmAttempt } {
    const application = this.#options.applications.get(applicationOfAttempt(id))
    const attempt = application.findAttempt(id)
    if (attempt === undefined) throw attemptNotFound(id)
    return { application, attempt }
  }

  #container(id: RmContainer['id']): RmContainer {
    this.#attempt(attemptOfContainer(id))
    const container = this.#options.scheduler.findContainer(id)
    if (container === undefined) throw containerNotFound(id)
    return container
  }
}

function refuseProfiles(): never {
  throw new RemoteError(
    JavaClass.FEATURE_NOT_ENABLED,
    'Resource profile is not enabled, please enable resource profile feature before using its functions. ' +
      '(by setting yarn.resourcemanager.resource-profiles.enabled to true)',
  )
}
