import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import type { DirFault } from '../../../src/health/directory-collection.ts'
import { LocalDirsHandler } from '../../../src/health/local-dirs-handler.ts'
import { NodeHealth } from '../../../src/health/node-health.ts'
import { FakeClock } from '../../helpers/fake-clock.ts'

async function makeDir(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'bobbin-dirs-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  return dir
}

function makeHandler(localDirs: string[], logDirs: string[], minHealthyDisks = 0.25, clock = new FakeClock()) {
  return new LocalDirsHandler({ localDirs, logDirs, minHealthyDisks, clock, log: silentLog, random: () => 0 })
}

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o7777

test('dirs and their missing parents are made with 755 under any umask; what exists keeps its mode', async (t) => {
  const before = process.umask(0o077)
  t.after(() => process.umask(before))
  const dir = await makeDir(t)
  await mkdir(join(dir, 'kept'))
  const handler = makeHandler([join(dir, 'a/b/local'), `${dir}//kept/`, join(dir, 'kept')], [join(dir, 'logs')])
  await handler.start()
  assert.deepEqual(handler.localDirs, [join(dir, 'a/b/local'), join(dir, 'kept')])
  for (const name of ['a', 'a/b', 'a/b/local', 'logs']) assert.equal(await modeOf(join(dir, name)), 0o755, name)
  assert.equal(await modeOf(join(dir, 'kept')), 0o700)
  assert.equal(handler.areDisksHealthy(), true)
  assert.equal(handler.report(), '')
})

test('a dir that can’t be used is left out and reported in Hadoop’s words', async (t) => {
  const dir = await makeDir(t)
  const file = join(dir, 'file')
  await writeFile(file, '')
  const clock = new FakeClock()
  const handler = makeHandler([join(dir, 'good'), file], [join(dir, 'logs')], 0.5, clock)
  const health = new NodeHealth(handler)
  assert.equal(health.lastReportTime, 0)
  await handler.start()
  assert.deepEqual(handler.localDirs, [join(dir, 'good')])
  assert.equal(handler.report(), `1/2 local-dirs have errors:  [ ${file} : Not a directory: ${file} ] `)
  assert.deepEqual(
    { isHealthy: health.isHealthy, report: health.report, lastReportTime: health.lastReportTime },
    { isHealthy: true, report: handler.report(), lastReportTime: clock.now() },
  )
})

test('a dir below a file can’t be made, and says why', async (t) => {
  const dir = await makeDir(t)
  await writeFile(join(dir, 'file'), '')
  const below = join(dir, 'file', 'below')
  const handler = makeHandler([join(dir, 'good')], [join(dir, 'logs'), below])
  await handler.start()
  assert.equal(
    handler.report(),
    `1/2 log-dirs have errors:  [ ${below} : Cannot create directory : ${below}, error ENOTDIR: not a directory, mkdir '${below}' ] `,
  )
})

test('without any usable dir the start fails and names the key', async (t) => {
  const dir = await makeDir(t)
  const file = join(dir, 'file')
  await writeFile(file, '')
  await assert.rejects(makeHandler([file], [join(dir, 'logs')]).start(), {
    code: 'ERR_NO_USABLE_DIRS',
    message: `yarn.nodemanager.local-dirs: none can be used: [ ${file} : Not a directory: ${file} ]`,
  })
  await assert.rejects(makeHandler([join(dir, 'l')], [file]).start(), /^BobbinError: yarn\.nodemanager\.log-dirs: none/)
  await assert.rejects(makeHandler([], [join(dir, 'l')]).start(), {
    message: 'yarn.nodemanager.local-dirs: it is empty',
  })
})

test('a checker’s verdicts take dirs out and bring them back at the end of the list', async (t) => {
  const dir = await makeDir(t)
  const [a, b, c, logs] = ['a', 'b', 'c', 'logs'].map((name) => join(dir, name)) as [string, string, string, string]
  const handler = makeHandler([a, b, c], [logs], 0.5)
  await handler.start()
  const full = { kind: 'full', message: 'used space above threshold of 90.0%' } as const
  const broken = { kind: 'error', message: 'Directory is not writable: x' } as const
  const localFaults = new Map<string, DirFault>([
    [a, broken],
    [b, full],
  ])
  handler.updateDirs(localFaults, new Map([[logs, full]]))
  assert.deepEqual(handler.localDirs, [c])
  assert.deepEqual(handler.readableLocalDirs, [c, b])
  assert.deepEqual(handler.logDirs, [])
  assert.deepEqual(handler.readableLogDirs, [logs])
  assert.equal(handler.areDisksHealthy(), false)
  const words = 'usable space is below configured utilization percentage/no more usable space'
  assert.equal(
    handler.report(),
    `1/3 local-dirs have errors:  [ ${a} : ${broken.message} ] ` +
      `1/3 local-dirs ${words} [ ${b} : ${full.message} ] ; ` +
      `1/1 log-dirs ${words} [ ${logs} : ${full.message} ] `,
  )
  await assert.rejects(handler.logPathForWrite('x'), { code: 'ERR_NO_LOCAL_DIR' })
  handler.updateDirs(new Map(), new Map())
  assert.deepEqual(handler.localDirs, [c, a, b])
  assert.equal(handler.areDisksHealthy(), true)
})

test('a path is found in the first dir that has it, full ones included', async (t) => {
  const dir = await makeDir(t)
  const [a, b] = [join(dir, 'a'), join(dir, 'b')]
  const handler = makeHandler([a, b], [join(dir, 'logs')])
  await handler.start()
  await mkdir(join(b, 'x'))
  assert.equal(await handler.findLocal('x'), join(b, 'x'))
  await mkdir(join(a, 'x'))
  assert.equal(await handler.findLocal('x'), join(a, 'x'))
  handler.updateDirs(new Map([[a, { kind: 'full', message: 'full' }]] as const), new Map())
  assert.equal(await handler.findLocal('x'), join(b, 'x'))
  assert.equal(await handler.findLocal('y'), undefined)
  assert.equal(await handler.localPathForWrite('n'), join(b, 'n'))
})

test('a dir that somebody removed is made again for the next file', async (t) => {
  const dir = await makeDir(t)
  const handler = makeHandler([join(dir, 'a')], [join(dir, 'logs')])
  await handler.start()
  await rm(join(dir, 'a'), { recursive: true })
  assert.equal(await handler.localPathForWrite('x', 5), join(dir, 'a', 'x'))
  await chmod(join(dir, 'a'), 0o755)
})
