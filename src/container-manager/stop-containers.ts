import type { Log } from '../base/log.ts'
import { ContainerExitStatus } from '../protocol/container-exit-status.ts'
import { containerIdFromProto, containerIdToProto, type ContainerId } from '../protocol/ids.ts'
import type { hadoop } from '../protocol/messages.ts'
import type { Caller } from '../protocol/rpc-caller.ts'
import type { NodeStateStore } from '../recovery/store.ts'
import type { NMTokenIdentifier } from '../security/nm-token.ts'
import type { RequestAudit } from './audit.ts'
import { nmTokenOf, ownsContainer } from './authorize.ts'
import { containerFailure, isContainerFailure, storeFailure, yarnException } from './failures.ts'
import type { NodeContainers } from './node-containers.ts'
import type { RecentlyStopped } from './recently-stopped.ts'

export interface StopContainersOptions {
  readonly node: NodeContainers
  readonly recentlyStopped: RecentlyStopped
  readonly store: Pick<NodeStateStore, 'storeContainerKilled'>
  readonly log: Log
  readonly audit: RequestAudit
}

/** Source: ContainerManagerImpl.stopContainers. A container that has stopped lately is stopped again with success. */
export async function stopContainers(
  options: StopContainersOptions,
  request: hadoop.yarn.StopContainersRequestProto.$Properties,
  caller: Caller,
): Promise<hadoop.yarn.StopContainersResponseProto.$Properties> {
  const nmToken = nmTokenOf(caller)
  const ids = (request.containerId ?? []).map(containerIdFromProto)
  const succeededRequests: hadoop.yarn.ContainerIdProto.$Properties[] = []
  const failedRequests: hadoop.yarn.ContainerExceptionMapProto.$Properties[] = []
  // All at once, so that the store may write them together.
  const outcomes = await Promise.allSettled(ids.map((id) => stopContainer(options, id, nmToken, caller)))
  for (const [index, id] of ids.entries()) {
    const outcome = outcomes[index]
    if (outcome?.status !== 'rejected') succeededRequests.push(containerIdToProto(id))
    else if (isContainerFailure(outcome.reason)) failedRequests.push(containerFailure(id, outcome.reason))
    else throw outcome.reason
  }
  return { succeededRequests, failedRequests }
}

async function stopContainer(
  { node, recentlyStopped, store, log, audit }: StopContainersOptions,
  id: ContainerId,
  nmToken: NMTokenIdentifier,
  caller: Caller,
): Promise<void> {
  const event = { caller, operation: 'Stop Container Request', containerId: id } as const
  if (!ownsContainer(nmToken, id)) {
    audit.failure(event, 'Trying to stop unknown container!')
    throw yarnException(`${nmToken.attemptId} attempted to stop non-application container : ${id}`)
  }
  log.info(`Stopping container with container Id: ${id}`)
  const container = node.findContainer(id)
  if (container === undefined) {
    if (recentlyStopped.isRecentlyStopped(id)) return
    throw yarnException(`Container ${id} is not handled by this NodeManager`)
  }
  await store.storeContainerKilled(id).catch((thrown: unknown) => {
    throw storeFailure(`The end of ${id} could not be stored`, thrown)
  })
  container.kill(ContainerExitStatus.KILLED_BY_APPMASTER, 'Container killed by the ApplicationMaster.')
  audit.success(event)
}
