import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { systemClock } from '../../../src/base/clock.ts'
import { silentLog } from '../../../src/base/log.ts'
import { DeletionService } from '../../../src/deletion/deletion-service.ts'
import { DefaultContainerExecutor } from '../../../src/executors/default.ts'
import { LocalDirsHandler } from '../../../src/health/local-dirs-handler.ts'
import { prepareNodeDirectories } from '../../../src/localization/node-directories.ts'

async function startDirs(t: TestContext) {
  const dir = await mkdtemp(join(tmpdir(), 'bobbin-start-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  const [local, logs] = [join(dir, 'local'), join(dir, 'logs')]
  const localDirs = new LocalDirsHandler({
    localDirs: [local],
    logDirs: [logs],
    minHealthyDisks: 0.25,
    clock: systemClock,
    log: silentLog,
  })
  await localDirs.start()
  const removed: { user: string | undefined; path: string }[] = []
  const real = new DefaultContainerExecutor({
    niceAdjustment: undefined,
    logDirMode: 0o710,
    searchPath: '/usr/bin:/bin',
  })
  const executor = {
    async remove(user: string | undefined, path: string): Promise<void> {
      removed.push({ user, path: path.slice(dir.length).replace(/_DEL_\d+/, '_DEL') })
      await real.remove(user, path)
    },
  }
  const deletion = new DeletionService({ debugDelaySec: 0, threads: 2, executor, clock: systemClock, log: silentLog })
  await deletion.start()
  return {
    dir,
    local,
    logs,
    localDirs,
    deletion,
    removed,
    options: { localDirs, deletion, clock: systemClock, log: silentLog },
  }
}

async function fill(local: string, logs: string): Promise<void> {
  for (const path of [
    'usercache/alice/appcache/x',
    'usercache/bob',
    'filecache/10',
    'nmPrivate/a',
    'usercache_DEL_1',
    'other',
  ])
    await mkdir(join(local, path), { recursive: true })
  for (const path of ['application_1_0001/c', 'application_1_0002_DEL_99', 'userlogs', 'application_x'])
    await mkdir(join(logs, path), { recursive: true })
}

test('a fresh start gives everything of an earlier run to the deletion service, each user’s files as the user', async (t) => {
  const { dir, local, logs, deletion, removed, options } = await startDirs(t)
  await fill(local, logs)
  await writeFile(join(dir, 'outside'), 'untouched')
  await symlink('../../../../outside', join(local, 'usercache/alice/appcache/link'))
  await prepareNodeDirectories({ ...options, isFresh: true })
  await deletion.idle()
  assert.deepEqual((await readdir(local)).sort(), ['filecache', 'nmPrivate', 'other', 'usercache'])
  assert.deepEqual(await readdir(join(local, 'usercache')), [])
  assert.deepEqual((await readdir(logs)).sort(), ['application_x', 'userlogs'])
  assert.equal(await readFile(join(dir, 'outside'), 'utf8'), 'untouched')
  const indexOf = (path: string) => removed.findLastIndex((one) => one.path === path)
  assert.deepEqual(removed[indexOf('/local/usercache_DEL/alice')]?.user, 'alice')
  assert.deepEqual(removed[indexOf('/local/usercache_DEL/bob')]?.user, 'bob')
  assert.ok(indexOf('/local/usercache_DEL') > indexOf('/local/usercache_DEL/alice'))
  assert.equal(removed[indexOf('/local/usercache_DEL')]?.user, undefined)
})

test('a fresh start looks for containers that still run before their directories go', async (t) => {
  const { local, options } = await startDirs(t)
  const id = 'container_1_0001_01_000001'
  const process = spawn('sleep', ['1000'], { env: { ...globalThis.process.env, CONTAINER_ID: id } })
  t.after(() => process.kill())
  await once(process, 'spawn')
  const directory = join(local, 'nmPrivate', 'application_1_0001', id)
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, `${id}.pid`), `${process.pid}\n`)
  const found: unknown[] = []
  const log = { ...silentLog, warn: (what: unknown) => void found.push(what) }
  await prepareNodeDirectories({ ...options, log, isFresh: false })
  assert.deepEqual(found, [])
  await prepareNodeDirectories({ ...options, log, isFresh: true })
  assert.deepEqual(found, [{ containerId: id, pid: process.pid }])
  assert.deepEqual(await readdir(join(local, 'nmPrivate')), [])
  assert.equal(process.exitCode, null)
})

test('a start with a recovered store deletes nothing and mends the modes', async (t) => {
  const { local, logs, deletion, removed, options } = await startDirs(t)
  const before = process.umask(0o077)
  t.after(() => process.umask(before))
  await fill(local, logs)
  await prepareNodeDirectories({ ...options, isFresh: false })
  await deletion.idle()
  assert.deepEqual(removed, [])
  assert.deepEqual(await readdir(join(local, 'filecache')), ['10'])
  for (const [name, mode] of [
    ['usercache', 0o755],
    ['filecache', 0o755],
    ['nmPrivate', 0o700],
  ] as const)
    assert.equal((await stat(join(local, name))).mode & 0o7777, mode, name)
})

test('links are deleted and not followed, and directories without any permission go too', async (t) => {
  const { dir, local, deletion } = await startDirs(t)
  await mkdir(join(local, 'tree', 'shut', 'deep'), { recursive: true })
  await mkdir(join(dir, 'outside'))
  await writeFile(join(dir, 'outside', 'file'), 'untouched')
  await symlink(join(dir, 'outside'), join(local, 'tree', 'shut', 'link'))
  await symlink(join(dir, 'outside'), join(local, 'itself'))
  await chmod(join(local, 'tree', 'shut', 'deep'), 0)
  await chmod(join(local, 'tree', 'shut'), 0)
  deletion.schedule('alice', [join(local, 'tree'), join(local, 'itself'), join(local, 'never there')])
  await deletion.idle()
  assert.equal(deletion.pendingCount, 0)
  assert.deepEqual(await readdir(local), [])
  assert.equal(await readFile(join(dir, 'outside', 'file'), 'utf8'), 'untouched')
})
