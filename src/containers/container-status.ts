/** What masters are told of a container. Source: ContainerImpl.cloneAndGetContainerStatus, getNMContainerStatus. */
import { containerIdToProto } from '../protocol/ids.ts'
import { hadoop } from '../protocol/messages.ts'
import { resourceToProto } from '../protocol/resource.ts'
import type { ContainerStateName, ContainerView } from './container-view.ts'

const { ContainerStateProto, ContainerSubStateProto, ExecutionTypeProto } = hadoop.yarn

type SubState = keyof typeof ContainerSubStateProto

/** C_NEW is never reported: a container runs, for its masters, from the moment it is accepted. */
const SUB_STATES: { readonly [S in ContainerStateName]: SubState } = {
  NEW: 'CSS_SCHEDULED',
  LOCALIZING: 'CSS_SCHEDULED',
  SCHEDULED: 'CSS_SCHEDULED',
  RELAUNCHING: 'CSS_SCHEDULED',
  REINITIALIZING_AWAITING_KILL: 'CSS_SCHEDULED',
  RUNNING: 'CSS_RUNNING',
  REINITIALIZING: 'CSS_RUNNING',
  PAUSING: 'CSS_RUNNING',
  KILLING: 'CSS_RUNNING',
  PAUSED: 'CSS_PAUSED',
  RESUMING: 'CSS_PAUSED',
  LOCALIZATION_FAILED: 'CSS_COMPLETING',
  EXITED_WITH_SUCCESS: 'CSS_COMPLETING',
  EXITED_WITH_FAILURE: 'CSS_COMPLETING',
  CONTAINER_CLEANEDUP_AFTER_KILL: 'CSS_COMPLETING',
  CONTAINER_RESOURCES_CLEANINGUP: 'CSS_COMPLETING',
  DONE: 'CSS_DONE',
}

/** For heartbeats and for ApplicationMasters. */
export function toContainerStatus(container: ContainerView): hadoop.yarn.ContainerStatusProto.$Properties {
  return {
    containerId: containerIdToProto(container.id),
    state: wireState(container.state),
    diagnostics: container.diagnostics,
    exitStatus: container.exitStatus,
    capability: resourceToProto(container.resource),
    executionType: ExecutionTypeProto[container.executionType],
    containerAttributes: attributes(container),
    containerSubState: ContainerSubStateProto[SUB_STATES[container.state]],
  }
}

/** For registrations. */
export function toNMContainerStatus(container: ContainerView): hadoop.yarn.NMContainerStatusProto.$Properties {
  return {
    containerId: containerIdToProto(container.id),
    containerState: wireState(container.state),
    resource: resourceToProto(container.resource),
    priority: { priority: container.priority },
    diagnostics: container.diagnostics,
    containerExitStatus: container.exitStatus,
    creationTime: container.creationTime,
    nodeLabelExpression: container.nodeLabelExpression,
    version: container.version,
    executionType: ExecutionTypeProto[container.executionType],
    allocationRequestId: container.allocationRequestId,
    allocationTags: [...container.allocationTags],
  }
}

function wireState(state: ContainerStateName): hadoop.yarn.ContainerStateProto {
  return state === 'DONE' ? ContainerStateProto.C_COMPLETE : ContainerStateProto.C_RUNNING
}

/** Where it runs, once that is known. */
function attributes({ host, ips }: ContainerView): hadoop.yarn.StringStringMapProto.$Properties[] {
  const known = []
  if (host !== undefined) known.push({ key: 'HOST', value: host })
  if (ips.length > 0) known.push({ key: 'IPS', value: ips.join(',') })
  return known
}
