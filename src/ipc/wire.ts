/** Constants of Hadoop IPC version 9. Source: RpcConstants, Server.AuthProtocol of hadoop-common. */
import type { hadoop } from '../protocol/messages.ts'

export type RequestHeader = hadoop.common.RpcRequestHeaderProto.$Properties
export type SaslMessage = hadoop.common.RpcSaslProto.$Properties
export type SaslAuth = hadoop.common.RpcSaslProto.SaslAuth.$Properties

export const IPC_VERSION = 9

/** Call ids below zero are messages of the connection itself. */
export const CallId = {
  /** In replies to what has no call id. */
  NONE: -1,
  CONTEXT: -3,
  PING: -4,
  SASL: -33,
} as const

/** The last byte of the preamble. */
export const AuthProtocol = { NONE: 0, SASL: -33 } as const

/** `retryCount` of what is never retried. */
export const NO_RETRY = -1

export const NO_CLIENT_ID = Buffer.alloc(0)

export const PREAMBLE_LENGTH = 7

/** What a client sends first. The service class is 0 everywhere in YARN. */
export function preamble(authProtocol: number): Buffer {
  return Buffer.from([0x68, 0x72, 0x70, 0x63, IPC_VERSION, 0, authProtocol & 0xff])
}
