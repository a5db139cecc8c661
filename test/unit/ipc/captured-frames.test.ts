import assert from 'node:assert/strict'
import { test } from 'node:test'
import protobuf from 'protobufjs/minimal.js'
import { FrameMessages, FrameReader, FrameWriter } from '../../../src/ipc/frames.ts'
import { hadoop } from '../../../src/protocol/messages.ts'
import type { AnyCodec } from '../../../src/protocol/rpc-protocol.ts'
import { capturedFrames, codecNamed, type CapturedFrame } from '../../helpers/captures.ts'

const { RpcRequestHeaderProto, RpcResponseHeaderProto, RequestHeaderProto } = hadoop.common
const SASL = -33

/** Of the administration protocol and of reservations, which Bobbin does not speak: they stay bytes. */
const UNDECLARED = new Set([
  'hadoop.yarn.RefreshNodesRequestProto',
  'hadoop.yarn.RefreshNodesResponseProto',
  'hadoop.yarn.RefreshQueuesRequestProto',
  'hadoop.yarn.RefreshQueuesResponseProto',
  'hadoop.yarn.GetNewReservationRequestProto',
])
const opaque: AnyCodec = {
  decode: (bytes) => bytes,
  encode: (bytes: Uint8Array, writer = protobuf.Writer.create()) => writer.raw(bytes),
}

const frames = capturedFrames()

/** Decodes a frame into its messages and encodes them again. */
function rewritten(frame: CapturedFrame): Buffer {
  const bytes = Buffer.from(frame.frameHex, 'hex')
  const reader = new FrameReader(bytes.length)
  reader.push(bytes)
  const payload = reader.next()
  assert.ok(payload !== undefined)
  const messages = new FrameMessages(payload)
  const writer = new FrameWriter()
  const copy = (codec: AnyCodec) => writer.anyMessage(codec, codec.decode(messages.nextBytes()))
  if (frame.direction === 'client->server') {
    copy(RpcRequestHeaderProto)
    if (frame.requestHeader !== undefined) copy(RequestHeaderProto)
  } else {
    copy(RpcResponseHeaderProto)
  }
  if (messages.remaining > 0) copy(bodyCodec(frame.messageType))
  assert.equal(messages.remaining, 0)
  return writer.finish()
}

/** The only frames whose message is not named are SASL messages. */
function bodyCodec(messageType = 'hadoop.common.RpcSaslProto'): AnyCodec {
  return UNDECLARED.has(messageType) ? opaque : codecNamed(messageType)
}

test('every captured frame is decoded and written again byte for byte', () => {
  assert.ok(frames.length >= 500, `${frames.length} frames`)
  for (const [index, { file, frame }] of frames.entries()) {
    assert.equal(rewritten(frame).toString('hex'), frame.frameHex, `frame ${index} of ${file}`)
  }
})

test('the call id is zigzag in requests and unsigned in responses', () => {
  const sasl = (direction: CapturedFrame['direction']) =>
    frames.find(({ file, frame }) => file === 'capture-auth-int-wrap.json' && frame.direction === direction)
  const payload = (direction: CapturedFrame['direction']) =>
    new FrameMessages(Buffer.from(sasl(direction)?.frame.frameHex ?? '', 'hex').subarray(4))
  assert.equal(payload('client->server').next(RpcRequestHeaderProto).callId, SASL)
  assert.equal(payload('server->client').next(RpcResponseHeaderProto).callId | 0, SASL)
})
