/** What goes wrong on the way to the other side. What the other side answers is a RemoteError. */
import { BobbinError, messageOf, systemCode } from '../base/errors.ts'
import { addressText } from '../config/addresses.ts'
import type { Address } from '../config/node-manager-config.ts'

export const IpcErrorCode = {
  /** No connection could be made: refused, no route, unknown host. */
  CONNECT: 'ERR_IPC_CONNECT',
  CONNECT_TIMEOUT: 'ERR_IPC_CONNECT_TIMEOUT',
  /** The connection broke while calls were outstanding; whether they were carried out is unknown. */
  CONNECTION_LOST: 'ERR_IPC_CONNECTION_LOST',
  CALL_TIMEOUT: 'ERR_IPC_CALL_TIMEOUT',
  /** The other side broke the rules of the protocol. */
  BAD_RESPONSE: 'ERR_IPC_BAD_RESPONSE',
  /** The two sides found no way to authenticate, or the other side could not prove itself. */
  LOGIN: 'ERR_IPC_LOGIN',
  /** close() was called. */
  CLOSED: 'ERR_IPC_CLOSED',
  LISTEN: 'ERR_IPC_LISTEN',
} as const

export type IpcErrorCode = (typeof IpcErrorCode)[keyof typeof IpcErrorCode]

/** `cannot connect to rm1:8031: connection refused` */
export function connectError(address: Address, cause: unknown): BobbinError {
  const why = WORDS[systemCode(cause) ?? ''] ?? messageOf(cause)
  return new BobbinError(IpcErrorCode.CONNECT, `cannot connect to ${addressText(address)}: ${why}`, cause)
}

const WORDS: { readonly [systemCode: string]: string } = {
  ECONNREFUSED: 'connection refused; nothing listens there',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'the host name could not be looked up',
}

export function ipcError(code: IpcErrorCode, address: Address, what: string, cause?: unknown): BobbinError {
  return new BobbinError(code, `${addressText(address)}: ${what}`, cause)
}

/** Every ResourceManager was tried for as long as the configuration allows. */
export class UnreachableError extends BobbinError {
  /** host:port of each member. */
  readonly addresses: readonly string[]
  /** How long was tried, milliseconds. */
  readonly elapsedMs: number

  constructor(addresses: readonly string[], elapsedMs: number, attempts: number, cause: unknown) {
    const tried = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'} in ${(elapsedMs / 1000).toFixed(1)} s`
    super(
      'ERR_RM_UNREACHABLE',
      `no ResourceManager could be reached at ${addresses.join(', ')} (${tried}): ${messageOf(cause)}`,
      cause,
    )
    this.addresses = addresses
    this.elapsedMs = elapsedMs
  }
}
