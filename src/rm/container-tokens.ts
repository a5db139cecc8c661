import type { Clock } from '../base/clock.ts'
import type { hadoop } from '../protocol/messages.ts'
import type { RmContainerTokens } from '../security/rm-tokens.ts'
import type { Token } from '../security/token.ts'
import type { RmContainer } from './containers.ts'
import type { RmNodes } from './nodes.ts'

export interface ContainerTokenMakerOptions {
  readonly tokens: RmContainerTokens
  readonly nodes: RmNodes
  /** Start time of the ResourceManager: nodes compare it with what their registration said. */
  readonly rmIdentifier: number
  readonly containerExpiryMs: number
  readonly clock: Clock
}

/** Signs containers when they are handed out, so that their time counts from then. */
export class ContainerTokenMaker {
  readonly #options: ContainerTokenMakerOptions

  constructor(options: ContainerTokenMakerOptions) {
    this.#options = options
  }

  make(
    container: RmContainer,
    logAggregationContext: hadoop.yarn.LogAggregationContextProto.$Properties | undefined,
  ): Token {
    const { tokens, nodes, rmIdentifier, containerExpiryMs, clock } = this.#options
    const { nodeId, user, resource, priority, creationTime, isMaster, allocationRequestId } = container.fields
    return tokens.createContainerToken(
      {
        containerId: container.id,
        nodeAddress: nodeId,
        user,
        resource,
        expiryTime: clock.now() + containerExpiryMs,
        rmIdentifier,
        priority,
        creationTime,
        logAggregationContext,
        nodeLabelExpression: '',
        containerType: isMaster ? 'APPLICATION_MASTER' : 'TASK',
        executionType: 'GUARANTEED',
        version: 0,
        allocationRequestId,
        allocationTags: [],
      },
      nodes.find(nodeId)?.tokenService,
    )
  }
}
