import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PrefixedOutput, RawOutput } from '../../../../src/cli/run/output.ts'
import { parseContainerId } from '../../../../src/protocol/ids.ts'

const first = parseContainerId('container_1_0001_01_000002')
const second = parseContainerId('container_1_0001_01_000003')

function streams() {
  const written = { stdout: '', stderr: '' }
  const to = (name: 'stdout' | 'stderr') => (bytes: Buffer) => {
    written[name] += bytes.toString('latin1')
    return Promise.resolve()
  }
  return { written, stdout: to('stdout'), stderr: to('stderr') }
}

test("a single container's bytes are passed on as they are", async () => {
  const { written, ...out } = streams()
  const output = new RawOutput(out)
  await output.write(first, 'stdout', Buffer.from('par'))
  await output.write(first, 'stderr', Buffer.from('\xff', 'latin1'))
  await output.write(first, 'stdout', Buffer.from('tial'))
  await output.end()
  assert.deepEqual(written, { stdout: 'partial', stderr: '\xff' })
})

test('lines of several containers do not mix, and each says whose it is', async () => {
  const { written, ...out } = streams()
  const output = new PrefixedOutput(out)
  await output.write(first, 'stdout', Buffer.from('one\ntw'))
  await output.write(second, 'stdout', Buffer.from('eins\n\n'))
  await output.write(first, 'stdout', Buffer.from('o\nthree'))
  await output.write(first, 'stderr', Buffer.from('oops'))
  await output.end(second)
  assert.equal(written.stdout, `[${first}] one\n[${second}] eins\n[${second}] \n[${first}] two\n`)
  await output.end(first)
  assert.ok(written.stdout.endsWith(`[${first}] three\n`))
  assert.equal(written.stderr, `[${first}] oops\n`)
})

test('a line without end is not kept in memory for ever', async () => {
  const { written, ...out } = streams()
  const output = new PrefixedOutput(out)
  for (let piece = 0; piece < 4; piece++) await output.write(first, 'stdout', Buffer.alloc(400_000, 'x'))
  assert.ok(written.stdout.length > 1_000_000)
})
