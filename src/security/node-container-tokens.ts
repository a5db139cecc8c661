import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { ContainerId, NodeId } from '../protocol/ids.ts'
import { JavaClass, RemoteError } from '../protocol/remote-error.ts'
import { decodeContainerToken, type ContainerTokenIdentifier } from './container-token.ts'
import { NodeMasterKeys, password, passwordsEqual, type MasterKey } from './master-key.ts'
import type { Token } from './token.ts'

/** How often the memory of started tokens is looked through for expired ones, milliseconds. */
const PURGE_INTERVAL_MS = 60_000

/** Checks container tokens on the node. Source: NMContainerTokenSecretManager. */
export class NodeContainerTokens {
  readonly #clock: Clock
  readonly #log: Log
  readonly #keys = new NodeMasterKeys()
  #nodeId: NodeId | undefined
  /** Tokens that have started a container and could do so again, to their expiry time. */
  readonly #expiryByStarted = new Map<string, number>()
  #nextPurgeMs = 0

  constructor(clock: Clock, log: Log) {
    this.#clock = clock
    this.#log = log
  }

  setNodeId(nodeId: NodeId): void {
    this.#nodeId = nodeId
  }

  setMasterKey(key: MasterKey): void {
    if (this.#keys.install(key)) {
      this.#log.info(`Rolling master-key for container-tokens, got key with id ${key.keyId}`)
    }
  }

  /**
   * Checks that the token is for this node and signed with a key that the node knows. Nothing in an identifier is to be
   * believed before.
   * @throws RemoteError InvalidToken with Hadoop's words. Without any key yet, every token counts as illegally made.
   */
  verify(token: Pick<Token, 'identifier' | 'password'>): ContainerTokenIdentifier {
    const identifier = decodeContainerToken(token.identifier)
    const { containerId, nodeAddress, masterKeyId } = identifier
    if (this.#nodeId !== undefined && nodeAddress !== this.#nodeId) {
      throw invalid(
        `Given Container ${containerId} identifier is not valid for current Node manager.` +
          ` Expected : ${this.#nodeId} Found : ${nodeAddress}`,
      )
    }
    const key = this.#keys.find(masterKeyId)
    if (key === undefined) throw invalid(`Given Container ${containerId} seems to have an illegally generated token.`)
    if (!passwordsEqual(password(key, token.identifier), token.password)) {
      throw invalid(`Invalid container token used for starting container on : ${this.#nodeId ?? nodeAddress}`)
    }
    return identifier
  }

  /** Whether a container was started with this very token. A token that was issued anew, with another expiry, was not. */
  hasStarted(identifier: ContainerTokenIdentifier): boolean {
    return this.#expiryByStarted.has(startKey(identifier)) && identifier.expiryTime >= this.#clock.now()
  }

  /** To be remembered until the token expires, after which it starts nothing anyway. */
  rememberStarted(identifier: ContainerTokenIdentifier): void {
    this.#purge()
    this.#expiryByStarted.set(startKey(identifier), identifier.expiryTime)
  }

  /** The start did not come about after all. */
  forgetStarted(identifier: ContainerTokenIdentifier): void {
    this.#expiryByStarted.delete(startKey(identifier))
  }

  /** How many started tokens are remembered. */
  get startedCount(): number {
    return this.#expiryByStarted.size
  }

  #purge(): void {
    const now = this.#clock.now()
    if (now < this.#nextPurgeMs) return
    this.#nextPurgeMs = now + PURGE_INTERVAL_MS
    for (const [key, expiryTime] of this.#expiryByStarted) {
      if (expiryTime < now) this.#expiryByStarted.delete(key)
    }
  }
}

function startKey({ containerId, expiryTime }: { containerId: ContainerId; expiryTime: number }): string {
  return `${containerId}@${expiryTime}`
}

function invalid(message: string): RemoteError {
  return new RemoteError(JavaClass.INVALID_TOKEN, message)
}
