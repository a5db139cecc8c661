import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { test, type TestContext } from 'node:test'
import { DefaultContainerExecutor } from '../../../src/executors/default.ts'
import { replaceFile } from '../../../src/executors/replace-file.ts'
import { token } from '../../helpers/container-node.ts'

const executor = new DefaultContainerExecutor({
  niceAdjustment: undefined,
  logDirMode: 0o710,
  searchPath: '/usr/bin:/bin',
})
const { containerId } = token(1)

async function folder(t: TestContext): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'bobbin-executor-'))
  t.after(() => rm(root, { recursive: true, force: true }))
  return root
}

test('a directory gets its mode whatever the umask, and again when it is there', async (t) => {
  const path = join(await folder(t), 'x')
  const before = process.umask(0o077)
  try {
    await executor.makeDirectory('alice', path, 0o2750)
  } finally {
    process.umask(before)
  }
  assert.equal((await stat(path)).mode & 0o7777, 0o2750)
  await executor.makeDirectory('alice', path, 0o710)
  assert.equal((await stat(path)).mode & 0o7777, 0o710)
})

test('a tree is removed with its closed directories, and links are not followed', async (t) => {
  const root = await folder(t)
  await mkdir(join(root, 'outside'))
  await writeFile(join(root, 'outside', 'kept'), '')
  await mkdir(join(root, 'tree', 'closed', 'inner'), { recursive: true })
  await writeFile(join(root, 'tree', 'closed', 'inner', 'file'), '')
  await symlink(join(root, 'outside'), join(root, 'tree', 'link'))
  await chmod(join(root, 'tree', 'closed', 'inner'), 0o000)
  await chmod(join(root, 'tree', 'closed'), 0o000)
  await executor.remove('alice', join(root, 'tree'))
  assert.deepEqual(await readdir(root), ['outside'])
  assert.deepEqual(await readdir(join(root, 'outside')), ['kept'])
  await symlink(join(root, 'outside'), join(root, 'link'))
  await executor.remove('alice', join(root, 'link'))
  await executor.remove('alice', join(root, 'missing'))
  assert.deepEqual(await readdir(join(root, 'outside')), ['kept'])
})

test('a tree is removed however deep it is, and whatever bytes its names have', async (t) => {
  const root = await folder(t)
  // Below PATH_MAX only step by step, as a container would make it.
  const make =
    'mkdir tree && cd tree && for i in $(seq 300); do mkdir d23456789_123456789 && cd d23456789_123456789; done'
  const { status } = spawnSync(
    '/bin/bash',
    ['-c', `${make} && touch $'\\377\\n' && chmod 500 . .. && chmod 000 ../..`],
    {
      cwd: root,
    },
  )
  assert.equal(status, 0)
  await executor.remove('alice', join(root, 'tree'))
  assert.deepEqual(await readdir(root), [])
})

test('the event loop goes on while a large directory is removed', async (t) => {
  const root = await folder(t)
  spawnSync('/bin/bash', ['-c', 'mkdir tree && cd tree && seq 20000 | xargs touch'], { cwd: root })
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  await executor.remove('alice', join(root, 'tree'))
  delay.disable()
  assert.deepEqual(await readdir(root), [])
  assert.ok(delay.max < 200e6, `it stood still for ${delay.max / 1e6} ms`)
})

test('a file is written in place of a link, not through it', async (t) => {
  const root = await folder(t)
  await writeFile(join(root, 'kept'), 'kept')
  await symlink(join(root, 'kept'), join(root, 'file'))
  await writeFile(join(root, '.file.crc'), '')
  await replaceFile(join(root, 'file'), 'new', 0o600)
  assert.equal(await readFile(join(root, 'kept'), 'utf8'), 'kept')
  assert.deepEqual((await readdir(root)).sort(), ['file', 'kept'])
})

test('no signal goes to everyone, to our own group, or to a stranger', async (t) => {
  const stranger = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore', env: { CONTAINER_ID: 'another' } })
  t.after(() => stranger.kill('SIGKILL'))
  await new Promise((resolve) => stranger.once('spawn', resolve))
  for (const pid of [0, 1, -1, 1.5, Number.NaN, process.pid, stranger.pid ?? 0])
    assert.equal(await executor.signal({ containerId, user: 'alice', pid, signal: 9 }), false, String(pid))
  assert.equal(stranger.exitCode, null)
  assert.equal(stranger.signalCode, null)
})

test('what a machine lacks is named at the start', async () => {
  const bare = new DefaultContainerExecutor({ niceAdjustment: 5, logDirMode: 0o710, searchPath: '/nowhere' })
  await assert.rejects(bare.init(), /'setsid' is not in PATH \(\/nowhere\)/)
  await executor.init()
})
