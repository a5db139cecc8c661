import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readdir, readlink, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { iso8601 } from '../../../src/base/times.ts'
import type { FileSource, ReadContext } from '../../../src/localization/fetch/file-source.ts'
import type { LocalResource } from '../../../src/localization/localization.ts'
import { hadoop } from '../../../src/protocol/messages.ts'
import { until } from '../../helpers/until.ts'
import { zipOf } from './archives.ts'
import { APP, container, Hearer, requestOf, resourceOf, startNode, USER } from './node.ts'

const { LocalResourceTypeProto: Type, LocalResourceVisibilityProto: Visibility } = hadoop.yarn
const YARN = 'org.apache.hadoop.yarn.exceptions.YarnException'

test('a source that has changed fails with both times', async (t) => {
  const node = await startNode(t)
  const file = await node.source('a.txt', 'one')
  const resource = await resourceOf(file)
  const was = Number(resource.timestamp)
  const { failed } = await node.localize(1, [{ ...resource, timestamp: was - 1000 }])
  assert.equal(failed.length, 1)
  const text =
    `Resource file:${file} changed on src filesystem - expected: "${iso8601(was - 1000)}", ` +
    `was: "${iso8601(was)}", current time: "`
  const [message = '', trace = ''] = failed[0]?.diagnostics.split('\n') ?? []
  assert.ok(message.startsWith(text), message)
  assert.match(message, /current time: "\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d{4}"$/)
  assert.equal(trace, `java.io.IOException: ${message}`)
  assert.deepEqual(await readdir(join(node.localDir, 'usercache', USER, 'appcache', APP, 'filecache')), [])
})

test('a size that is not the file’s fails for those who gave it, and for them alone', async (t) => {
  const node = await startNode(t)
  const file = await node.source('a.txt', 'one')
  const [wrong, right, unknown] = await Promise.all([
    node.localize(1, [await resourceOf(file, { size: 4 })]),
    node.localize(2, [await resourceOf(file)]),
    node.localize(3, [await resourceOf(file, { size: -1 })]),
  ])
  assert.deepEqual(
    wrong.failed.map(({ diagnostics }) => diagnostics),
    [`Resource file:${file} has another size on src filesystem - expected: 4, was: 3 bytes`],
  )
  assert.equal(right.localized.length, 1)
  assert.equal(unknown.localized.length, 1)
  const cached = await node.localize(4, [await resourceOf(file, { size: 4 })])
  assert.equal(cached.failed.length, 1)
})

test('a public resource that others may not read is refused', async (t) => {
  const node = await startNode(t)
  const file = await node.source('shut/a.txt', 'one')
  const text = (path: string) =>
    `java.io.IOException: Resource file:${path} is not publicly accessible and as such cannot be part of the public cache.`
  await chmod(file, 0o640)
  const unreadable = await node.localize(1, [await resourceOf(file, { visibility: 'PUBLIC' })])
  const diagnostics = unreadable.failed[0]?.diagnostics ?? ''
  const timestamp = Number((await resourceOf(file)).timestamp)
  assert.match(
    diagnostics,
    new RegExp(
      `^Failed to download resource \\{ \\{ file:${file}, ${timestamp}, FILE, null \\},pending,\\[\\(${container(1)}\\)\\],\\d+,DOWNLOADING\\} `,
    ),
  )
  assert.ok(diagnostics.endsWith(text(file)), diagnostics)
  await chmod(file, 0o644)
  await chmod(join(node.dir, 'sources', 'shut'), 0o754)
  const shut = await node.localize(1, [await resourceOf(file, { visibility: 'PUBLIC' })])
  assert.ok(shut.failed[0]?.diagnostics.endsWith(text(file)))
  // A tree must be open as a whole.
  await node.source('tree/open.txt', 'x')
  await chmod(await node.source('tree/secret.txt', 'x'), 0o600)
  const tree = join(node.dir, 'sources', 'tree')
  const shutTree = await node.localize(1, [await resourceOf(tree, { visibility: 'PUBLIC' })])
  assert.ok(shutTree.failed[0]?.diagnostics.endsWith(text(tree)))
})

