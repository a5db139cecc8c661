import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readlinkSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { link, mkdir, open, rename, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { after, before, test } from 'node:test'
import { until } from '../../helpers/until.ts'
import { APP, ask, idOf, startedScene, type Scene } from './scene.ts'

let scene: Scene
const SECRET = 'not for the web\n'
before(async () => {
  scene = await startedScene()
  scene.runThree()
  await scene.writeLog(1, 'stdout', 'plain\n')
  await writeFile(join(scene.root, 'secret'), SECRET)
})
after(() => scene.end())

const fileOf = (name: string, sequence = 1) => `/ws/v1/node/containers/${idOf(sequence)}/logs/${name}`
const MISSING = 'java.lang.Exception: Cannot find this log on the local disk.'

async function isMissing(path: string): Promise<void> {
  const answer = await ask(scene, path)
  assert.deepEqual([answer.status, answer.body], [404, MISSING], path)
}

/** Log files that this process holds open. */
function openLogs(): string[] {
  return readdirSync('/proc/self/fd')
    .map((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`)
      } catch {
        // It was the descriptor of the listing itself.
        return ''
      }
    })
    .filter((path) => path.startsWith(scene.root))
}

test('names that lead out of the directory are not found', async () => {
  for (const name of [
    '..%2f..%2f..%2fsecret',
    '%2e%2e%2f%2e%2e%2f%2e%2e%2fsecret',
    '..%5c..%5csecret',
    '%2e%2e',
    '%2e',
    encodeURIComponent(join(scene.root, 'secret')),
    'stdout%00',
    'stdout%2f',
    'a'.repeat(256),
  ])
    await isMissing(fileOf(name))
  // With plain dots the client or the router has resolved them before; whatever comes, it is not the file.
  for (const path of [fileOf('../../../secret'), `/ws/v1/node/containerlogs/${idOf(1)}/../../../../secret`]) {
    const answer = await ask(scene, path)
    assert.notEqual(answer.status, 200)
    assert.ok(!answer.body.includes(SECRET))
  }
})

test('a link is not followed, and is not listed', async () => {
  await symlink(join(scene.root, 'secret'), join(scene.containerDir(1), 'link'))
  await symlink('stdout', join(scene.containerDir(1), 'inner'))
  await isMissing(fileOf('link'))
  await isMissing(fileOf('inner'))
  const list = await ask(scene, `/ws/v1/node/containers/${idOf(1)}/logs`)
  assert.match(list.body, /"stdout"/)
  assert.doesNotMatch(list.body, /"link"|"inner"/)
})

test('a FIFO, a directory and a socket are neither opened for reading nor listed', async () => {
  execFileSync('mkfifo', [join(scene.containerDir(1), 'fifo')])
  await mkdir(join(scene.containerDir(1), 'directory'))
  await isMissing(fileOf('fifo'))
  await isMissing(fileOf('directory'))
  const list = await ask(scene, `/ws/v1/node/containers/${idOf(1)}`)
  assert.match(list.body, /"containerLogFiles":\["stdout"\]/)
})

test('a container directory or application directory that is a link is not entered', async () => {
  await mkdir(join(scene.root, 'elsewhere'))
  await writeFile(join(scene.root, 'elsewhere', 'secret'), SECRET)
  await mkdir(join(scene.logDirs[0]!, APP), { recursive: true })
  await symlink(join(scene.root, 'elsewhere'), scene.containerDir(2))
  await isMissing(fileOf('secret', 2))
  await mkdir(scene.logDirs[1]!, { recursive: true })
  await mkdir(join(scene.root, 'elsewhere', idOf(3)))
  await writeFile(join(scene.root, 'elsewhere', idOf(3), 'secret'), SECRET)
  await symlink(join(scene.root, 'elsewhere'), join(scene.logDirs[1]!, APP))
  await isMissing(fileOf('secret', 3))
  assert.doesNotMatch((await ask(scene, `/ws/v1/node/containers/${idOf(3)}/logs`)).body, /secret/)
})

test('sizes beyond the file give the whole file, and a size that is no number is a 400', async () => {
  for (const size of ['9223372036854775807', '-9223372036854775808', '', '%2B6'])
    assert.match((await ask(scene, `${fileOf('stdout')}?size=${size}`)).body, /LogContents:\nplain\nEnd of LogType/)
  for (const size of ['9223372036854775808', 'x', '1e3', '0x10', '-', '1'.repeat(200)]) {
    const answer = await ask(scene, `${fileOf('stdout')}?size=${size}`)
    assert.equal(answer.status, 400, size)
    assert.match(answer.headers['content-type'] ?? '', /^text\/plain/)
  }
  assert.match((await ask(scene, `${fileOf('stdout')}?size=0`)).body, /LogLength:6\nLogContents:\nEnd of LogType/)
})

test('names with blanks, percent signs and other letters are served', async () => {
  for (const name of ['a b', '100%', 'ä', 'x'.repeat(255), '..x']) {
    await scene.writeLog(1, name, 'here\n')
    const answer = await ask(scene, fileOf(encodeURIComponent(name)))
    assert.equal(answer.status, 200, name)
    assert.match(answer.body, /LogContents:\nhere\n/)
  }
})

test('a huge file is streamed: its start and its end come at once, and a reader that leaves frees it', async () => {
  const huge = await scene.writeLog(1, 'huge', 'head\n')
  await truncate(huge, 2 ** 40)
  const handle = await open(huge, 'r+')
  await handle.write('tail\n', 2 ** 40 - 5)
  await handle.close()
  const tail = await ask(scene, `${fileOf('huge')}?size=-5`)
  assert.match(tail.body, /LogLength:1099511627776\nLogContents:\ntail\nEnd of LogType:huge/)

  const beforeBytes = process.memoryUsage().rss
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${scene.base}${fileOf('huge')}`, resolve).on('error', reject)
  })
  // The client does not read: the server may fill the buffers between, and must then wait.
  await until('the file is open', () => openLogs().some((path) => path.endsWith('/huge')))
  await delay(200)
  assert.ok(process.memoryUsage().rss - beforeBytes < 64 * 2 ** 20)
  response.destroy()
  await until('the file is closed', () => openLogs().length === 0)
})

