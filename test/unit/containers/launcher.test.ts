import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { test, type TestContext } from 'node:test'
import type { Container } from '../../../src/containers/container.ts'
import { ContainerNode, type ContainerNodeOptions } from '../../helpers/container-node.ts'
import { FakeClock } from '../../helpers/fake-clock.ts'
import { FakeExecutor, type FakeProgram } from '../../helpers/fake-executor.ts'

async function make(t: TestContext, program: FakeProgram, launcher: ContainerNodeOptions['launcher'] = {}) {
  const clock = new FakeClock()
  const executor = new FakeExecutor()
  executor.script(program)
  const node = await ContainerNode.make({ clock, executor, launcher })
  t.after(() => rm(node.root, { recursive: true, force: true }))
  /** Time passes while files are written: until it is so. */
  const until = async (isSo: () => boolean) => {
    for (let turn = 0; turn < 5000 && !isSo(); turn++) await clock.advance(1)
    assert.ok(isSo(), 'in vain')
  }
  const start = async (): Promise<Container> => {
    const container = node.container({})
    container.init()
    await until(() => container.pid !== undefined || container.isDone)
    return container
  }
  return { clock, executor, node, until, start }
}

test('TERM comes first, KILL after the delay', async (t) => {
  const { clock, executor, until, start } = await make(t, { runs: true, ignoresTerm: true })
  const container = await start()
  container.kill(-105, 'enough')
  await until(() => executor.signals.length > 0)
  const begin = clock.now()
  assert.equal(executor.signals[0]?.signal, 15)
  await until(() => executor.signals.some(({ signal }) => signal === 9))
  assert.ok(clock.now() - begin >= 248 && clock.now() - begin <= 252, `${clock.now() - begin} ms`)
  await until(() => container.isDone)
  assert.equal(container.exitStatus, -105)
})

test('with a delay of 0 KILL comes at once', async (t) => {
  const { executor, until, start } = await make(t, { runs: true }, { sleepBeforeSigkillMs: 0 })
  const container = await start()
  container.kill(-105, 'enough')
  await until(() => container.isDone)
  assert.equal(executor.signals[0]?.signal, 9)
  assert.match(container.diagnostics, /non-zero exit code 137/)
})

test('a group that survives KILL is told of, and does not keep the container for ever', async (t) => {
  const { executor, until, node } = await make(t, { runs: true }, { processKillWaitMs: 100 })
  executor.signal = () => Promise.resolve(true)
  const container = node.container({})
  container.init()
  await until(() => container.pid !== undefined)
  container.kill(-105, 'enough')
  await until(() => container.diagnostics.includes('did not end within 100 ms of SIGKILL'))
  assert.equal(container.state, 'KILLING')
  executor.exit(container.id, 137)
  await until(() => container.isDone)
})

test('a kill that waits for a pid in vain ends the container', async (t) => {
  const { executor, node, until } = await make(t, { runs: true, hidesPid: true }, { processKillWaitMs: 300 })
  const container = node.container({})
  container.init()
  await until(() => executor.isRunning(container.id))
  container.kill(-105, 'enough')
  await until(() => container.isDone)
  assert.match(container.diagnostics, /Container terminated before pid file created\.\n/)
  executor.exit(container.id, 0)
})

test('leftovers of a container that has ended are signalled too', async (t) => {
  const { executor, until, start } = await make(t, { exitCode: 0 })
  const container = await start()
  await until(() => container.isDone)
  assert.deepEqual(
    executor.signals.map(({ containerId, signal }) => [containerId, signal]),
    [[container.id, 15]],
  )
})

test('a process that cannot be started fails its container with what is known', async (t) => {
  const { node, start } = await make(t, { startError: 'no such user' })
  const container = await start()
  assert.equal(container.exitStatus, -1)
  assert.match(container.diagnostics, /no such user\n$/)
  assert.ok(node.stored.includes(`exitcode ${container.id} -1`))
})

test('what the start scripts said is in the diagnostics', async (t) => {
  const { until, start } = await make(t, { exitCode: 2, stderr: 'oh', stdout: 'hm' })
  const container = await start()
  await until(() => container.isDone)
  assert.match(
    container.diagnostics,
    /Exception from container-launch\.\nContainer id: \S+\nExit code: 2\nException message: oh\nShell output: hm\n\n/,
  )
})

test('diagnostics keep their end', async (t) => {
  const { node } = await make(t, {})
  const container = node.container({})
  for (let index = 0; index < 1000; index++)
    container.send({ type: 'UPDATE_DIAGNOSTICS_MSG', payload: { text: `entry ${index}` } })
  assert.equal(container.diagnostics.length, 10_000)
  assert.match(container.diagnostics, /\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\]entry 999\n$/)
})

test('a resource that two names ask for is fetched once and linked twice', async (t) => {
  const { node, until } = await make(t, { runs: true })
  const container = node.container({ resources: { a: '/cache/x', b: '/cache/x', c: '/cache/y' } })
  container.init()
  await until(() => container.pid !== undefined)
  assert.equal(node.localizations[0]?.resources.length, 2)
  assert.deepEqual(container.resourceLinks, [
    { path: '/cache/x', names: ['a', 'b'] },
    { path: '/cache/y', names: ['c'] },
  ])
  assert.match(container.localizationCounters, /^20,0,2,0,\d+$/)
})

test('a container whose resource has no address fails and says which', async (t) => {
  const { node, until } = await make(t, {})
  const container = node.container({ resources: { broken: '' } })
  container.init()
  await until(() => container.isDone)
  assert.equal(container.exitStatus, -1000)
  assert.match(container.diagnostics, /Local resource 'broken' has no path/)
})

test('a container is DONE when its strays are gone, not when they have been killed', async (t) => {
  const { clock, executor, node, until } = await make(t, {})
  const answers: (readonly number[])[] = [[71, 72], [72, 73], [73], []]
  const asked: (readonly number[])[] = []
  executor.endStrays = (_id, before) => {
    asked.push(before)
    return Promise.resolve(answers.shift() ?? [])
  }
  const container = node.container({})
  container.init()
  await until(() => asked.length === 3)
  assert.equal(container.isDone, false)
  const before = clock.now()
  await until(() => container.isDone)
  assert.ok(clock.now() > before)
  assert.deepEqual(asked, [[], [71, 72], [72, 73], [73]])
  assert.doesNotMatch(container.diagnostics, /did not end/)
})

test('strays that do not go are told of, and do not keep the container for ever', async (t) => {
  const { executor, node, until } = await make(t, {}, { processKillWaitMs: 100 })
  executor.endStrays = () => Promise.resolve([71])
  const container = node.container({})
  container.init()
  await until(() => container.isDone)
  assert.match(container.diagnostics, /Processes 71 of container .* did not end within 100 ms of SIGKILL/)
})
