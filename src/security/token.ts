import type { Codec, hadoop } from '../protocol/messages.ts'
import { JavaClass, RemoteError } from '../protocol/remote-error.ts'
import type { WritableReader, WritableWriter } from '../protocol/writable.ts'
import { password, type MasterKey } from './master-key.ts'

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

/** A token in Writable form: identifier, password, kind, service. Source: Token.readFields. */
export function readToken(reader: WritableReader): Token {
  return {
    identifier: Buffer.from(reader.vbytes()),
    password: Buffer.from(reader.vbytes()),
    kind: reader.text(),
    service: reader.text(),
  }
}

export function writeToken(writer: WritableWriter, token: Token): void {
  writer.vbytes(token.identifier).vbytes(token.password).text(token.kind).text(token.service)
}

/**
 * Signs an identifier.
 * @param service `host:port` of the server that the token is for; clients find it by that, servers do not look at it
 */
export function createToken(key: MasterKey, kind: string, identifier: Buffer, service: string): Token {
  return { identifier, password: password(key, identifier), kind, service }
}

/** @throws RemoteError InvalidToken; Java drops the connection there, because of a null pointer */
export function decodeIdentifier<T>(codec: Codec<T>, bytes: Uint8Array): T {
  try {
    return codec.decode(bytes)
  } catch (thrown) {
    throw new RemoteError(JavaClass.INVALID_TOKEN, "Can't de-serialize tokenIdentifier", thrown)
  }
}
