import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { FileTree, PRIVATE_MODES } from '../../src/localization/fetch/file-tree.ts'
import { untar } from '../../src/localization/fetch/untar.ts'
import { unzip } from '../../src/localization/fetch/unzip.ts'
import { tarOf, zipOf } from '../integration/localization/archives.ts'

const RUNS = 150
const signal = new AbortController().signal
let dir = ''
let count = 0

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'bobbin-fuzz-'))
})
after(() => rm(dir, { recursive: true, force: true }))

/** Whatever comes: it ends, with an Error or without, and nothing lies outside the root. */
async function assertContained(unpackTo: (tree: FileTree, around: string) => Promise<void>): Promise<void> {
  const around = join(dir, String(count++))
  const tree = new FileTree(join(around, 'root'), PRIVATE_MODES)
  await mkdir(around)
  try {
    await tree.makeRoot()
    await unpackTo(tree, around)
    await tree.checkLinks(signal)
  } catch (thrown) {
    assert.ok(thrown instanceof Error)
  }
  assert.deepEqual(
    (await readdir(around)).filter((name) => name !== 'archive'),
    ['root'],
  )
  await rm(around, { recursive: true })
}

const tar = tarOf([
  { path: 'd/', type: 'Directory' },
  { path: 'd/file', data: 'x'.repeat(700) },
  { path: 'd/link', type: 'SymbolicLink', linkpath: 'file' },
  { path: 'hard', type: 'Link', linkpath: 'd/file' },
  { path: 'p'.repeat(90), data: 'y' },
])
const zip = zipOf([
  { name: 'd/', mode: 0o040755 },
  { name: 'd/file', data: 'x'.repeat(700), isDeflated: true, mode: 0o100644 },
  { name: 'd/link', data: 'file', mode: 0o120777 },
  { name: 'last', data: 'y' },
])

/** Some bytes of the archive changed, and the end cut off. */
const mutationsOf = (bytes: Buffer) =>
  fc
    .tuple(
      fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 }),
      fc.oneof(fc.constant(bytes.length), fc.nat(bytes.length)),
    )
    .map(([changes, length]) => {
      const mutated = Buffer.from(bytes)
      for (const [at, value] of changes) mutated[at] = value
      return mutated.subarray(0, length)
    })

const chunksOf = (bytes: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_none, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  )

test('a damaged tar in chunks of any size ends and stays inside', async () => {
  await fc.assert(
    fc.asyncProperty(mutationsOf(tar), fc.integer({ min: 100, max: 5000 }), async (bytes, size) => {
      await assertContained((tree) => untar(Readable.from(chunksOf(bytes, size)), false, tree))
    }),
    { numRuns: RUNS },
  )
})

test('a damaged gzip of a tar ends and stays inside', async () => {
  await fc.assert(
    fc.asyncProperty(mutationsOf(gzipSync(tar)), async (bytes) => {
      await assertContained((tree) => untar(Readable.from(chunksOf(bytes, 1000)), true, tree))
    }),
    { numRuns: RUNS },
  )
})

test('a damaged zip ends and stays inside', async () => {
  await fc.assert(
    fc.asyncProperty(mutationsOf(zip), async (bytes) => {
      await assertContained(async (tree, around) => {
        await writeFile(join(around, 'archive'), bytes)
        await unzip(join(around, 'archive'), tree, signal)
      })
    }),
    { numRuns: RUNS },
  )
})

/** Names and targets that a stranger might try, from few parts so that they meet. */
const path = fc
  .array(fc.constantFrom('a', 'b', 'c', '..', '.', ''), { minLength: 1, maxLength: 6 })
  .map((parts) => parts.join('/'))

test('no choice of names, links and hard links leaves the root', async () => {
  const entry = fc.record({ kind: fc.constantFrom('file', 'directory', 'link', 'hard'), name: path, target: path })
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 12 }), async (entries) => {
      await assertContained(async (tree, around) => {
        for (const { kind, name, target } of entries) {
          try {
            if (kind === 'file') await tree.file(name === '' ? 'a' : name, (file) => file.write(Buffer.from('x')))
            else if (kind === 'directory') await tree.directory(name)
            else if (kind === 'link') await tree.symbolicLink(name === '' ? 'a' : name, target)
            else await tree.hardLink(name === '' ? 'a' : name, target)
          } catch (thrown) {
            // Refused: the next one is tried on the same tree.
            assert.ok(thrown instanceof Error)
          }
        }
        await tree.checkLinks(signal)
        await assertLinksInside(around)
      })
    }),
    { numRuns: 400 },
  )
})

/** The kernel is the judge of what the walk in memory has let pass. */
async function assertLinksInside(around: string): Promise<void> {
  const root = join(await realpath(around), 'root')
  for (const link of await linksBelow(root)) {
    try {
      const target = await realpath(link)
      assert.ok(target === root || target.startsWith(`${root}/`), `${link} leads to ${target}`)
    } catch (thrown) {
      if (thrown instanceof assert.AssertionError) throw thrown
      // A ring, or a target that is not there.
      assert.match(String(thrown), /ENOENT|ELOOP|ENOTDIR/)
    }
  }
}

/** Level by level: a recursive readdir follows links in newer Node.js, and a few links to `.` keep it busy for ever. */
async function linksBelow(folder: string): Promise<string[]> {
  const links: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isSymbolicLink()) links.push(path)
    else if (entry.isDirectory()) links.push(...(await linksBelow(path)))
  }
  return links
}
