import {
  attemptId,
  attemptParts,
  containerId,
  containerIdFromProto,
  type ApplicationAttemptId,
  type ApplicationId,
  type ContainerId,
} from '../../../src/protocol/ids.ts'
import type { hadoop } from '../../../src/protocol/messages.ts'
import { resourceToProto } from '../../../src/protocol/resource.ts'
import type { Allocation, FakeNode, Rig } from './rig.ts'

/** The container of the attempt's ApplicationMaster: its first one. */
export function masterOf(attempt: ApplicationAttemptId): ContainerId {
  return containerId({ ...attemptParts(attempt), epoch: 0, sequence: 1 })
}

/** An ask on any node. */
export function ask(
  numContainers: number,
  more: hadoop.yarn.ResourceRequestProto.$Properties = {},
): hadoop.yarn.ResourceRequestProto.$Properties {
  return {
    priority: { priority: 0 },
    resourceName: '*',
    capability: resourceToProto({ memoryMb: 256, vcores: 1 }),
    numContainers,
    ...more,
  }
}

export interface Running {
  readonly id: ApplicationId
  readonly attempt: ApplicationAttemptId
  readonly master: ReturnType<Rig['master']>
  /** Allocates with the response id that is due. */
  readonly allocate: (request?: hadoop.yarn.AllocateRequestProto.$Properties) => Allocation
}

/** Submits, and lets the master start on the node and register. */
export async function running(
  rig: Rig,
  node: FakeNode,
  context: hadoop.yarn.ApplicationSubmissionContextProto.$Properties = {},
): Promise<Running> {
  const id = rig.submit(context)
  await rig.settle()
  return registered(rig, node, id, 1)
}

/** Lets the master of an attempt that was started on the node register. */
export function registered(rig: Rig, node: FakeNode, id: ApplicationId, number: number): Running {
  const attempt = attemptId(id, number)
  node.running.add(masterOf(attempt))
  node.heartbeat()
  const master = rig.master(attempt)
  master.registerApplicationMaster({ host: node.id, rpcPort: 99, trackingUrl: '' })
  let responseId = 0
  return {
    id,
    attempt,
    master,
    allocate: (request = {}) => {
      const response = master.allocate({ ...request, responseId })
      responseId = response.responseId ?? responseId
      return response
    },
  }
}

export function idsOf(allocation: Allocation): ContainerId[] {
  return (allocation.allocatedContainers ?? []).map((container) => containerIdFromProto(container.id))
}
