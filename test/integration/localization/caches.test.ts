import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { APP, container, Hearer, requestOf, resourceOf, startNode, USER } from './node.ts'

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o7777).toString(8)

test('each visibility has its own cache, whose numbers begin at 10', async (t) => {
  const node = await startNode(t)
  const first = await node.source('a.txt', 'one')
  const second = await node.source('b.txt', 'two')
  for (const [visibility, base] of [
    ['PUBLIC', 'filecache'],
    ['PRIVATE', `usercache/${USER}/filecache`],
    ['APPLICATION', `usercache/${USER}/appcache/${APP}/filecache`],
  ] as const) {
    const { localized } = await node.localize(1, [await resourceOf(first, { visibility })])
    assert.equal(localized[0]?.path, join(node.localDir, base, '10', 'a.txt'))
    assert.equal(localized[0]?.sizeBytes, 3)
    assert.equal(await readFile(localized[0]?.path ?? '', 'utf8'), 'one')
    const next = await node.localize(1, [await resourceOf(second, { visibility })])
    assert.equal(next.localized[0]?.path, join(node.localDir, base, '11', 'b.txt'))
    assert.deepEqual(await readdir(join(node.localDir, base)), ['10', '11'])
  }
})

test('directories and files have the modes of their cache under any umask', async (t) => {
  const before = process.umask(0o077)
  t.after(() => process.umask(before))
  const node = await startNode(t)
  // The umask has shut the way to the sources, which the public cache asks for.
  const file = await node.source('a.txt', 'one')
  await chmod(join(node.dir, 'sources'), 0o755)
  const opened = await node.localize(1, [
    await resourceOf(file, { visibility: 'PUBLIC' }),
    await resourceOf(file, { visibility: 'PRIVATE' }),
    await resourceOf(file, { visibility: 'APPLICATION' }),
  ])
  assert.deepEqual(opened.failed, [])
  const user = join(node.localDir, 'usercache', USER)
  for (const [path, mode] of [
    [node.localDir, '755'],
    [node.logDir, '755'],
    [join(node.localDir, 'filecache'), '755'],
    [join(node.localDir, 'usercache'), '755'],
    [join(node.localDir, 'nmPrivate'), '700'],
    [user, '750'],
    [join(user, 'filecache'), '710'],
    [join(user, 'appcache'), '710'],
    [join(user, 'appcache', APP), '710'],
    [join(user, 'appcache', APP, 'filecache'), '710'],
    [join(node.logDir, APP), '710'],
    [join(node.localDir, 'filecache', '10'), '755'],
    [join(node.localDir, 'filecache', '10', 'a.txt'), '555'],
    [join(user, 'filecache', '10', 'a.txt'), '500'],
    [join(user, 'appcache', APP, 'filecache', '10', 'a.txt'), '500'],
  ] as const)
    assert.equal(await modeOf(path), mode, path)
})

test('a full directory of the cache is followed by 0, 1 and so on, and only where there are levels', async (t) => {
  const node = await startNode(t, { maxFilesPerDirectory: 37 })
  const paths: string[] = []
  for (let i = 0; i < 3; i++) {
    const file = await node.source(`f${i}`, `data ${i}`)
    const { localized, failed } = await node.localize(1, [await resourceOf(file, { visibility: 'PUBLIC' })])
    assert.deepEqual(failed, [])
    paths.push(localized[0]?.path.slice(node.localDir.length) ?? '')
  }
  assert.deepEqual(paths, ['/filecache/10/f0', '/filecache/0/11/f1', '/filecache/1/12/f2'])
  assert.equal(await modeOf(join(node.localDir, 'filecache', '0')), '755')
  const file = await node.source('x', 'x')
  const other = await node.source('y', 'y')
  const { localized } = await node.localize(1, [await resourceOf(file), await resourceOf(other)])
  assert.deepEqual(localized.map(({ path }) => path.split('/').at(-2)).sort(), ['10', '11'])
})

test('a number whose directory exists is passed over and its directory deleted', async (t) => {
  const node = await startNode(t)
  await mkdir(join(node.localDir, 'filecache', '10'))
  const file = await node.source('a.txt', 'one')
  const { localized } = await node.localize(1, [await resourceOf(file, { visibility: 'PUBLIC' })])
  assert.equal(localized[0]?.path, join(node.localDir, 'filecache', '11', 'a.txt'))
  assert.deepEqual(node.deletion.scheduled, [{ user: undefined, path: join(node.localDir, 'filecache', '10') }])
})

test('containers that ask together share one fetch, and one that asks later finds it in the cache', async (t) => {
  const node = await startNode(t)
  const file = await node.source('a.txt', 'one')
  const resource = await resourceOf(file, { visibility: 'PRIVATE' })
  const [first, second] = await Promise.all([node.localize(1, [resource]), node.localize(2, [resource])])
  assert.equal(first.localized[0]?.path, second.localized[0]?.path)
  assert.equal(first.localized[0]?.sizeBytes, 3)
  assert.equal(second.localized[0]?.sizeBytes, 3)
  const third = await node.localize(3, [resource])
  assert.equal(third.localized[0]?.sizeBytes, -3)
  assert.equal(third.localized[0]?.resource, resource)
  assert.deepEqual(await readdir(join(node.localDir, 'usercache', USER, 'filecache')), ['10'])
})

test('one container may want the same resource twice, and hears of each', async (t) => {
  const node = await startNode(t)
  const file = await node.source('a.txt', 'one')
  const wishes = [await resourceOf(file), await resourceOf(file)]
  const { localized } = await node.localize(1, wishes)
  assert.deepEqual(
    localized.map(({ resource }) => resource),
    wishes,
  )
  assert.equal(localized[0]?.path, localized[1]?.path)
})

