import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WritableReader, WritableWriter } from '../../../src/protocol/writable.ts'
import { fixture } from '../../helpers/fixtures.ts'

interface Vectors {
  readonly vlong: readonly { readonly value: string; readonly hex: string }[]
  readonly text: readonly { readonly string: string; readonly hex: string }[]
  readonly writableUtilsString: readonly { readonly string: string; readonly hex: string }[]
}

const vectors = fixture<Vectors>('vectors/writable-encodings.json')
const reader = (hex: string) => new WritableReader(Buffer.from(hex, 'hex'))
const badWritable = { code: 'ERR_BAD_WRITABLE' }

test('a VLong is written and read as Hadoop does', () => {
  for (const { value, hex } of vectors.vlong) {
    assert.equal(new WritableWriter().vlong(BigInt(value)).finish().toString('hex'), hex, value)
    const bytes = reader(hex)
    assert.equal(bytes.vlong(), BigInt(value))
    assert.equal(bytes.remaining, 0)
  }
})

test('a VInt has the same form, and what exceeds an int is refused both ways', () => {
  for (const { value, hex } of vectors.vlong) {
    const number = Number(value)
    if (number >= -(2 ** 31) && number < 2 ** 31) {
      assert.equal(new WritableWriter().vint(number).finish().toString('hex'), hex)
      assert.equal(reader(hex).vint(), number)
    } else {
      assert.throws(() => new WritableWriter().vint(number), RangeError)
      assert.throws(() => reader(hex).vint(), badWritable)
    }
  }
  assert.throws(() => new WritableWriter().vlong(2n ** 63n), RangeError)
})

test('Text and WritableUtils strings are those of Hadoop', () => {
  for (const { string, hex } of vectors.text) {
    assert.equal(new WritableWriter().text(string).finish().toString('hex'), hex)
    assert.equal(reader(hex).text(), string)
  }
  for (const { string, hex } of vectors.writableUtilsString) {
    assert.equal(new WritableWriter().string(string).finish().toString('hex'), hex)
    assert.equal(reader(hex).string(), string)
  }
  assert.equal(new WritableWriter().string(undefined).finish().toString('hex'), 'ffffffff')
  assert.equal(reader('ffffffff').string(), undefined)
})

test('fixed-width values keep their order and sign', () => {
  const written = new WritableWriter().uint8(255).boolean(true).int32(-2).int64(-3n).vbytes(Buffer.from('ab')).finish()
  assert.equal(written.toString('hex'), 'ff01fffffffefffffffffffffffd026162')
  const bytes = new WritableReader(written)
  assert.deepEqual(
    [bytes.uint8(), bytes.boolean(), bytes.int32(), bytes.int64(), bytes.vbytes().toString(), bytes.remaining],
    [255, true, -2, -3n, 'ab', 0],
  )
})

test('a reader never goes past its bytes, whatever length they announce', () => {
  for (const hex of ['', '05', '8c7fffffff61', 'ff', '80', '8f', '847fffffff']) {
    assert.throws(() => reader(hex).text(), badWritable, hex)
  }
  for (const hex of ['', '000000', '7fffffff61', 'fffffffe'])
    assert.throws(() => reader(hex).string(), badWritable, hex)
  assert.throws(() => reader('00').int64(), badWritable)
  assert.throws(() => reader('8704').vlong() && reader('87').vlong(), badWritable)
})

test('a reader keeps its place after an error, and a view of a larger buffer stays inside', () => {
  const bytes = new WritableReader(Buffer.from('xxab').subarray(2))
  assert.throws(() => bytes.bytes(3), badWritable)
  assert.equal(bytes.position, 0)
  assert.equal(bytes.bytes(2).toString(), 'ab')
})

test('a writer grows, and what it handed out is not overwritten', () => {
  const writer = new WritableWriter()
  const first = writer.text('a'.repeat(300)).finish()
  const second = writer.text('b'.repeat(3000)).finish()
  assert.equal(new WritableReader(first).text(), 'a'.repeat(300))
  assert.equal(new WritableReader(second).text(), 'b'.repeat(3000))
})
