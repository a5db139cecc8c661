import type { Log } from '../base/log.ts'
import { applicationOfAttempt, type ApplicationAttemptId, type ApplicationId, type NodeId } from '../protocol/ids.ts'
import { JavaClass, RemoteError } from '../protocol/remote-error.ts'
import { NodeMasterKeys, password, type MasterKey } from './master-key.ts'
import { decodeNMToken, type NMTokenIdentifier } from './nm-token.ts'

/** Checks NM tokens: who may log in to the node's ContainerManagementProtocol. Source: NMTokenSecretManagerInNM. */
export class NodeNMTokens {
  readonly #log: Log
  readonly #keys = new NodeMasterKeys()
  #nodeId: NodeId | undefined
  /**
   * The key of each attempt that has started a container here. With it an ApplicationMaster goes on stopping and asking
   * with its token long after the key was rolled.
   */
  readonly #attemptKeysByApplication = new Map<ApplicationId, Map<ApplicationAttemptId, MasterKey>>()

  constructor(log: Log) {
    this.#log = log
  }

  setNodeId(nodeId: NodeId): void {
    this.#nodeId = nodeId
  }

  setMasterKey(key: MasterKey): void {
    if (this.#keys.install(key)) this.#log.info(`Rolling master-key for nm-tokens, got key with id ${key.keyId}`)
  }

  /**
   * For the SASL login. Before the first registration there is no key, and each token counts as illegally made.
   * @returns the attempt as the user, and the password that the other side must prove to know
   * @throws RemoteError InvalidToken with Hadoop's words
   */
  authenticate(identifier: Buffer): { user: string; password: Buffer } {
    const { attemptId, nodeId, keyId } = decodeNMToken(identifier)
    const key = this.#keys.find(keyId) ?? this.#attemptKey(attemptId)
    if (this.#nodeId !== undefined && nodeId !== this.#nodeId) {
      throw invalid(
        `Given NMToken for application : ${attemptId} is not valid for current node manager.` +
          `expected : ${this.#nodeId} found : ${nodeId}`,
      )
    }
    if (key === undefined) {
      throw invalid(`Given NMToken for application : ${attemptId} seems to have been generated illegally.`)
    }
    return { user: attemptId, password: password(key, identifier) }
  }

  /**
   * @returns the key of a token that is to start a container
   * @throws RemoteError InvalidToken when the key is older than the previous one: such a token starts nothing
   */
  keyForStart({ attemptId, keyId }: NMTokenIdentifier): MasterKey {
    const remembered = this.#attemptKey(attemptId)
    const key = remembered?.keyId === keyId ? remembered : this.#keys.find(keyId)
    if (key === undefined) throw invalid('Older NMToken should not be used while starting the container.')
    return key
  }

  /** The attempt has started a container with a token of this key. Kept until `applicationFinished`. */
  rememberKey(attemptId: ApplicationAttemptId, key: MasterKey): void {
    const application = applicationOfAttempt(attemptId)
    const keys = this.#attemptKeysByApplication.get(application) ?? new Map<ApplicationAttemptId, MasterKey>()
    this.#attemptKeysByApplication.set(application, keys.set(attemptId, key))
  }

  /** Forgets the keys of the application's attempts. */
  applicationFinished(application: ApplicationId): void {
    this.#attemptKeysByApplication.delete(application)
  }

  #attemptKey(attemptId: ApplicationAttemptId): MasterKey | undefined {
    return this.#attemptKeysByApplication.get(applicationOfAttempt(attemptId))?.get(attemptId)
  }
}

function invalid(message: string): RemoteError {
  return new RemoteError(JavaClass.INVALID_TOKEN, message)
}
