import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LogResponse } from '../../../../src/cli/run/log-response.ts'

/** As Apache Hadoop 3.4.2 answers, of a running container. */
function answer(contents: Buffer, fileLength: number): Buffer {
  const id = 'container_1796132816790_0001_01_000002'
  const header = [
    `Container: ${id} on localhost:23041`,
    'LogAggregationType: LOCAL',
    '====================================================================',
    'LogType:stdout',
    'LogLastModifiedTime:Tue Dec 01 13:51:49 +0000 2026',
    `LogLength:${fileLength}`,
    'LogContents:',
    '',
  ].join('\n')
  const trailer = `End of LogType:stdout.This log file belongs to a running container (${id}) and so may not be complete.
***********************************************************************

`
  return Buffer.concat([Buffer.from(header), contents, Buffer.from(trailer)])
}

function read(response: LogResponse, body: Buffer, chunkSize: number): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; at < body.length; at += chunkSize) pieces.push(response.push(body.subarray(at, at + chunkSize)))
  response.end()
  return Buffer.concat(pieces)
}

test('the bytes come out whole, however the body is cut', () => {
  const contents = Buffer.from('LogContents:\nEnd of LogType:stdout.\n\u0000\xff no end of line', 'latin1')
  const body = answer(contents, contents.length)
  for (let size = 1; size <= body.length; size++) assert.deepEqual(read(new LogResponse(1000), body, size), contents)
})

test('of a tail, the place in the file is known', () => {
  const response = new LogResponse(3)
  assert.equal(read(response, answer(Buffer.from('xyz'), 26), 7).toString(), 'xyz')
  assert.equal(response.fileLength, 26)
  assert.equal(response.startOffset, 23)
})

test('a tail longer than the file is the file', () => {
  const response = new LogResponse(100)
  assert.equal(read(response, answer(Buffer.from('abc'), 3), 50).toString(), 'abc')
  assert.equal(response.startOffset, 0)
})

test('no bytes asked for: only the length', () => {
  const response = new LogResponse(0)
  assert.equal(read(response, answer(Buffer.alloc(0), 7), 1000).length, 0)
  assert.equal(response.fileLength, 7)
})

test('what is no answer for a log file is an error that shows its beginning', () => {
  assert.throws(() => read(new LogResponse(1), Buffer.from('<html>log in first</html>'), 5), /<html>log in first/)
  assert.throws(
    () => read(new LogResponse(1), Buffer.from('LogType:x\nLogContents:\nabc'), 5),
    /not that of a NodeManager/,
  )
  assert.throws(() => new LogResponse(1).push(Buffer.alloc(70_000, 'x')), /not that of a NodeManager/)
})

test('a body that ends early is an error', () => {
  const body = answer(Buffer.from('abc'), 1000).subarray(0, -200)
  assert.throws(() => read(new LogResponse(1000), body, 64), /bytes before the end of the log file of 1000/)
})