test('what is not there, not a file, or not a place fails by name', async (t) => {
  const node = await startNode(t)
  const file = await node.source('a.txt', 'one')
  const resource = await resourceOf(file)
  const at = (url: object) => ({ ...resource, resource: url })
  const diagnosticsOf = async (url: object) => (await node.localize(1, [at(url)])).failed[0]?.diagnostics
  assert.equal(
    await diagnosticsOf({ scheme: 'file', file: `${file}.gone` }),
    `File file:${file}.gone does not exist\njava.io.FileNotFoundException: File file:${file}.gone does not exist\n`,
  )
  assert.match(
    (await diagnosticsOf({ scheme: 'ftp', host: 'h', port: 21, file: '/a' })) ?? '',
    /^No FileSystem for scheme "ftp": resource ftp:\/\/h:21\/a\norg\.apache\.hadoop\.fs\.UnsupportedFileSystemException: /,
  )
  assert.equal(
    await diagnosticsOf({ scheme: 'file', file: 'a/b' }),
    'Invalid resource: "file:a/b" is not an absolute path',
  )
  assert.equal(await diagnosticsOf({ scheme: 'file', file: '/' }), 'Invalid resource: "file:/" has no file name')
  assert.equal(await diagnosticsOf({}), 'Invalid resource: "" is not an absolute path')
  const hearer = await node.localize(1, [{}])
  assert.equal(hearer.failed.length, 1)
  const fifo = join(node.dir, 'fifo')
  await promisify(execFile)('mkfifo', [fifo])
  const special = await node.localize(1, [await resourceOf(fifo)])
  assert.match(
    special.failed[0]?.diagnostics ?? '',
    new RegExp(`^Resource file:${fifo} is neither a file nor a directory\n`),
  )
})

test('a path without a scheme belongs to the default file system', async (t) => {
  const node = await startNode(t)
  const file = await node.source('a.txt', 'one')
  const resource = { ...(await resourceOf(file)), resource: { file } }
  const { localized } = await node.localize(1, [resource])
  assert.equal(localized[0]?.sizeBytes, 3)
  const remote = await startNode(t, { defaultFileSystem: 'hdfs://nn:8020' })
  const { failed } = await remote.localize(1, [resource])
  assert.match(failed[0]?.diagnostics ?? '', new RegExp(`^No FileSystem for scheme "hdfs": resource ${file}\n`))
})

test('one failure leaves the other resources alone, and the failed one may be asked for again', async (t) => {
  const node = await startNode(t)
  const good = await node.source('good.txt', 'good')
  const bad = await node.source('bad.txt', 'bad')
  const changed = await resourceOf(bad, { timestamp: 1 })
  const { localized, failed } = await node.localize(1, [changed, await resourceOf(good)])
  assert.equal(localized.length, 1)
  assert.equal(failed[0]?.resource, changed)
  const again = await node.localize(1, [changed])
  assert.equal(again.failed.length, 1)
  const fixed = await node.localize(1, [await resourceOf(bad)])
  assert.equal(fixed.localized.length, 1)
})

test('a tree of links is followed once around and no further', async (t) => {
  const node = await startNode(t)
  const tree = join(node.dir, 'sources', 'loop')
  await mkdir(tree, { recursive: true })
  await symlink('.', join(tree, 'again'))
  const { failed } = await node.localize(1, [await resourceOf(tree)])
  assert.match(failed[0]?.diagnostics ?? '', /Caused by: .*again links to a directory above itself/)
  const dangling = join(node.dir, 'sources', 'dangling')
  await mkdir(dangling)
  await symlink('/nowhere', join(dangling, 'link'))
  const gone = await node.localize(1, [await resourceOf(dangling)])
  assert.match(gone.failed[0]?.diagnostics ?? '', /File .*dangling\/link does not exist/)
  assert.equal(await readlink(join(dangling, 'link')), '/nowhere')
})

