import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FrameLengthError, FrameMessages, FrameReader, FrameWriter } from '../../../src/ipc/frames.ts'
import { hadoop } from '../../../src/protocol/messages.ts'

const { RequestHeaderProto, RpcSaslProto } = hadoop.common

function frame(payload: string): Buffer {
  const bytes = Buffer.alloc(4 + payload.length)
  bytes.writeInt32BE(payload.length)
  bytes.write(payload, 4, 'latin1')
  return bytes
}

function drain(reader: FrameReader): string[] {
  const found: string[] = []
  for (let next = reader.next(); next !== undefined; next = reader.next()) found.push(next.toString('latin1'))
  return found
}

test('frames come out as they went in, however the stream is cut', () => {
  const payloads = ['', 'a', 'bc', 'x'.repeat(300), 'y'.repeat(70_000), '', 'end']
  const stream = Buffer.concat(payloads.map(frame))
  for (const size of [1, 2, 3, 4, 5, 7, 64, 4096, 65_536, stream.length]) {
    const reader = new FrameReader(100_000)
    const found: string[] = []
    for (let at = 0; at < stream.length; at += size) {
      reader.push(stream.subarray(at, at + size))
      found.push(...drain(reader))
    }
    assert.deepEqual(found, payloads, `chunks of ${size}`)
    assert.equal(reader.bufferedBytes, 0)
  }
})

test('chunks that pile up unread are read in order', () => {
  const stream = Buffer.concat(['one', 'two', 'three'].map(frame))
  const reader = new FrameReader(10)
  for (const byte of stream) reader.push(Buffer.from([byte]))
  assert.equal(reader.bufferedBytes, stream.length)
  assert.deepEqual(drain(reader), ['one', 'two', 'three'])
})

test('a frame inside one chunk is a view of it', () => {
  const stream = Buffer.concat([frame('one'), frame('two')])
  const reader = new FrameReader(10)
  reader.push(stream)
  assert.equal(reader.next()?.buffer, stream.buffer)
  assert.equal(reader.next()?.buffer, stream.buffer)
})

test('an announced length takes no memory until the bytes come', () => {
  const readers = Array.from({ length: 2000 }, () => new FrameReader(134_217_728))
  const before = process.memoryUsage().arrayBuffers
  const length = Buffer.from([0x07, 0xff, 0xff, 0xff, 1])
  for (const reader of readers) {
    reader.push(length)
    assert.equal(reader.next(), undefined)
  }
  assert.ok(process.memoryUsage().arrayBuffers - before < 32 * 1024 * 1024)
})

test('a length that is negative or too large is refused, again at each attempt', () => {
  for (const length of [-1, -(2 ** 31), 11, 2 ** 31 - 1]) {
    for (const pieces of [[4], [1, 3]]) {
      const bytes = Buffer.alloc(4)
      bytes.writeInt32BE(length)
      const reader = new FrameReader(10)
      let at = 0
      for (const piece of pieces.slice(0, -1)) {
        reader.push(bytes.subarray(at, (at += piece)))
        assert.equal(reader.next(), undefined)
      }
      reader.push(bytes.subarray(at))
      assert.throws(() => reader.next(), FrameLengthError)
      assert.throws(() => reader.next(), FrameLengthError)
    }
  }
})

test('the limit may be raised between frames', () => {
  const reader = new FrameReader(3)
  reader.push(Buffer.concat([frame('abc'), frame('abcdef')]))
  assert.equal(reader.next()?.toString(), 'abc')
  reader.maxLength = 6
  assert.equal(reader.next()?.toString(), 'abcdef')
})

test('messages of a frame are read one behind the other, and not past its end', () => {
  const header = { methodName: 'm', declaringClassProtocolName: 'p'.repeat(200), clientProtocolVersion: 1 }
  const bytes = new FrameWriter()
    .message(RequestHeaderProto, header)
    .message(RpcSaslProto, { state: RpcSaslProto.SaslState.SUCCESS })
    .finish()
  assert.equal(bytes.readInt32BE(0), bytes.length - 4)
  const messages = new FrameMessages(bytes.subarray(4))
  assert.equal(messages.next(RequestHeaderProto).declaringClassProtocolName, header.declaringClassProtocolName)
  assert.equal(messages.next(RpcSaslProto).state, RpcSaslProto.SaslState.SUCCESS)
  assert.equal(messages.remaining, 0)
  assert.throws(() => messages.nextBytes(), RangeError)
})

test('a message that announces more than its frame has is refused', () => {
  for (const hex of ['05', '02aa', '80', 'ffffffff0f', 'ffffffffffff01', '808080808000']) {
    assert.throws(() => new FrameMessages(Buffer.from(hex, 'hex')).nextBytes(), RangeError, hex)
  }
})
