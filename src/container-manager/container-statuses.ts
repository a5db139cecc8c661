import type { Log } from '../base/log.ts'
import { toContainerStatus } from '../containers/container-status.ts'
import { containerIdFromProto, type ContainerId } from '../protocol/ids.ts'
import type { hadoop } from '../protocol/messages.ts'
import type { Caller } from '../protocol/rpc-caller.ts'
import type { NMTokenIdentifier } from '../security/nm-token.ts'
import { nmTokenOf, ownsContainer } from './authorize.ts'
import { containerFailure, isContainerFailure, yarnException } from './failures.ts'
import type { NodeContainers } from './node-containers.ts'
import type { RecentlyStopped } from './recently-stopped.ts'

type ContainerStatus = hadoop.yarn.ContainerStatusProto.$Properties

export interface ContainerStatusesOptions {
  readonly node: NodeContainers
  readonly recentlyStopped: RecentlyStopped
  readonly log: Log
}

/** Source: ContainerManagerImpl.getContainerStatuses. A container is answered for as long as it is in the table. */
export function containerStatuses(
  options: ContainerStatusesOptions,
  request: hadoop.yarn.GetContainerStatusesRequestProto.$Properties,
  caller: Caller,
): hadoop.yarn.GetContainerStatusesResponseProto.$Properties {
  const nmToken = nmTokenOf(caller)
  const status: ContainerStatus[] = []
  const failedRequests: hadoop.yarn.ContainerExceptionMapProto.$Properties[] = []
  for (const id of (request.containerId ?? []).map(containerIdFromProto)) {
    try {
      status.push(containerStatus(options, id, nmToken))
    } catch (thrown) {
      if (!isContainerFailure(thrown)) throw thrown
      failedRequests.push(containerFailure(id, thrown))
    }
  }
  return { status, failedRequests }
}

function containerStatus(
  { node, recentlyStopped, log }: ContainerStatusesOptions,
  id: ContainerId,
  nmToken: NMTokenIdentifier,
): ContainerStatus {
  if (!ownsContainer(nmToken, id)) {
    const message = `${nmToken.attemptId} attempted to get status for non-application container : ${id}`
    log.warn(message)
    throw yarnException(message)
  }
  const container = node.findContainer(id)
  if (container !== undefined) return toContainerStatus(container)
  throw yarnException(
    recentlyStopped.isRecentlyStopped(id)
      ? `Container ${id} was recently stopped on node manager.`
      : `Container ${id} is not handled by this NodeManager`,
  )
}
