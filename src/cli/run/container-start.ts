/** Starts allocated containers at their nodes: ContainerManagementProtocol.startContainers. */
import { messageOf } from '../../base/errors.ts'
import type { containerManagement } from '../../protocol/container-management.ts'
import { containerIdFromProto, nodeIdFromProto, type ContainerId, type NodeId } from '../../protocol/ids.ts'
import type { hadoop } from '../../protocol/messages.ts'
import { RemoteError } from '../../protocol/remote-error.ts'
import type { RpcCaller } from '../../protocol/rpc-caller.ts'
import type { Token } from '../../security/token.ts'
import { RunExitCode, RunError } from './exit-codes.ts'

type ContainerProto = hadoop.yarn.ContainerProto.$Properties

/** A container that the ResourceManager has given us. */
export interface AllocatedContainer {
  readonly id: ContainerId
  readonly node: NodeId
  /** `host:port` of the node's web server. */
  readonly nodeHttpAddress: string
  readonly token: ContainerProto['containerToken']
}

export type ContainerManager = RpcCaller<typeof containerManagement.methods>

/** A connection to a node, logged in with its NM token. */
export type ConnectNode = (node: NodeId, token: Token) => ContainerManager

export function allocatedContainer(proto: ContainerProto): AllocatedContainer {
  return {
    id: containerIdFromProto(proto.id),
    node: nodeIdFromProto(proto.nodeId),
    nodeHttpAddress: proto.nodeHttpAddress ?? '',
    token: proto.containerToken,
  }
}

/**
 * @returns undefined when the node has accepted it, else why it refused
 * @throws RunError when the node can not be reached from here
 */
export async function startContainer(
  container: AllocatedContainer,
  launchContext: hadoop.yarn.ContainerLaunchContextProto.$Properties,
  manager: ContainerManager,
  signal: AbortSignal,
): Promise<string | undefined> {
  const entry = { containerLaunchContext: launchContext, containerToken: container.token ?? null }
  try {
    const response = await manager.call('startContainers', { startContainerRequest: [entry] }, signal)
    const [failed] = response.failedRequests ?? []
    return failed === undefined ? undefined : (failed.exception?.message ?? 'the node gave no reason').trim()
  } catch (thrown) {
    signal.throwIfAborted()
    if (thrown instanceof RemoteError) return thrown.message.trim()
    throw unreachable(container.node, thrown)
  } finally {
    manager.close()
  }
}

function unreachable(node: NodeId, thrown: unknown): RunError {
  const hint = '`bobbin run` talks to the nodes directly, so run it where their ports can be reached'
  return new RunError(
    RunExitCode.ERROR,
    `the node ${node} can not be reached from here (${hint}): ${messageOf(thrown)}`,
    thrown,
  )
}
