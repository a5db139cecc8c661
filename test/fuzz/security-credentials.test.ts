import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import protobuf from 'protobufjs/minimal.js'
import { encode, hadoop } from '../../src/protocol/messages.ts'
import { RemoteError } from '../../src/protocol/remote-error.ts'
import { readCredentials, writeCredentials, type Credentials } from '../../src/security/credentials.ts'
import { tokenToProto } from '../../src/security/token.ts'

const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array))
// A lone surrogate has no UTF-8, so it can't come back.
const text = fc.string({ unit: 'grapheme', maxLength: 40 })
const token = fc.record({ identifier: bytes, password: bytes, kind: text, service: text }, { noNullPrototype: true })
const credentials = fc.record(
  {
    tokens: fc.array(fc.tuple(text, token), { maxLength: 8 }).map((entries) => new Map(entries)),
    secrets: fc.array(fc.tuple(text, bytes), { maxLength: 8 }).map((entries) => new Map(entries)),
  },
  { noNullPrototype: true },
)

/** Version 1, which Bobbin reads and never writes. */
function writeProtobufCredentials({ tokens, secrets }: Credentials): Buffer {
  const message = encode(hadoop.common.CredentialsProto, {
    tokens: Array.from(tokens, ([alias, token]) => ({ alias, token: tokenToProto(token) })),
    secrets: Array.from(secrets, ([alias, secret]) => ({ alias, secret })),
  })
  return Buffer.concat([Buffer.from('HDTS\x01'), protobuf.Writer.create().bytes(message).finish()])
}

test('credentials of any content come back from both versions', () => {
  fc.assert(
    fc.property(credentials, bytes, (content, trailing) => {
      assert.deepEqual(readCredentials(Buffer.concat([writeCredentials(content), trailing])), content)
      assert.deepEqual(readCredentials(Buffer.concat([writeProtobufCredentials(content), trailing])), content)
    }),
  )
})

test('random bytes behind the header are credentials or a RemoteError, never more memory than they are', () => {
  const streams = fc.tuple(fc.constantFrom(0, 1, 2, 255), fc.uint8Array({ maxLength: 400 }))
  fc.assert(
    fc.property(streams, ([version, rest]) => {
      let size = 0
      try {
        const read = readCredentials(Buffer.concat([Buffer.from('HDTS'), Buffer.from([version]), rest]))
        for (const { identifier, password } of read.tokens.values()) size += identifier.length + password.length
        for (const secret of read.secrets.values()) size += secret.length
      } catch (thrown) {
        assert.ok(thrown instanceof RemoteError, String(thrown))
      }
      assert.ok(size <= rest.length)
    }),
    { numRuns: 2000 },
  )
})

test('a stream with one changed byte is credentials or a RemoteError', () => {
  fc.assert(
    fc.property(credentials, fc.boolean(), fc.nat(), fc.nat(255), (content, isProtobuf, at, value) => {
      const stream = Buffer.from(isProtobuf ? writeProtobufCredentials(content) : writeCredentials(content))
      stream[at % stream.length] = value
      try {
        readCredentials(stream)
      } catch (thrown) {
        assert.ok(thrown instanceof RemoteError, String(thrown))
      }
    }),
    { numRuns: 2000 },
  )
})
