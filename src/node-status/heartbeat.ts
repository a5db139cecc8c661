import type { Log } from '../base/log.ts'
import { ContainerExitStatus } from '../protocol/container-exit-status.ts'
import { applicationIdFromProto, containerIdFromProto, type ApplicationId, type ContainerId } from '../protocol/ids.ts'
import { hadoop, toNumber } from '../protocol/messages.ts'
import { resourceFromProto, type Resource } from '../protocol/resource.ts'
import type { ManagedContainers, MasterKeyUpdates, SystemCredentialsListener } from './managed-node.ts'
import { nodeStatus, type NodeStatusParts } from './node-status.ts'

type Request = hadoop.yarn.NodeHeartbeatRequestProto.$Properties
type Response = hadoop.yarn.NodeHeartbeatResponseProto.$Properties

export interface HeartbeatOptions extends NodeStatusParts {
  readonly containers: ManagedContainers
  readonly credentials: SystemCredentialsListener
  readonly log: Log
  /** A key roll; called before anything else of the same answer takes effect. */
  onMasterKeys(keys: MasterKeyUpdates): void
  onResource(resource: Resource): void
}

export interface HeartbeatOutcome {
  readonly action: 'go on' | 'resync' | 'shutdown'
  /** Until the next heartbeat, milliseconds. */
  readonly intervalMs: number
  /** The ResourceManager's message. */
  readonly diagnostics: string
}

/** Java: YarnConfiguration.DEFAULT_RM_NM_HEARTBEAT_INTERVAL_MS */
export const DEFAULT_INTERVAL_MS = 1000
const KILLED_CONTAINER = 'Container Killed by ResourceManager'
const KILLED_APPLICATION = 'Application killed by ResourceManager'

export function killByResourceManager(containers: ManagedContainers, id: ContainerId): void {
  containers.killContainer(id, ContainerExitStatus.KILLED_BY_RESOURCEMANAGER, KILLED_CONTAINER)
}

/** One sequence of heartbeats, from a registration to a RESYNC or the end. Source: StatusUpdaterRunnable. */
export class Heartbeat {
  readonly #options: HeartbeatOptions
  #responseId = 0
  #tokenSequenceNo = 0
  #hasMissedOne = false
  #keys: MasterKeyUpdates = { containerToken: undefined, nmToken: undefined }

  constructor(options: HeartbeatOptions) {
    this.#options = options
  }

  /** After a registration, which has told its keys to those who check tokens. */
  restart(keys: MasterKeyUpdates): void {
    this.#responseId = 0
    this.#hasMissedOne = false
    this.#remember(keys)
  }

  request(): Request {
    return {
      nodeStatus: nodeStatus(this.#options, this.#responseId),
      // Both, always: while a roll is pending the ResourceManager reads them without a null check.
      lastKnownContainerTokenMasterKey: this.#keys.containerToken ?? null,
      lastKnownNmTokenMasterKey: this.#keys.nmToken ?? null,
      tokenSequenceNo: this.#tokenSequenceNo,
    }
  }

  /** No answer came: the ResourceManager may have handled the request and take the next one for a duplicate. */
  missed(): void {
    this.#hasMissedOne = true
  }

  handle(response: Response): HeartbeatOutcome {
    const { NodeActionProto } = hadoop.yarn
    const keys = keysOf(response)
    this.#remember(keys)
    if (keys.containerToken !== undefined || keys.nmToken !== undefined) this.#options.onMasterKeys(keys)
    if (response.nodeAction === NodeActionProto.RESYNC) this.#options.completed.clearPending()
    else if (response.nodeAction !== NodeActionProto.SHUTDOWN) this.#obey(response)
    if (response.resource) this.#options.onResource(resourceFromProto(response.resource))
    this.#tokenSequenceNo = toNumber(response.tokenSequenceNo, 0)
    const intervalMs = toNumber(response.nextHeartBeatInterval, 0)
    return {
      action: actionOf(response),
      intervalMs: intervalMs > 0 ? intervalMs : DEFAULT_INTERVAL_MS,
      diagnostics: response.diagnosticsMessage ?? '',
    }
  }

  #remember(keys: MasterKeyUpdates): void {
    this.#keys = {
      containerToken: keys.containerToken ?? this.#keys.containerToken,
      nmToken: keys.nmToken ?? this.#keys.nmToken,
    }
  }

  #obey(response: Response): void {
    const { completed, containers, keepAlive, log } = this.#options
    completed.acknowledge((response.containersToBeRemovedFromNm ?? []).map(containerIdFromProto))
    if (this.#hasMissedOne) log.info('skipped clearing pending completed containers due to missed heartbeat')
    else completed.clearPending()
    this.#hasMissedOne = false
    this.#responseId = response.responseId ?? 0
    for (const id of response.containersToCleanup ?? []) killByResourceManager(containers, containerIdFromProto(id))
    const finished = (response.applicationsToCleanup ?? []).map(applicationIdFromProto)
    keepAlive.track(finished)
    for (const id of finished) containers.finishApplication(id, KILLED_APPLICATION)
    this.#passCredentials(response)
    for (const { id } of response.containersToUpdate ?? [])
      log.warn(`Update of container ${containerIdFromProto(id)} was not applied: its size stays as it was started`)
    for (const { containerId, command } of response.containersToSignal ?? [])
      containers.signalContainer(containerIdFromProto(containerId), command)
  }

  #passCredentials(response: Response): void {
    const streams = new Map<ApplicationId, Buffer>()
    for (const { appId, credentialsForApp } of response.systemCredentialsForApps ?? [])
      streams.set(applicationIdFromProto(appId), Buffer.from(credentialsForApp ?? []))
    if (streams.size > 0) this.#options.credentials.systemCredentials(streams)
  }
}

export function keysOf(response: Pick<Response, 'containerTokenMasterKey' | 'nmTokenMasterKey'>): MasterKeyUpdates {
  return {
    containerToken: response.containerTokenMasterKey ?? undefined,
    nmToken: response.nmTokenMasterKey ?? undefined,
  }
}

function actionOf(response: Response): HeartbeatOutcome['action'] {
  const { NodeActionProto } = hadoop.yarn
  if (response.nodeAction === NodeActionProto.SHUTDOWN) return 'shutdown'
  return response.nodeAction === NodeActionProto.RESYNC ? 'resync' : 'go on'
}
