import { containerIdFromProto, containerIdToProto, type ContainerId } from '../protocol/ids.ts'
import { encode, hadoop, toNumber } from '../protocol/messages.ts'
import { resourceFromProto, resourceToProto, type Resource } from '../protocol/resource.ts'
import { decodeIdentifier } from './token.ts'

const { ContainerTokenIdentifierProto, ContainerTypeProto, ExecutionTypeProto } = hadoop.yarn

export type ContainerType = 'APPLICATION_MASTER' | 'TASK'
export type ExecutionType = 'GUARANTEED' | 'OPPORTUNISTIC'

/** What a ResourceManager allows and tells with a container token. Source: ContainerTokenIdentifier. */
export interface ContainerTokenIdentifier {
  readonly containerId: ContainerId
  /** `host:port`: the id of the node that may start it. */
  readonly nodeAddress: string
  /** Whom the container runs as. */
  readonly user: string
  /** The limits that the node enforces. */
  readonly resource: Resource
  /** Milliseconds. The token starts nothing after it. */
  readonly expiryTime: number
  /** Which key signed it. */
  readonly masterKeyId: number
  /** Start time of the ResourceManager, milliseconds: tokens of an earlier one are refused. */
  readonly rmIdentifier: number
  readonly priority: number
  /** Milliseconds. */
  readonly creationTime: number
  /** Which logs are aggregated and how; the application takes it from its first container. */
  readonly logAggregationContext: hadoop.yarn.LogAggregationContextProto.$Properties | undefined
  readonly nodeLabelExpression: string
  readonly containerType: ContainerType
  readonly executionType: ExecutionType
  /** Counts the container's updates. */
  readonly version: number
  /** −1: none. */
  readonly allocationRequestId: number
  readonly allocationTags: readonly string[]
}

/** @throws RemoteError InvalidToken when the bytes are no container token */
export function decodeContainerToken(bytes: Uint8Array): ContainerTokenIdentifier {
  const proto = decodeIdentifier(ContainerTokenIdentifierProto, bytes)
  return {
    containerId: containerIdFromProto(proto.containerId),
    nodeAddress: proto.nmHostAddr ?? '',
    user: proto.appSubmitter ?? '',
    resource: resourceFromProto(proto.resource),
    expiryTime: toNumber(proto.expiryTimeStamp, 0),
    masterKeyId: proto.masterKeyId ?? -1,
    rmIdentifier: toNumber(proto.rmIdentifier, 0),
    priority: proto.priority?.priority ?? 0,
    creationTime: toNumber(proto.creationTime, 0),
    logAggregationContext: proto.logAggregationContext ?? undefined,
    nodeLabelExpression: proto.nodeLabelExpression ?? '',
    containerType: proto.containerType === ContainerTypeProto.APPLICATION_MASTER ? 'APPLICATION_MASTER' : 'TASK',
    executionType: proto.executionType === ExecutionTypeProto.OPPORTUNISTIC ? 'OPPORTUNISTIC' : 'GUARANTEED',
    version: proto.version ?? 0,
    allocationRequestId: toNumber(proto.allocationRequestId, -1),
    allocationTags: proto.allocationTags ?? [],
  }
}

/** Every field is written, as Java does, defaults too. */
export function encodeContainerToken(identifier: ContainerTokenIdentifier): Buffer {
  return encode(ContainerTokenIdentifierProto, {
    containerId: containerIdToProto(identifier.containerId),
    nmHostAddr: identifier.nodeAddress,
    appSubmitter: identifier.user,
    resource: resourceToProto(identifier.resource),
    expiryTimeStamp: identifier.expiryTime,
    masterKeyId: identifier.masterKeyId,
    rmIdentifier: identifier.rmIdentifier,
    priority: { priority: identifier.priority },
    creationTime: identifier.creationTime,
    logAggregationContext: identifier.logAggregationContext ?? null,
    nodeLabelExpression: identifier.nodeLabelExpression,
    containerType: ContainerTypeProto[identifier.containerType],
    executionType: ExecutionTypeProto[identifier.executionType],
    version: identifier.version,
    allocationRequestId: identifier.allocationRequestId,
    allocationTags: [...identifier.allocationTags],
  })
}
