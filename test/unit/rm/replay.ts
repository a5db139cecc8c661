import { RemoteError } from '../../../src/protocol/remote-error.ts'
import type { AnyCodec, RpcMethods } from '../../../src/protocol/rpc-protocol.ts'
import type { Caller } from '../../../src/protocol/rpc-caller.ts'
import { codecNamed, type CapturedFrame } from '../../helpers/captures.ts'

/** Their messages are not among ours. */
const NOT_SPOKEN = /Reservation/

interface Frame extends CapturedFrame {
  readonly callId?: number
  readonly header?: { readonly status?: string; readonly exceptionClassName?: string; readonly errorMsg?: string }
}

/** One call of a capture, and what a ResourceManager of Hadoop answered. */
export interface Exchange {
  readonly callId: number
  readonly method: string
  readonly request: object
  readonly answer: Answer
}

export type Answer =
  | { readonly kind: 'message'; readonly message: object }
  | { readonly kind: 'error'; readonly className: string; readonly text: string }

/** The calls of one captured connection, in order. Frames of SASL and of the connection's context are passed over. */
export function exchangesOf(frames: readonly object[]): Exchange[] {
  const all = frames as readonly Frame[]
  return all.flatMap((frame) => {
    if (frame.requestHeader === undefined || frame.callId === undefined) return []
    if (NOT_SPOKEN.test(frame.requestHeader.methodName)) return []
    const reply = all.find((other) => other.direction === 'server->client' && other.callId === frame.callId)
    if (reply === undefined) return []
    const request = decoded(frame)
    return [{ callId: frame.callId, method: frame.requestHeader.methodName, request, answer: answerOf(reply) }]
  })
}

/** Calls a handler as the capture's client did. */
export async function replay(
  handlers: object,
  { method, request }: Pick<Exchange, 'method' | 'request'>,
  caller: Caller,
): Promise<Answer> {
  const handler = Reflect.get(handlers, method) as ((request: object, caller: Caller) => unknown) | undefined
  if (handler === undefined) return { kind: 'error', className: 'no such method', text: method }
  try {
    const message = (await handler(request, caller)) as object
    return { kind: 'message', message }
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error
    return { kind: 'error', className: error.className, text: error.message }
  }
}

/** What is set in a message, as the wire carries it: each field's path, without the positions in lists. */
export function fieldsOf(methods: RpcMethods, method: string, answer: Answer): string[] {
  if (answer.kind === 'error') return [`${answer.className}: ${answer.text}`]
  const codec = methods[method]?.response
  if (codec === undefined) throw new Error(`no method ${method}`)
  const paths = new Set<string>()
  collect(codec.decode(codec.encode(answer.message as never).finish()), '', paths)
  return [...paths].sort()
}

function collect(value: unknown, path: string, paths: Set<string>): void {
  if (value === null || value === undefined) return
  if (Array.isArray(value)) for (const one of value) collect(one, path, paths)
  else if (typeof value === 'object' && !Buffer.isBuffer(value) && !isLong(value)) {
    if (path !== '') paths.add(path)
    for (const [name, field] of Object.entries(value))
      if (name !== '$unknowns') collect(field, path === '' ? name : `${path}.${name}`, paths)
  } else paths.add(path)
}

function isLong(value: object): boolean {
  return 'low' in value && 'high' in value
}

function answerOf(frame: Frame): Answer {
  const { status, exceptionClassName: className, errorMsg } = frame.header ?? {}
  if (status === 'SUCCESS') return { kind: 'message', message: decoded(frame) }
  return { kind: 'error', className: className ?? '', text: (errorMsg ?? '').split('\n')[0] ?? '' }
}

/** The last message of the frame. */
function decoded({ frameHex, messageType }: Frame): object {
  if (messageType === undefined) throw new Error('the frame has no message')
  const codec: AnyCodec = codecNamed(messageType)
  return codec.decode(lastMessage(Buffer.from(frameHex, 'hex').subarray(4))) as object
}

function lastMessage(messages: Buffer): Buffer {
  for (let rest = messages; ;) {
    const { length, at } = varint(rest)
    const next = rest.subarray(at + length)
    if (next.length === 0) return rest.subarray(at)
    rest = next
  }
}

function varint(bytes: Buffer): { length: number; at: number } {
  let length = 0
  for (let at = 0; ; at++) {
    const byte = bytes[at] ?? 0
    length |= (byte & 0x7f) << (7 * at)
    if (byte < 0x80) return { length, at: at + 1 }
  }
}
