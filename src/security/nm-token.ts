import {
  attemptIdFromProto,
  attemptIdToProto,
  nodeIdFromProto,
  nodeIdToProto,
  type ApplicationAttemptId,
  type NodeId,
} from '../protocol/ids.ts'
import { encode, hadoop } from '../protocol/messages.ts'
import { decodeIdentifier } from './token.ts'

const { NMTokenIdentifierProto } = hadoop.yarn

/** Lets an application attempt log in to one node. Source: NMTokenIdentifier. */
export interface NMTokenIdentifier {
  readonly attemptId: ApplicationAttemptId
  readonly nodeId: NodeId
  readonly user: string
  readonly keyId: number
}

/** @throws RemoteError InvalidToken when the bytes are no NM token */
export function decodeNMToken(bytes: Uint8Array): NMTokenIdentifier {
  const proto = decodeIdentifier(NMTokenIdentifierProto, bytes)
  return {
    attemptId: attemptIdFromProto(proto.appAttemptId),
    nodeId: nodeIdFromProto(proto.nodeId),
    user: proto.appSubmitter ?? '',
    keyId: proto.keyId ?? -1,
  }
}

export function encodeNMToken(identifier: NMTokenIdentifier): Buffer {
  return encode(NMTokenIdentifierProto, {
    appAttemptId: attemptIdToProto(identifier.attemptId),
    nodeId: nodeIdToProto(identifier.nodeId),
    appSubmitter: identifier.user,
    keyId: identifier.keyId,
  })
}
