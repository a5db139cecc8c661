/** Answers of the web interface against those of a Java NodeManager in the same state. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ask, golden, startedScene, writeGoldenLogs, type Answer, type Golden, type Scene } from './scene.ts'

// The times in the golden answers were written by a node in this zone.
process.env['TZ'] = 'UTC'

let scene: Scene
before(async () => {
  scene = await startedScene()
  await writeGoldenLogs(scene, 'container-logs-am.json', 1)
  await writeGoldenLogs(scene, 'container-logs.json', 2)
  await writeGoldenLogs(scene, 'container-logs.json', 3)
})
after(() => scene.end())

/** Texts that name the build, and lists whose order is that of a directory or a hash table. */
const BUILD = /^(nodeManager|hadoop)(BuildVersion|VersionBuiltOn)$/
const UNORDERED = new Set(['containerLogFiles', 'containerLogInfo'])

function normalise(value: unknown, key = ''): unknown {
  if (BUILD.test(key)) return typeof value
  if (Array.isArray(value)) {
    const items = value.map((item) => normalise(item))
    return UNORDERED.has(key) ? items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : items
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, normalise(item, name)]))
}

function askLike({ method, path, accept }: Golden): Promise<Answer> {
  const headers = { Host: '127.0.0.1:8042', ...(accept === undefined ? {} : { Accept: accept }) }
  return ask(scene, path, { method, headers })
}

const JSON_RUNNING = [
  'info.json node.json node-slash.json',
  'apps.json apps-state-bad.json apps-state-empty.json apps-state-finished.json apps-state-running.json',
  'apps-user.json apps-user-empty.json apps-user-other.json',
  'app.json app-bad.json app-bad-number.json app-unknown.json',
  'containers.json container.json container-am.json container-bad.json container-bad-word.json container-unknown.json',
  'container-logs.json container-logs-am.json container-logs-bad.json container-logs-unknown.json',
]
const JSON_AFTER = [
  'after-app.json after-apps.json after-containers.json after-container.json after-container-logs.json',
]
const TEXT_RUNNING = [
  'logfile-stdout logfile-stdout-size logfile-stdout-size-negative logfile-stdout-size-big logfile-octet-stream',
  'logfile-missing logfile-dotdot logfile-format-bad logfile-bad logfile-unknown',
  'containerlogs-stdout containerlogs-stdout-size containerlogs-stdout-size-negative containerlogs-stdout-size-big',
  'containerlogs-octet-stream containerlogs-missing containerlogs-dotdot containerlogs-format-bad',
]
const names = (rows: readonly string[]) => rows.flatMap((row) => row.split(' '))

async function checkJson(name: string): Promise<void> {
  const expected = golden(name)
  const answer = await askLike(expected)
  assert.equal(answer.status, expected.status, answer.body)
  assert.equal(answer.headers['content-type'], expected.headers.get('content-type'))
  // As text: the order of the fields counts.
  assert.equal(JSON.stringify(normalise(JSON.parse(answer.body))), JSON.stringify(normalise(JSON.parse(expected.body))))
}

async function checkText(name: string): Promise<void> {
  const expected = golden(name)
  const answer = await askLike(expected)
  assert.equal(answer.status, expected.status, answer.body)
  assert.equal(answer.headers['content-type'], expected.headers.get('content-type'))
  // The rule under the first line is as long as that line was with the port of the capture, of five digits.
  const title = expected.body.split('\n', 1)[0] ?? ''
  const body = expected.body.replace(/^=+$/m, '='.repeat(title.length))
  assert.equal(answer.body.trimEnd(), body.trimEnd())
}

for (const name of names(JSON_RUNNING))
  test(`${name} equals Java's answer`, async () => {
    scene.runThree()
    await checkJson(name)
  })

for (const name of names(TEXT_RUNNING))
  test(`${name} equals Java's answer`, async () => {
    scene.runThree()
    await checkText(name)
  })

for (const name of names(JSON_AFTER))
  test(`${name} equals Java's answer`, async () => {
    scene.finishAll()
    await checkJson(name)
  })

test("after-logfile equals Java's answer", async () => {
  scene.finishAll()
  await checkText('after-logfile')
})

test('the headers of an answer are those of Java, but for the duplicated and the compression ones', async () => {
  scene.runThree()
  const expected = golden('info.json')
  const answer = await askLike(expected)
  const ignored = new Set(['date', 'expires', 'vary', 'transfer-encoding'])
  for (const [name, value] of expected.headers) if (!ignored.has(name)) assert.equal(answer.headers[name], value, name)
  assert.match(answer.headers.expires ?? '', /GMT$/)
  assert.match(answer.headers.date ?? '', /GMT$/)
  assert.equal(answer.headers['server'], undefined)
})

test('HEAD is answered like GET, without a body', async () => {
  scene.runThree()
  const expected = golden('info-head')
  const answer = await ask(scene, '/ws/v1/node/info', { method: 'HEAD' })
  assert.equal(answer.status, expected.status)
  assert.equal(answer.headers['content-type'], expected.headers.get('content-type'))
  assert.equal(answer.body, '')
})