test('another timestamp, type or pattern is another resource', async (t) => {
  const node = await startNode(t)
  const file = await node.source('a.txt', 'one')
  const before = await resourceOf(file)
  await node.localize(1, [
    before,
    await resourceOf(file, { type: 'ARCHIVE' }),
    await resourceOf(file, { pattern: 'x' }),
  ])
  await writeFile(file, 'changed')
  await utimes(file, 1_700_000_000, 1_700_000_000)
  await node.localize(1, [await resourceOf(file)])
  const names = await readdir(join(node.localDir, 'usercache', USER, 'appcache', APP, 'filecache'))
  assert.deepEqual(names.sort(), ['10', '11', '12', '13'])
  const old = await node.localize(2, [before])
  assert.equal(await readFile(old.localized[0]?.path ?? '', 'utf8'), 'one')
})

test('a resource whose file has gone is fetched again', async (t) => {
  const node = await startNode(t)
  const file = await node.source('a.txt', 'one')
  const resource = await resourceOf(file, { visibility: 'PUBLIC' })
  const { localized } = await node.localize(1, [resource])
  const path = localized[0]?.path ?? ''
  await rm(path, { force: true })
  const again = await node.localize(2, [resource])
  assert.equal(again.localized[0]?.path, join(node.localDir, 'filecache', '11', 'a.txt'))
  assert.equal(again.localized[0]?.sizeBytes, 3)
  assert.ok(node.lines.includes(`Resource ${path} is missing, localizing it again`))
  // The first container's release concerns the entry that it had.
  await node.service.release(USER, APP, container(1))
  const third = await node.localize(3, [resource])
  assert.equal(third.localized[0]?.sizeBytes, -3)
})

test('a cache directory that somebody has removed is made again', async (t) => {
  const node = await startNode(t)
  await rm(join(node.localDir, 'usercache'), { recursive: true })
  await rm(join(node.localDir, 'filecache'), { recursive: true })
  const file = await node.source('a.txt', 'one')
  const { localized, failed } = await node.localize(1, [
    await resourceOf(file),
    await resourceOf(file, { visibility: 'PRIVATE' }),
    await resourceOf(file, { visibility: 'PUBLIC' }),
  ])
  assert.deepEqual(failed, [])
  assert.equal(localized.length, 3)
  assert.equal(await modeOf(join(node.localDir, 'usercache', USER)), '750')
})

test('a directory is copied as a tree, with the modes of the cache', async (t) => {
  const node = await startNode(t)
  await node.source('tree/a/b.txt', 'one')
  await node.source('tree/c.txt', 'four')
  await symlink('a', join(node.dir, 'sources', 'tree', 'link'))
  await chmod(join(node.dir, 'sources', 'tree', 'c.txt'), 0o4777)
  const tree = join(node.dir, 'sources', 'tree')
  const { localized, failed } = await node.localize(1, [
    await resourceOf(tree, { type: 'ARCHIVE', visibility: 'PUBLIC' }),
  ])
  assert.deepEqual(failed, [])
  const path = localized[0]?.path ?? ''
  assert.equal(localized[0]?.sizeBytes, 10)
  assert.equal(await readFile(join(path, 'link', 'b.txt'), 'utf8'), 'one')
  assert.equal(await modeOf(path), '755')
  assert.equal(await modeOf(join(path, 'a')), '755')
  assert.equal(await modeOf(join(path, 'c.txt')), '555')
})

test('a large file is copied whole', async (t) => {
  const node = await startNode(t)
  const data = Buffer.alloc(9 * 1024 * 1024 + 7, 'bobbin')
  const file = await node.source('big.bin', data)
  const { localized } = await node.localize(1, [await resourceOf(file)])
  assert.equal(localized[0]?.sizeBytes, data.length)
  assert.ok((await readFile(localized[0]?.path ?? '')).equals(data))
  assert.equal(await modeOf(localized[0]?.path ?? ''), '500')
})

test('release schedules what the container had, destroyApplication the rest but not the logs', async (t) => {
  const node = await startNode(t, { localDirCount: 2 })
  const second = join(node.dir, 'local', '1')
  const work = join('usercache', USER, 'appcache', APP, container(1))
  await mkdir(join(second, work))
  await mkdir(join(node.localDir, 'nmPrivate', APP, container(1)), { recursive: true })
  await node.service.release(USER, APP, container(1))
  assert.deepEqual(node.deletion.scheduled.splice(0), [
    { user: USER, path: join(second, work) },
    { user: undefined, path: join(node.localDir, 'nmPrivate', APP, container(1)) },
  ])
  await node.service.destroyApplication(USER, APP)
  assert.deepEqual(node.deletion.scheduled, [
    { user: USER, path: join(node.localDir, 'usercache', USER, 'appcache', APP) },
    { user: USER, path: join(second, 'usercache', USER, 'appcache', APP) },
    { user: undefined, path: join(node.localDir, 'nmPrivate', APP) },
  ])
  const hearer = new Hearer()
  node.service.localize(requestOf(2, [await resourceOf(await node.source('a', 'a'))], hearer))
  await hearer.settled()
  assert.deepEqual(hearer.failed, [
    { resource: undefined, diagnostics: `${APP} is not initialized on this node, or has finished` },
  ])
})

test('a user that is no name of a directory is refused', async (t) => {
  const node = await startNode(t)
  for (const user of ['', '.', '..', '../root', 'a\0b'])
    await assert.rejects(node.service.initApplication(user, APP), { code: 'ERR_BAD_USER' })
})
