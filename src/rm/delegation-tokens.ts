import type { Clock } from '../base/clock.ts'
import { encode, hadoop } from '../protocol/messages.ts'
import { randomMasterKey } from '../security/master-key.ts'
import { createToken, TokenKind, type Token } from '../security/token.ts'

/** Source: yarn.resourcemanager.delegation.token.max-lifetime. */
const MAX_LIFETIME_MS = 7 * 24 * 60 * 60 * 1000

/**
 * Tokens for clients that ask for one, as Hadoop also gives them without security. Nothing logs in with them: the
 * client port takes everybody's word for who they are. Source: RMDelegationTokenSecretManager.
 */
export class DelegationTokens {
  readonly #clock: Clock
  readonly #key = { ...randomMasterKey(), keyId: 1 }
  #sequence = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  create(owner: string, renewer: string): Token {
    const issueDate = this.#clock.now()
    const identifier = encode(hadoop.yarn.YARNDelegationTokenIdentifierProto, {
      owner,
      renewer,
      realUser: '',
      issueDate,
      maxDate: issueDate + MAX_LIFETIME_MS,
      sequenceNumber: ++this.#sequence,
      masterKeyId: this.#key.keyId,
    })
    return createToken(this.#key, TokenKind.RM_DELEGATION, identifier, '')
  }
}
