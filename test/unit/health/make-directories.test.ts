import assert from 'node:assert/strict'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeDirectories } from '../../../src/health/make-directories.ts'

test('directories are made with their mode; those that are there keep theirs', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'bobbin-directories-'))
  t.after(() => rm(root, { recursive: true, force: true }))
  await makeDirectories(join(root, 'a', 'b'), 0o710)
  await makeDirectories(join(root, 'a', 'b', 'c'), 0o755)
  const modes = await Promise.all(
    ['a', 'a/b', 'a/b/c'].map(async (name) => (await stat(join(root, name))).mode & 0o777),
  )
  assert.deepEqual(modes, [0o710, 0o710, 0o755])
  await writeFile(join(root, 'file'), '')
  await assert.rejects(makeDirectories(join(root, 'file'), 0o755), { code: 'EEXIST' })
  await assert.rejects(makeDirectories(join(root, 'file', 'x'), 0o755), { code: 'ENOTDIR' })
})

test('where nothing can be made the error comes back, whatever it is', async () => {
  await assert.rejects(makeDirectories('/proc/no-such-entry/local', 0o755), { code: 'ENOENT' })
})
