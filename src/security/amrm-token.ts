import { attemptIdFromProto, attemptIdToProto, type ApplicationAttemptId } from '../protocol/ids.ts'
import { encode, hadoop } from '../protocol/messages.ts'
import { decodeIdentifier } from './token.ts'

const { AMRMTokenIdentifierProto } = hadoop.yarn

/** Lets an application attempt log in to the ResourceManager. Source: AMRMTokenIdentifier. */
export interface AmrmTokenIdentifier {
  readonly attemptId: ApplicationAttemptId
  readonly keyId: number
}

/** @throws RemoteError InvalidToken when the bytes are no AMRM token */
export function decodeAmrmToken(bytes: Uint8Array): AmrmTokenIdentifier {
  const proto = decodeIdentifier(AMRMTokenIdentifierProto, bytes)
  return { attemptId: attemptIdFromProto(proto.appAttemptId), keyId: proto.keyId ?? -1 }
}

export function encodeAmrmToken(identifier: AmrmTokenIdentifier): Buffer {
  return encode(AMRMTokenIdentifierProto, {
    appAttemptId: attemptIdToProto(identifier.attemptId),
    keyId: identifier.keyId,
  })
}
