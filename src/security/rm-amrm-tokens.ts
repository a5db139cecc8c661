import type { ApplicationAttemptId } from '../protocol/ids.ts'
import { JavaClass, RemoteError } from '../protocol/remote-error.ts'
import { decodeAmrmToken, encodeAmrmToken } from './amrm-token.ts'
import { password, RollingMasterKeys } from './master-key.ts'
import { createToken, TokenKind, type Token } from './token.ts'

/**
 * Who may log in as an ApplicationMaster. New tokens are signed with the next key as soon as there is one, and both keys
 * are good until it is activated. Source: AMRMTokenSecretManager.
 */
export class AmrmTokens {
  readonly keys: RollingMasterKeys
  readonly #attempts = new Set<ApplicationAttemptId>()

  constructor(keys: RollingMasterKeys = new RollingMasterKeys()) {
    this.keys = keys
  }

  /** Lets the attempt log in until attemptFinished. The client sets the service itself. */
  createAmrmToken(attemptId: ApplicationAttemptId): Token {
    this.#attempts.add(attemptId)
    const key = this.keys.next ?? this.keys.current
    return createToken(key, TokenKind.AMRM, encodeAmrmToken({ attemptId, keyId: key.keyId }), '')
  }

  /** For the SASL login. @throws RemoteError InvalidToken with Hadoop's words */
  authenticate(identifier: Buffer): { user: string; password: Buffer } {
    const { attemptId, keyId } = decodeAmrmToken(identifier)
    if (!this.#attempts.has(attemptId)) {
      throw new RemoteError(JavaClass.INVALID_TOKEN, `${attemptId} not found in AMRMTokenSecretManager.`)
    }
    const key = this.keys.find(keyId)
    if (key === undefined) throw new RemoteError(JavaClass.INVALID_TOKEN, `Invalid AMRMToken from ${attemptId}`)
    return { user: attemptId, password: password(key, identifier) }
  }

  /**
   * During a roll, the token to send to an ApplicationMaster that is logged in with the old key; undefined otherwise.
   * @param identifier of the token that it is logged in with
   */
  renewed(identifier: Buffer): Token | undefined {
    const { attemptId, keyId } = decodeAmrmToken(identifier)
    const next = this.keys.next
    if (next === undefined || next.keyId === keyId || !this.#attempts.has(attemptId)) return undefined
    return this.createAmrmToken(attemptId)
  }

  /** No further login; connections that are open stay. */
  attemptFinished(attemptId: ApplicationAttemptId): void {
    this.#attempts.delete(attemptId)
  }
}