test('HEAD of a log reads nothing of it and leaves it closed', async () => {
  const answer = await ask(scene, fileOf('stdout'), { method: 'HEAD' })
  assert.deepEqual([answer.status, answer.body], [200, ''])
  await until('the file is closed', () => openLogs().length === 0)
})

test('a file that shrinks while it is read ends the answer early and whole', async () => {
  const file = await scene.writeLog(1, 'shrinking', Buffer.alloc(8 * 2 ** 20, 'a'))
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${scene.base}${fileOf('shrinking')}`, resolve).on('error', reject)
  })
  await truncate(file, 10)
  let end = ''
  let bytes = 0
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length
    end = `${end}${String(chunk)}`.slice(-400)
  }
  assert.match(end, /End of LogType:shrinking/)
  assert.ok(bytes < 8 * 2 ** 20)
})

test('a log that is renamed while it is read is read to its end', async () => {
  const file = await scene.writeLog(1, 'rolled', 'line\n'.repeat(100_000))
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${scene.base}${fileOf('rolled')}`, resolve).on('error', reject)
  })
  await rename(file, `${file}.1`)
  let bytes = 0
  for await (const chunk of response) bytes += (chunk as Buffer).length
  assert.ok(bytes > 500_000)
})

test('no descriptor is left behind by any of these', async () => {
  await link(join(scene.containerDir(1), 'stdout'), join(scene.containerDir(1), 'second-name'))
  await Promise.all(Array.from({ length: 50 }, () => ask(scene, fileOf('stdout'))))
  await until('all files are closed', () => openLogs().length === 0)
})