test('a link farm that would be copied without end is judged for the public cache in one pass', async (t) => {
  const node = await startNode(t)
  const farm = join(node.dir, 'sources', 'farm')
  // Thirty levels, each with two links to the next: two to the thirtieth ways down.
  for (let level = 0; level < 30; level++) {
    await mkdir(join(farm, String(level)), { recursive: true })
    for (const name of ['x', 'y']) await symlink(`../${level + 1}`, join(farm, String(level), name))
  }
  await mkdir(join(farm, '30'))
  await writeFile(join(farm, '30', 'secret'), '', { mode: 0o600 })
  const { failed } = await node.localize(1, [await resourceOf(join(farm, '0'), { visibility: 'PUBLIC' })])
  assert.match(failed[0]?.diagnostics ?? '', /is not publicly accessible/)
})

/** Gives each file as much as it is told to, and lets a test hold it back. */
class HeldSource implements FileSource {
  readonly schemes = ['held']
  readonly opened: { name: string; context: ReadContext; stream: Readable }[] = []
  #changed: () => void = () => {}

  async stat() {
    return { kind: 'file', sizeBytes: 5, modifiedMs: 1 } as const
  }
  async isPublic() {
    return true
  }
  async copy(url: { name: string }, to: Parameters<FileSource['copy']>[1], name: string, context: ReadContext) {
    const stream = await this.open(url, context)
    await to.file(name, async (file) => {
      for await (const chunk of stream) await file.write(chunk)
    })
  }
  async open(url: { name: string }, context: ReadContext) {
    const stream = new Readable({ read: () => {}, signal: context.signal })
    // Whoever reads it is told; a cancellation may come before.
    stream.on('error', () => {})
    this.opened.push({ name: url.name, context, stream })
    this.#changed()
    return stream
  }
  localPath() {
    return undefined
  }
  async hasOpened(count: number): Promise<void> {
    while (this.opened.length < count) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve
      })
    }
  }
}

const held = (
  name: string,
  visibility: keyof typeof Visibility = 'PRIVATE',
  type: keyof typeof Type = 'FILE',
): LocalResource => ({
  resource: { scheme: 'held', file: `/${name}` },
  size: 5,
  timestamp: 1,
  type: Type[type],
  visibility: Visibility[visibility],
})

test('a release ends what only that container wanted and leaves no file behind', async (t) => {
  const source = new HeldSource()
  const node = await startNode(t, { sources: [source] })
  const first = new Hearer()
  node.service.localize(requestOf(1, [held('a')], first))
  await source.hasOpened(1)
  source.opened[0]!.stream.push('ab')
  const closed = once(source.opened[0]!.stream, 'close').catch((error: unknown) => error)
  await node.service.release(USER, APP, container(1))
  assert.equal(source.opened[0]!.context.signal.aborted, true)
  await closed
  // The next one begins anew and is not kept waiting.
  const second = new Hearer()
  node.service.localize(requestOf(2, [held('a')], second))
  await source.hasOpened(2)
  source.opened[1]!.stream.push('abcde')
  source.opened[1]!.stream.push(null)
  await second.settled()
  assert.equal(second.localized[0]?.sizeBytes, 5)
  assert.deepEqual(first.localized, [])
  assert.deepEqual(first.failed, [])
  // What the first one had written goes after its stream.
  const cache = join(node.localDir, 'usercache', USER, 'filecache')
  await until('only the second one is there', async () => (await readdir(cache)).join() === '11')
})

test('a fetch that another container waits for goes on when the first one is released', async (t) => {
  const source = new HeldSource()
  const node = await startNode(t, { sources: [source] })
  const [first, second] = [new Hearer(), new Hearer()]
  node.service.localize(requestOf(1, [held('a')], first))
  node.service.localize(requestOf(2, [held('a')], second))
  await source.hasOpened(1)
  await node.service.release(USER, APP, container(1))
  source.opened[0]!.stream.push('abcde')
  source.opened[0]!.stream.push(null)
  await second.settled()
  assert.equal(second.localized.length, 1)
  assert.equal(source.opened.length, 1)
  assert.deepEqual(first.localized, [])
})

