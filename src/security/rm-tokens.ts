/** The tokens that a ResourceManager hands out. Source: RMContainerTokenSecretManager, NMTokenSecretManagerInRM. */
import type { ApplicationAttemptId, NodeId } from '../protocol/ids.ts'
import { encodeContainerToken, type ContainerTokenIdentifier } from './container-token.ts'
import { RollingMasterKeys, type MasterKey } from './master-key.ts'
import { encodeNMToken } from './nm-token.ts'
import { createToken, TokenKind, type Token } from './token.ts'

/** Container tokens, signed with the current key until the next one is activated. */
export class RmContainerTokens {
  readonly keys: RollingMasterKeys

  constructor(keys: RollingMasterKeys = new RollingMasterKeys()) {
    this.keys = keys
  }

  /** @param service `ip:port` of the node */
  createContainerToken(
    fields: Omit<ContainerTokenIdentifier, 'masterKeyId'>,
    service: string = fields.nodeAddress,
  ): Token {
    const key = this.keys.current
    const identifier = encodeContainerToken({ ...fields, masterKeyId: key.keyId })
    return createToken(key, TokenKind.CONTAINER, identifier, service)
  }
}

/** NM tokens: one for each attempt and node, and another one when the key changes. */
export class RmNMTokens {
  readonly keys: RollingMasterKeys
  /** The key of the token that the attempt has for each node. */
  readonly #nodesByAttempt = new Map<ApplicationAttemptId, Map<NodeId, MasterKey>>()

  constructor(keys: RollingMasterKeys = new RollingMasterKeys()) {
    this.keys = keys
  }

  /** @param service `ip:port` of the node */
  createNMToken(attemptId: ApplicationAttemptId, nodeId: NodeId, user: string, service: string = nodeId): Token {
    const key = this.keys.current
    return createToken(key, TokenKind.NM, encodeNMToken({ attemptId, nodeId, user, keyId: key.keyId }), service)
  }

  /** The token for a node that the attempt has none of yet, signed with the current key; undefined when it has one. */
  tokenIfNew(
    attemptId: ApplicationAttemptId,
    nodeId: NodeId,
    user: string,
    service: string = nodeId,
  ): Token | undefined {
    const nodes = this.#nodesByAttempt.get(attemptId) ?? new Map<NodeId, MasterKey>()
    if (nodes.get(nodeId) === this.keys.current) return undefined
    this.#nodesByAttempt.set(attemptId, nodes.set(nodeId, this.keys.current))
    return this.createNMToken(attemptId, nodeId, user, service)
  }

  /** The attempt gets a token for every node anew: its ApplicationMaster starts. */
  clearNodes(attemptId: ApplicationAttemptId): void {
    this.#nodesByAttempt.set(attemptId, new Map())
  }

  /** The node registers: it may have lost the keys of the attempts. */
  nodeRegistered(nodeId: NodeId): void {
    for (const nodes of this.#nodesByAttempt.values()) nodes.delete(nodeId)
  }

  attemptFinished(attemptId: ApplicationAttemptId): void {
    this.#nodesByAttempt.delete(attemptId)
  }
}
