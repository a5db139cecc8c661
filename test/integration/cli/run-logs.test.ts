import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { RunError, RunExitCode } from '../../../src/cli/run/exit-codes.ts'
import { LogFileMissing, NodeLogs, type LogFile } from '../../../src/cli/run/node-logs.ts'
import { parseContainerId } from '../../../src/protocol/ids.ts'

const container = parseContainerId('container_1796132816790_0001_01_000002')

/** A node's web server with one log file. */
class Node {
  contents = Buffer.alloc(0)
  readonly urls: string[] = []
  sentBytes = 0
  /** Between the look at the file's length and the answer. */
  beforeAnswer: (request: number) => void = () => {}
  answer: ((response: ServerResponse) => void) | undefined
  port = 0

  async start(t: TestContext): Promise<void> {
    const server = createServer((request, response) => {
      this.urls.push(request.url ?? '')
      if (this.answer === undefined) this.#send(new URL(request.url ?? '', 'http://x'), response)
      else this.answer(response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    this.port = (server.address() as AddressInfo).port
    t.after(() => {
      server.closeAllConnections()
      server.close()
    })
  }

  get file(): LogFile {
    return { container, nodeHttpAddress: `127.0.0.1:${this.port}`, name: 'stdout' }
  }

  /** As NMWebServices of Apache Hadoop 3.4.2. */
  #send(url: URL, response: ServerResponse): void {
    this.beforeAnswer(this.urls.length)
    const size = Number(url.searchParams.get('size'))
    const length = this.contents.length
    const bytes = size < 0 ? this.contents.subarray(Math.max(0, length + size)) : this.contents.subarray(0, size)
    this.sentBytes += bytes.length
    const first = `Container: ${container} on localhost:23041`
    const header = [first, 'LogAggregationType: LOCAL', '='.repeat(first.length), 'LogType:stdout']
    response.write(
      [...header, 'LogLastModifiedTime:Tue Dec 01 13:51:49 +0000 2026', `LogLength:${length}`, ''].join('\n'),
    )
    response.write('LogContents:\n')
    response.write(bytes)
    response.end(`End of LogType:stdout.\n${'*'.repeat(71)}\n\n`)
  }
}

function reader(node: Node, timeoutMs = 5000) {
  const logs = new NodeLogs({ user: 'alice', timeoutMs })
  const chunks: Buffer[] = []
  const write = (bytes: Buffer) => {
    chunks.push(Buffer.from(bytes))
    return Promise.resolve()
  }
  const written = () => Buffer.concat(chunks)
  const copy = () => logs.copy(node.file, written().length, write, new AbortController().signal)
  return { written, copy }
}

test('a growing file is copied piece by piece, each byte once', async (t) => {
  const node = new Node()
  await node.start(t)
  const { written, copy } = reader(node)
  for (const piece of ['', 'hello\n', 'x'.repeat(200_000), '', 'LogContents:\nEnd of LogType:stdout.\n', '\u0000é']) {
    node.contents = Buffer.concat([node.contents, Buffer.from(piece)])
    await copy()
    assert.deepEqual(written(), node.contents)
  }
  assert.equal(node.sentBytes, node.contents.length, 'nothing is sent twice')
  assert.equal(
    node.urls[0],
    `/ws/v1/node/containers/${container}/logs/stdout?format=octet-stream&size=0&user.name=alice`,
  )
})

test('a file that grows between the questions is still copied without a gap', async (t) => {
  const node = new Node()
  await node.start(t)
  node.contents = Buffer.from('begin\n')
  const { written, copy } = reader(node)
  await copy()
  node.contents = Buffer.concat([node.contents, Buffer.from('a'.repeat(100))])
  node.beforeAnswer = (request) => {
    if (request >= 4 && request <= 6) node.contents = Buffer.concat([node.contents, Buffer.alloc(50_000, `${request}`)])
  }
  await copy()
  assert.deepEqual(written(), node.contents.subarray(0, written().length))
  assert.ok(written().length > 100)
  await copy()
  assert.deepEqual(written(), node.contents)
})

test('a container without the file yet is told from a failure', async (t) => {
  const node = new Node()
  await node.start(t)
  const { copy } = reader(node)
  for (const text of [
    'Cannot find this log on the local disk.',
    'Container is not yet running. Current state is LOCALIZING',
  ]) {
    node.answer = (response) => response.writeHead(404).end(`java.lang.Exception: ${text}`)
    await assert.rejects(copy(), LogFileMissing)
  }
})

test('other answers are errors with address, status and text', async (t) => {
  const node = new Node()
  await node.start(t)
  const { copy } = reader(node)
  node.answer = (response) =>
    response.writeHead(404).end('java.lang.Exception: Unknown container. Container either has')
  await assert.rejects(
    copy(),
    new RegExp(`http://127.0.0.1:${node.port}/ws/v1/.*stdout: status 404, .*Unknown container`),
  )
  node.answer = (response) => response.writeHead(307, { location: 'http://elsewhere/' }).end()
  await assert.rejects(copy(), /status 307, no text/)
  node.answer = (response) => response.writeHead(200).end('<html>')
  await assert.rejects(copy(), /not that of a NodeManager for a log file: "<html>"/)
})

test('a node that does not answer, or not to the end, is an error', async (t) => {
  const node = new Node()
  await node.start(t)
  node.answer = () => {}
  await assert.rejects(reader(node, 50).copy(), /no answer within 50 ms/)
  node.answer = (response) => response.write('Container: x', () => response.destroy())
  await assert.rejects(reader(node).copy(), /aborted/)
  const gone = new Node()
  gone.port = 1
  await assert.rejects(reader(gone).copy(), /127\.0\.0\.1:1\/.*ECONNREFUSED/)
})

test('a reader that is gone is no fault of the node', async (t) => {
  const node = new Node()
  await node.start(t)
  node.contents = Buffer.from('hello')
  const logs = new NodeLogs({ user: 'alice', timeoutMs: 5000 })
  const broken = () => Promise.reject(new RunError(RunExitCode.ERROR, 'stdout: EPIPE'))
  await assert.rejects(logs.copy(node.file, 0, broken, new AbortController().signal), RunError)
})
