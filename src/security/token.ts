import type { hadoop } from '../protocol/messages.ts'

/** A Hadoop token in memory. Source: org.apache.hadoop.security.token.Token. */
export interface Token {
  readonly identifier: Buffer
  readonly password: Buffer
  readonly kind: string
  readonly service: string
}

export const TokenKind = {
  CONTAINER: 'ContainerToken',
  NM: 'NMToken',
  AMRM: 'YARN_AM_RM_TOKEN',
  RM_DELEGATION: 'RM_DELEGATION_TOKEN',
} as const

export function tokenFromProto(proto: hadoop.common.TokenProto.$Properties): Token {
  return {
    identifier: Buffer.from(proto.identifier),
    password: Buffer.from(proto.password),
    kind: proto.kind,
    service: proto.service,
  }
}

export function tokenToProto(token: Token): hadoop.common.TokenProto.$Properties {
  return { ...token }
}
