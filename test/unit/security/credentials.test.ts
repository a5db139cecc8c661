import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyCredentials, readCredentials, writeCredentials } from '../../../src/security/credentials.ts'
import { fixture } from '../../helpers/fixtures.ts'

interface Vectors {
  cases: { name: string; hex: string; identifierHex?: string; passwordHex?: string }[]
}

const [emptyWritable, emptyProtobuf, writable, protobuf] = fixture<Vectors>('vectors/credentials.json').cases
assert.ok(emptyWritable && emptyProtobuf && writable && protobuf)
const hex = (text = '') => Buffer.from(text, 'hex')

const content = {
  tokens: new Map([
    [
      '',
      {
        identifier: hex(writable.identifierHex),
        password: hex(writable.passwordHex),
        kind: 'YARN_AM_RM_TOKEN',
        service: '',
      },
    ],
  ]),
  secrets: new Map([['MapReduceShuffleToken', Buffer.from('0123456789')]]),
}

test("Hadoop's streams of both versions read as their content", () => {
  assert.deepEqual(readCredentials(hex(emptyWritable.hex)), emptyCredentials())
  assert.deepEqual(readCredentials(hex(emptyProtobuf.hex)), emptyCredentials())
  assert.deepEqual(readCredentials(hex(writable.hex)), content)
  assert.deepEqual(readCredentials(hex(protobuf.hex)), content)
})

test('version 0 is written as Hadoop writes it', () => {
  assert.equal(writeCredentials(emptyCredentials()).toString('hex'), emptyWritable.hex)
  assert.equal(writeCredentials(content).toString('hex'), writable.hex)
})

test('what follows the content is ignored, as Java stores its whole buffer', () => {
  for (const stream of [writable.hex, protobuf.hex]) {
    assert.deepEqual(readCredentials(Buffer.concat([hex(stream), Buffer.alloc(60)])), content)
  }
})

test('another magic is a bad header', () => {
  assert.throws(() => readCredentials(Buffer.from('HDTX\0\0\0')), {
    className: 'java.io.IOException',
    message: 'Bad header found in token storage.',
  })
})

test('another version is an unknown format, told with the sign that Java gives the byte', () => {
  for (const [byte, number] of [
    [2, 2],
    [200, -56],
  ] as const) {
    assert.throws(() => readCredentials(Buffer.from([...Buffer.from('HDTS'), byte])), {
      className: 'java.io.IOException',
      message: `java.lang.IllegalArgumentException: Unknown credential format: ${number}`,
    })
  }
})

test('a stream that ends anywhere before its end is an EOFException or a bad message', () => {
  const header = Buffer.byteLength('HDTS') + 1
  for (let length = 0; length < hex(writable.hex).length; length++) {
    assert.throws(() => readCredentials(hex(writable.hex).subarray(0, length)), { className: 'java.io.EOFException' })
  }
  for (let length = header + 1; length < hex(protobuf.hex).length; length++) {
    assert.throws(() => readCredentials(hex(protobuf.hex).subarray(0, length)), { className: 'java.io.IOException' })
  }
})

test('version 1 without a message is empty, as for Java', () => {
  assert.deepEqual(readCredentials(hex('4844545301')), emptyCredentials())
})

test('what is read does not change with the buffer that it was read from', () => {
  const stream = hex(writable.hex)
  const credentials = readCredentials(stream)
  stream.fill(0)
  assert.deepEqual(credentials, content)
})
