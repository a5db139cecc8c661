/**
 * Hadoop's protobuf messages, as protobufjs' static codec made from the .proto texts beside this file.
 * Use `hadoop.yarn.NodeIdProto.encode(...)` and the type `hadoop.yarn.NodeIdProto.$Properties`.
 * An absent optional field reads as null; Hadoop's proto2 default is applied where it is read, by name.
 * Unknown fields are kept in `$unknowns` and written again.
 */
import type Long from 'long'
import type { Writer } from 'protobufjs'
import { hadoop } from './generated/hadoop.js'

export { hadoop }

/** How protobufjs hands out 64-bit integers: a number when written by us, a Long when decoded. */
export type Int64 = number | Long

/** The encoder, decoder pair of one message. A writer that is passed takes the bytes; without one, a new one does. */
export interface Codec<T> {
  encode(message: T, writer?: Writer): { finish(): Uint8Array }
  decode(bytes: Uint8Array): T
}

/**
 * A 64-bit field as a number. Ids with an epoch, times and sizes fit; a value beyond 2^53 (a maximum of 2^63-1) comes
 * out rounded, which callers that only compare sizes may accept. Absent: the default that the caller names.
 */
export function toNumber(value: Int64 | null | undefined, absent: number): number {
  if (value === null || value === undefined) return absent
  return typeof value === 'number' ? value : value.toNumber()
}

export function encode<T>(codec: Codec<T>, message: T): Buffer {
  const bytes = codec.encode(message).finish()
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