test('what waits for its turn is given up with its container', async (t) => {
  const source = new HeldSource()
  const node = await startNode(t, { sources: [source] })
  const hearer = new Hearer()
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  node.service.localize(
    requestOf(
      1,
      names.map((name) => held(name)),
      hearer,
    ),
  )
  await source.hasOpened(4)
  await node.service.release(USER, APP, container(1))
  await node.service.stop()
  assert.equal(source.opened.length, 4)
  assert.deepEqual(await readdir(join(node.localDir, 'usercache', USER, 'filecache')), [])
})

test('public resources are fetched so many at a time, and to the end when their container goes', async (t) => {
  const source = new HeldSource()
  const node = await startNode(t, { sources: [source], fetchThreads: 2 })
  const hearer = new Hearer()
  node.service.localize(
    requestOf(
      1,
      ['a', 'b', 'c'].map((name) => held(name, 'PUBLIC')),
      hearer,
    ),
  )
  await source.hasOpened(2)
  await node.service.release(USER, APP, container(1))
  assert.deepEqual(
    source.opened.map(({ context }) => context.signal.aborted),
    [false, false],
  )
  for (const { stream } of source.opened) stream.push('abcde')
  source.opened[0]!.stream.push(null)
  await source.hasOpened(3)
  source.opened[2]!.stream.push('abcde')
  for (const { stream } of source.opened) stream.push(null)
  const other = await node.localize(
    2,
    ['a', 'b', 'c'].map((name) => held(name, 'PUBLIC')),
  )
  assert.equal(other.localized.length, 3)
  assert.equal(source.opened.length, 3)
})

test('a release while the disk is still being asked leads to no fetch', async (t) => {
  const source = new HeldSource()
  const node = await startNode(t, { sources: [source] })
  const hearer = new Hearer()
  node.service.localize(requestOf(1, [held('a')], hearer))
  await node.service.release(USER, APP, container(1))
  await node.service.stop()
  assert.equal(hearer.localized.length, 0)
  assert.deepEqual(await readdir(join(node.localDir, 'usercache', USER, 'filecache')), [])
})

test('an archive from a source that is not local is brought here first, and only what it holds stays', async (t) => {
  const source = new HeldSource()
  const node = await startNode(t, { sources: [source] })
  const hearer = new Hearer()
  node.service.localize(requestOf(1, [held('a.zip', 'PRIVATE', 'ARCHIVE')], hearer))
  await source.hasOpened(1)
  source.opened[0]!.stream.push(zipOf([{ name: 'in.txt', data: 'hello' }]))
  source.opened[0]!.stream.push(null)
  await hearer.settled()
  assert.deepEqual(hearer.failed, [])
  const path = hearer.localized[0]?.path ?? ''
  assert.deepEqual(await readdir(path), ['in.txt'])
  assert.deepEqual(await readdir(join(path, '..')), ['a.zip'])
})

test('a failure of a remote source names its cause', async (t) => {
  const source = new HeldSource()
  const node = await startNode(t, { sources: [source] })
  const hearer = new Hearer()
  node.service.localize(requestOf(1, [held('a')], hearer))
  await source.hasOpened(1)
  source.opened[0]!.stream.destroy(new Error('the line is dead'))
  await hearer.settled()
  assert.equal(
    hearer.failed[0]?.diagnostics,
    `Download and unpack failed\n${YARN}: Download and unpack failed\n` +
      'Caused by: the line is dead\njava.io.IOException: the line is dead\n',
  )
})

test('without enough disks a container is refused, with the report', async (t) => {
  const node = await startNode(t, { localDirCount: 2 })
  node.localDirs.updateDirs(
    new Map(
      [0, 1].map((index) => [join(node.dir, 'local', String(index)), { kind: 'error', message: 'broken' } as const]),
    ),
    new Map(),
  )
  const { failed } = await node.localize(1, [await resourceOf(await node.source('a', 'a'))])
  const entries = [0, 1].map((index) => `${join(node.dir, 'local', String(index))} : broken`).join(' , ')
  assert.deepEqual(failed, [
    { resource: undefined, diagnostics: `All disks failed. 2/2 local-dirs have errors:  [ ${entries} ] ` },
  ])
})
