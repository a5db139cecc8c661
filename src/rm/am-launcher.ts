import type { Log } from '../base/log.ts'
import type { Address } from '../config/node-manager-config.ts'
import type { containerManagement } from '../protocol/container-management.ts'
import { containerIdToProto, nodeParts, type ContainerId, type NodeId } from '../protocol/ids.ts'
import type { hadoop } from '../protocol/messages.ts'
import type { RpcCaller } from '../protocol/rpc-caller.ts'
import { RemoteError } from '../protocol/remote-error.ts'
import { tokenToProto, type Token } from '../security/token.ts'
import type { LaunchContext } from './submission.ts'

/** A connection to a NodeManager, logged in with an NM token. It connects at its first call. */
export type ConnectToNode = (node: Address, token: Token) => RpcCaller<typeof containerManagement.methods>

export interface MasterLaunch {
  readonly nodeId: NodeId
  readonly containerId: ContainerId
  readonly nmToken: Token
  readonly containerToken: Token
  readonly launchContext: LaunchContext
}

/** Starts and stops the containers of ApplicationMasters on their nodes. Source: AMLauncher. */
export class AmLauncher {
  readonly #connect: ConnectToNode
  readonly #log: Log

  constructor(connect: ConnectToNode, log: Log) {
    this.#connect = connect
    this.#log = log
  }

  /** @throws RemoteError what the node answered; BobbinError when it cannot be reached */
  async launch(launch: MasterLaunch, signal: AbortSignal): Promise<void> {
    const { nodeId, containerId, nmToken, containerToken, launchContext } = launch
    this.#log.info(`Launching masterappattempt in ${containerId} on ${nodeId}`)
    const request = { containerLaunchContext: launchContext, containerToken: tokenToProto(containerToken) }
    const response = await this.#call(nodeId, nmToken, (node) =>
      node.call('startContainers', { startContainerRequest: [request] }, signal),
    )
    refuseFailed(response.failedRequests ?? [])
  }

  /** A container that the node does not know any more is fine. @throws like launch */
  async stop(nodeId: NodeId, containerId: ContainerId, nmToken: Token, signal: AbortSignal): Promise<void> {
    await this.#call(nodeId, nmToken, (node) =>
      node.call('stopContainers', { containerId: [containerIdToProto(containerId)] }, signal),
    )
  }

  async #call<T>(
    nodeId: NodeId,
    token: Token,
    call: (node: RpcCaller<typeof containerManagement.methods>) => Promise<T>,
  ): Promise<T> {
    const node = this.#connect(nodeParts(nodeId), token)
    try {
      return await call(node)
    } finally {
      node.close()
    }
  }
}

function refuseFailed(failed: readonly hadoop.yarn.ContainerExceptionMapProto.$Properties[]): void {
  const exception = failed[0]?.exception
  if (exception === null || exception === undefined) return
  throw new RemoteError(exception.className ?? 'unknown exception', exception.message ?? 'no message')
}
