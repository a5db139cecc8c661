import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { WritableReader, WritableWriter } from '../../src/protocol/writable.ts'

const LONG = { min: -(2n ** 63n), max: 2n ** 63n - 1n }

test('what is written is read again, whatever the values', () => {
  const values = fc.record({
    long: fc.bigInt(LONG),
    int: fc.integer(),
    text: fc.string({ unit: 'grapheme' }),
    string: fc.option(fc.string({ unit: 'grapheme' }), { nil: undefined }),
    bytes: fc.uint8Array({ maxLength: 1000 }),
    flag: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(values, { maxLength: 20 }), (records) => {
      const writer = new WritableWriter()
      for (const { long, int, text, string, bytes, flag } of records) {
        writer.vlong(long).vint(int).int64(long).int32(int).text(text).string(string).vbytes(bytes).boolean(flag)
      }
      const reader = new WritableReader(writer.finish())
      for (const { long, int, text, string, bytes, flag } of records) {
        assert.equal(reader.vlong(), long)
        assert.equal(reader.vint(), int)
        assert.equal(reader.int64(), long)
        assert.equal(reader.int32(), int)
        assert.equal(reader.text(), text)
        assert.equal(reader.string(), string)
        assert.deepEqual(Uint8Array.from(reader.vbytes()), bytes)
        assert.equal(reader.boolean(), flag)
      }
      assert.equal(reader.remaining, 0)
    }),
  )
})

test('random bytes are read or refused, and never past their end', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      for (const read of ['vlong', 'vint', 'int64', 'int32', 'text', 'string', 'vbytes', 'uint8'] as const) {
        const reader = new WritableReader(bytes)
        try {
          while (reader.remaining > 0) reader[read]()
        } catch (thrown) {
          assert.ok(thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_BAD_WRITABLE')
        }
        assert.ok(reader.position <= bytes.length)
      }
    }),
    { numRuns: 1000 },
  )
})
