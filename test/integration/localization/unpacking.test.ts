import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { access, chmod, lstat, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { create } from 'tar'
import { tarOf, zipOf, type TarEntry, type ZipEntry } from './archives.ts'
import { APP, resourceOf, startNode, USER, type TestNode, type Wish } from './node.ts'

const FILE_MODE = 0o100644
const LINK_MODE = 0o120777

async function unpack(node: TestNode, name: string, bytes: Buffer, wish: Wish = {}) {
  const file = await node.source(name, bytes)
  const { localized, failed } = await node.localize(1, [await resourceOf(file, { type: 'ARCHIVE', ...wish })])
  return { path: localized[0]?.path ?? '', sizeBytes: localized[0]?.sizeBytes, diagnostics: failed[0]?.diagnostics }
}

/** Nothing of a failed archive may stay, and nothing may have come to lie outside. */
async function assertNothingLeft(node: TestNode): Promise<void> {
  const cache = join(node.localDir, 'usercache', USER, 'appcache', APP, 'filecache')
  assert.deepEqual(await readdir(cache), [])
  assert.deepEqual((await readdir(node.dir)).sort(), ['local', 'logs', 'outside', 'sources'])
  assert.equal(await readFile(join(node.dir, 'outside'), 'utf8'), 'untouched')
}

async function nodeWithOutside(t: TestContext): Promise<TestNode> {
  const node = await startNode(t)
  await writeFile(join(node.dir, 'outside'), 'untouched')
  return node
}

for (const name of ['t.tar', 't.tar.gz', 'T.TGZ'])
  test(`${name} becomes a directory of that name, with links and times but not with modes`, async (t) => {
    const node = await startNode(t)
    const tree = join(node.dir, 'tree')
    await mkdir(join(tree, 'bin'), { recursive: true })
    await writeFile(join(tree, 'bin', 'run.sh'), '#!/bin/sh\n')
    await chmod(join(tree, 'bin', 'run.sh'), 0o6755)
    await writeFile(join(tree, 'a'.repeat(150)), 'long')
    await symlink('bin/run.sh', join(tree, 'run'))
    await symlink('../run', join(tree, 'bin', 'up'))
    const file = join(node.dir, 'sources', name)
    await mkdir(join(node.dir, 'sources'))
    await create({ file, cwd: tree, gzip: !name.endsWith('tar'), portable: true, mtime: new Date(1_577_934_246_000) }, [
      '.',
    ])
    const { path, sizeBytes, diagnostics } = await unpack(node, name, await readFile(file), { visibility: 'PUBLIC' })
    assert.equal(diagnostics, undefined)
    assert.equal(path, join(node.localDir, 'filecache', '10', name))
    assert.equal(sizeBytes, 14)
    assert.equal((await stat(path)).mode & 0o7777, 0o755)
    const script = await stat(join(path, 'bin', 'run.sh'))
    assert.equal(script.mode & 0o7777, 0o555)
    assert.equal(script.mtimeMs, 1_577_934_246_000)
    assert.equal(await readlink(join(path, 'run')), 'bin/run.sh')
    assert.equal(await readFile(join(path, 'bin', 'up'), 'utf8'), '#!/bin/sh\n')
    assert.equal(await readFile(join(path, 'a'.repeat(150)), 'utf8'), 'long')
  })

test('zip and jar become directories, deflated and stored, with links and backslashes', async (t) => {
  const node = await startNode(t)
  for (const name of ['z.zip', 'z.jar']) {
    const bytes = zipOf([
      { name: 'd/', mode: 0o040755 },
      { name: 'd/stored.txt', data: 'one', mode: FILE_MODE | 0o4111 },
      { name: 'e\\deflated.txt', data: 'two'.repeat(1000), isDeflated: true },
      { name: 'link', data: 'd/stored.txt', mode: LINK_MODE },
    ])
    const { path, diagnostics } = await unpack(node, name, bytes)
    assert.equal(diagnostics, undefined)
    assert.equal(await readFile(join(path, 'link'), 'utf8'), 'one')
    assert.equal(await readFile(join(path, 'e', 'deflated.txt'), 'utf8'), 'two'.repeat(1000))
    assert.equal((await stat(join(path, 'd', 'stored.txt'))).mode & 0o7777, 0o500)
    assert.equal((await stat(join(path, 'd'))).mode & 0o7777, 0o700)
    assert.equal((await stat(join(path, 'd', 'stored.txt'))).mtime.getFullYear(), 2020)
  }
})

test('what the zip and tar tools of the system write is unpacked', async (t) => {
  const node = await startNode(t)
  const tree = join(node.dir, 'tree')
  await mkdir(join(tree, 'sub'), { recursive: true })
  await writeFile(join(tree, 'sub', 'big'), Buffer.alloc(3_000_000, 'x'))
  await writeFile(join(tree, 'hard'), 'hard')
  const run = promisify(execFile)
  await run('ln', [join(tree, 'hard'), join(tree, 'second')])
  await run('tar', ['-czf', join(node.dir, 'out.tgz'), '-C', tree, '.'])
  const { path } = await unpack(node, 'out.tgz', await readFile(join(node.dir, 'out.tgz')))
  assert.equal((await stat(join(path, 'sub', 'big'))).size, 3_000_000)
  assert.equal(await readFile(join(path, 'second'), 'utf8'), 'hard')
  assert.equal((await stat(join(path, 'second'))).ino, (await stat(join(path, 'hard'))).ino)
})

test('a name that tells no format is copied as a file, with a warning', async (t) => {
  const node = await startNode(t)
  const { path } = await unpack(node, 'data.bin', Buffer.from('bytes'))
  assert.equal(await readFile(path, 'utf8'), 'bytes')
  assert.ok(node.lines.includes(`Cannot unpack file:${join(node.dir, 'sources', 'data.bin')}`))
})

test('an empty tar and an empty zip become empty directories', async (t) => {
  const node = await startNode(t)
  for (const [name, bytes] of [
    ['e.tar', Buffer.alloc(10_240)],
    ['e.tgz', gzipSync(Buffer.alloc(1024))],
    ['e.zip', zipOf([])],
  ] as const) {
    const { path, diagnostics } = await unpack(node, name, bytes)
    assert.equal(diagnostics, undefined, name)
    assert.deepEqual(await readdir(path), [])
  }
})

test('a later entry takes the place of an earlier one of its name, and writes through no link', async (t) => {
  const node = await nodeWithOutside(t)
  const { path, diagnostics } = await unpack(
    node,
    'twice.tar',
    tarOf([
      { path: 'a', data: 'old' },
      { path: 'a', data: 'new' },
      { path: 'l', type: 'SymbolicLink', linkpath: 'a' },
      { path: 'l', data: 'own' },
    ]),
  )
  assert.equal(diagnostics, undefined)
  assert.equal(await readFile(join(path, 'a'), 'utf8'), 'new')
  assert.equal(await readFile(join(path, 'l'), 'utf8'), 'own')
  assert.equal((await lstat(join(path, 'l'))).isSymbolicLink(), false)
})

const link = (path: string, linkpath: string): TarEntry => ({ path, type: 'SymbolicLink', linkpath })
const hard = (path: string, linkpath: string): TarEntry => ({ path, type: 'Link', linkpath })

const hostileTars: readonly { name: string; entries: readonly TarEntry[]; why: RegExp }[] = [
  {
    name: 'an absolute name',
    entries: [{ path: '/tmp/x', data: 'x' }],
    why: /"\/tmp\/x" is refused: its name is an absolute path/,
  },
  { name: 'a name that goes up', entries: [{ path: 'a/../../x', data: 'x' }], why: /its name contains ".."/ },
  { name: 'a directory that goes up', entries: [{ path: '../d/', type: 'Directory' }], why: /its name contains ".."/ },
  { name: 'an absolute link', entries: [link('l', '/etc')], why: /it is a link to the absolute path \/etc/ },
  {
    name: 'a link out',
    entries: [link('d/l', '../../../../outside')],
    why: /it is a link out of the archive: \.\.\/\.\.\//,
  },
  {
    name: 'a file through a link out',
    entries: [link('l', '../../../..'), { path: 'l/outside', data: 'x' }],
    why: /it goes through the link l/,
  },
  {
    name: 'a directory through a link',
    entries: [link('l', 'd'), { path: 'l/sub/', type: 'Directory' }],
    why: /it goes through the link l/,
  },
  {
    name: 'a link that is in by name and out by way of another link',
    entries: [{ path: 'a/b/c/', type: 'Directory' }, link('a/b/c/top', '../../..'), link('m', 'a/b/c/top/../outside')],
    why: /"m" is refused: it is a link out/,
  },
  {
    name: 'the same with the links in the other order',
    entries: [link('m', 'a/b/c/top/../outside'), link('a/b/c/top', '../../..')],
    why: /"m" is refused: it is a link out/,
  },
  { name: 'a hard link to an absolute path', entries: [hard('h', '/etc/passwd')], why: /its name is an absolute path/ },
  { name: 'a hard link that goes up', entries: [hard('h', '../../../../outside')], why: /its name contains ".."/ },
  {
    name: 'a hard link through a link',
    entries: [link('l', 'd'), hard('h', 'l/x')],
    why: /it is a hard link to l\/x, which is not in it/,
  },
  {
    name: 'a hard link to a link, which leads out from its new place',
    entries: [{ path: 'a/', type: 'Directory' }, link('a/l', '..'), hard('h', 'a/l')],
    why: /"h" is refused: it is a link out/,
  },
  {
    name: 'a device',
    entries: [{ path: 'dev', type: 'CharacterDevice', devmaj: 1, devmin: 3 }],
    why: /"dev" is refused: it is of type CharacterDevice/,
  },
  {
    name: 'a block device',
    entries: [{ path: 'dev', type: 'BlockDevice', devmaj: 8, devmin: 0 }],
    why: /of type BlockDevice/,
  },
  { name: 'a FIFO', entries: [{ path: 'fifo', type: 'FIFO' }], why: /of type FIFO/ },
  {
    name: 'a file where a directory is',
    entries: [
      { path: 'd/', type: 'Directory' },
      { path: 'd', data: 'x' },
    ],
    why: /it stands in it as a directory too/,
  },
  {
    name: 'a directory where a file is',
    entries: [
      { path: 'f', data: 'x' },
      { path: 'f/x', data: 'x' },
    ],
    why: /f is a file/,
  },
  { name: 'a link to nothing', entries: [{ path: 'l', type: 'SymbolicLink', linkpath: '' }], why: /linkpath required/ },
  {
    name: 'a name too long for any file system',
    entries: [
      { path: `${'n'.repeat(90)}/${'m'.repeat(90)}`, data: 'x' },
      { path: 'x'.repeat(99), type: 'SparseFile' },
    ],
    why: /of type SparseFile/,
  },
]

for (const { name, entries, why } of hostileTars)
  test(`a tar with ${name} is refused and leaves nothing`, async (t) => {
    const node = await nodeWithOutside(t)
    const { diagnostics = '' } = await unpack(node, 'hostile.tar', tarOf([{ path: 'first', data: 'x' }, ...entries]))
    assert.match(diagnostics, /^Download and unpack failed\n/)
    assert.match(diagnostics, why)
    await assertNothingLeft(node)
  })

const hostileZips: readonly { name: string; entries: readonly ZipEntry[]; why: RegExp }[] = [
  { name: 'an absolute name', entries: [{ name: '/etc/x', data: 'x' }], why: /absolute path: \/etc\/x/ },
  { name: 'a name that goes up', entries: [{ name: '../../x', data: 'x' }], why: /invalid relative path/ },
  { name: 'backslashes that go up', entries: [{ name: '..\\..\\x', data: 'x' }], why: /invalid relative path/ },
  { name: 'a drive', entries: [{ name: 'C:\\x', data: 'x' }], why: /absolute path: C:/ },
  {
    name: 'an absolute link',
    entries: [{ name: 'l', data: '/etc', mode: LINK_MODE }],
    why: /it is a link to the absolute path/,
  },
  {
    name: 'a link out',
    entries: [{ name: 'l', data: '../outside', mode: LINK_MODE }],
    why: /it is a link out of the archive/,
  },
  {
    name: 'a file through a link',
    entries: [
      { name: 'l', data: '..', mode: LINK_MODE },
      { name: 'l/x', data: 'x' },
    ],
    why: /it goes through the link l/,
  },
  {
    name: 'a link with a target that is a book',
    entries: [{ name: 'l', data: 'a/'.repeat(5000), mode: LINK_MODE }],
    why: /a link with a target of 10000 bytes/,
  },
  { name: 'a FIFO', entries: [{ name: 'f', mode: 0o010644 }], why: /it is a special file \(mode 10000\)/ },
  { name: 'a device', entries: [{ name: 'f', mode: 0o020644 }], why: /it is a special file \(mode 20000\)/ },
  { name: 'a wrong checksum', entries: [{ name: 'f', data: 'x', crc: 1 }], why: /its checksum is wrong/ },
  {
    name: 'an encrypted entry',
    entries: [{ name: 'f', data: 'x', flags: 1, isDeflated: true }],
    why: /it is encrypted/,
  },
]

for (const { name, entries, why } of hostileZips)
  test(`a zip with ${name} is refused and leaves nothing`, async (t) => {
    const node = await nodeWithOutside(t)
    const { diagnostics = '' } = await unpack(node, 'hostile.zip', zipOf([{ name: 'first', data: 'x' }, ...entries]))
    assert.match(diagnostics, /^Download and unpack failed\n/)
    assert.match(diagnostics, why)
    await assertNothingLeft(node)
  })

test('damaged archives fail and leave nothing', async (t) => {
  const node = await nodeWithOutside(t)
  const tar = tarOf([{ path: 'a', data: 'x'.repeat(5000) }], false)
  for (const [name, bytes] of [
    ['cut.tar', tar.subarray(0, 3000)],
    ['cut.tgz', gzipSync(tar).subarray(0, 60)],
    ['plain.tar.gz', tar],
    ['noise.tar', Buffer.alloc(2000, 'noise')],
    ['empty.tar', Buffer.alloc(0)],
    ['empty.tgz', Buffer.alloc(0)],
    ['noise.zip', Buffer.alloc(2000, 'noise')],
    ['cut.zip', zipOf([{ name: 'a', data: 'x' }]).subarray(0, 60)],
    ['empty.jar', Buffer.alloc(0)],
  ] as const) {
    const { diagnostics = '' } = await unpack(node, name, bytes)
    assert.match(diagnostics, /^Download and unpack failed\n/, name)
    await assertNothingLeft(node)
  }
})

test('padding after the end of a tar is not read into memory', async (t) => {
  const node = await startNode(t)
  const padded = gzipSync(Buffer.concat([tarOf([{ path: 'a', data: 'x' }]), Buffer.alloc(64 * 1024 * 1024)]))
  const before = process.memoryUsage().arrayBuffers
  const { path } = await unpack(node, 'padded.tgz', padded)
  assert.equal(await readFile(join(path, 'a'), 'utf8'), 'x')
  assert.ok(process.memoryUsage().arrayBuffers - before < 32 * 1024 * 1024)
})

test('links that make a ring or a long chain are kept, for they lead nowhere', async (t) => {
  const node = await startNode(t)
  const chain = Array.from({ length: 200 }, (_none, index) => link(`l${index}`, `l${index + 1}`))
  const { path, diagnostics } = await unpack(node, 'ring.tar', tarOf([link('a', 'b'), link('b', 'a'), ...chain]))
  assert.equal(diagnostics, undefined)
  assert.equal(await readlink(join(path, 'a')), 'b')
  await assert.rejects(access(join(path, 'a')), { code: 'ELOOP' })
})

test('a PATTERN jar keeps itself and what matches as a whole', async (t) => {
  const node = await startNode(t)
  const jar = zipOf([
    { name: 'classes/A.class', data: 'A' },
    { name: 'lib/b.jar', data: 'B' },
    { name: 'other/lib/c.jar', data: 'C' },
    { name: 'META-INF/' },
  ])
  const { path, diagnostics } = await unpack(node, 'job.jar', jar, { type: 'PATTERN', pattern: '(?:classes/|lib/).*' })
  assert.equal(diagnostics, undefined)
  assert.deepEqual((await readdir(path)).sort(), ['classes', 'job.jar', 'lib'])
  assert.ok((await readFile(join(path, 'job.jar'))).equals(jar))
  const all = await unpack(node, 'all.jar', jar, { type: 'PATTERN' })
  assert.deepEqual((await readdir(all.path)).sort(), ['META-INF', 'all.jar', 'classes', 'lib', 'other'])
  const bad = await unpack(node, 'bad.jar', jar, { type: 'PATTERN', pattern: '(' })
  assert.match(bad.diagnostics ?? '', /The pattern "\(" can't be used/)
  const zip = await unpack(node, 'job.zip', jar, { type: 'PATTERN', pattern: 'classes/.*' })
  assert.deepEqual((await readdir(zip.path)).sort(), ['META-INF', 'classes', 'lib', 'other'])
  assert.ok(node.lines.some((line) => line.endsWith('as an archive even though it was specified as PATTERN')))
})
