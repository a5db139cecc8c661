import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RegistrationListener, ManagedContainers } from '../../../src/node-status/managed-node.ts'
import { settle } from '../../helpers/fake-clock.ts'
import { application, container, onlyFailure, TestNode } from './node.ts'

const one = container(1)
const previousRm = {
  className: 'org.apache.hadoop.yarn.exceptions.InvalidContainerException',
  message: `\nContainer ${one} rejected as it is allocated by a previous RM`,
}

test('the node is what the NodeStatusUpdater listens to and tells', () => {
  const node = new TestNode()
  const listener: RegistrationListener = node.manager
  const containers: ManagedContainers = node.node
  assert.ok(listener && containers)
})

test('before the first registration a start is refused for its key', async () => {
  const node = new TestNode()
  await assert.rejects(node.start([node.entry(one)]), {
    className: 'org.apache.hadoop.security.token.SecretManager$InvalidToken',
  })
})

test('a start that overtakes the answer to the registration waits for it', async () => {
  const node = new TestNode()
  node.manager.registering()
  const start = node.start([node.entry(one)])
  await settle()
  assert.equal(node.node.findContainer(one), undefined)
  node.register()
  assert.equal((await start).succeededRequests?.length, 1)
})

test('between the entries of a call a registration comes in, and those behind it wait', async () => {
  const node = new TestNode().register()
  let release = () => {}
  node.store.hold = new Promise((resolve) => {
    release = resolve
  })
  const start = node.start([node.entry(one), node.entry(container(2))])
  await settle()
  node.manager.registering()
  assert.ok(node.node.findContainer(one), 'is there for the registration to report')
  release()
  await settle()
  assert.equal(node.node.findContainer(container(2)), undefined)
  node.register()
  assert.equal((await start).succeededRequests?.length, 2)
})

test('a gate that opens and closes again before a start has passed keeps it waiting', async () => {
  const node = new TestNode().register()
  node.manager.registering()
  const start = node.start([node.entry(one)])
  node.register()
  node.manager.registering()
  await settle()
  assert.equal(node.node.findContainer(one), undefined)
  node.register()
  assert.equal((await start).succeededRequests?.length, 1)
})

test('after a resync, and after a registration that failed, every start is refused', async () => {
  const node = new TestNode().register()
  node.manager.unregistered()
  assert.deepEqual(onlyFailure(await node.start([node.entry(one)])), previousRm)
  node.manager.registering()
  const waiting = node.start([node.entry(one)])
  node.manager.unregistered()
  assert.deepEqual(onlyFailure(await waiting), previousRm)
})

test('stops and statuses do not wait for a registration', async () => {
  const node = new TestNode().register()
  await node.start([node.entry(one)])
  node.manager.registering()
  assert.equal((await node.statuses([one])).status?.length, 1)
  assert.equal((await node.stop([one])).succeededRequests?.length, 1)
})

test('a key from a heartbeat proves tokens, and those of the key before it', async () => {
  const node = new TestNode().register()
  const before = node.entry(one)
  node.rm.container.keys.roll()
  const next = node.rm.container.keys.next
  assert.ok(next)
  node.manager.masterKeys({ containerToken: { keyId: next.keyId, bytes: next.bytes }, nmToken: undefined })
  node.rm.container.keys.activate()
  const answer = await node.start([before, node.entry(container(2))])
  assert.equal(answer.succeededRequests?.length, 2)
})

test('a node that stops ends its applications and waits until they are FINISHED, not for their logs', async () => {
  const node = new TestNode().register()
  await node.start([node.entry(one)])
  await settle()
  await node.manager.stop()
  assert.deepEqual(node.finished, [application])
  assert.equal(node.node.findApplication(application)?.state, 'FINISHED')
  assert.equal(node.node.findContainer(one)?.exitStatus, -107)
  assert.match(
    node.node.findContainer(one)?.diagnostics ?? '',
    /Container killed on application-finish event: Application killed on shutdown\n/,
  )
  assert.ok(node.lines.includes('All applications in FINISHED state'))
  assert.equal(node.clock.waiting, 1, 'the removal of the logs alone')
})

test('a node waits for its applications no longer than killing may take', async () => {
  const node = new TestNode().register()
  await node.start([node.entry(one)])
  await settle()
  node.store.hold = new Promise(() => {})
  const stuck = node.node.findContainer(one)
  assert.ok(stuck)
  stuck.kill = () => {}
  const stop = node.manager.stop()
  await node.clock.advance(6249)
  assert.equal(node.lines.filter((line) => line.includes('Still alive')).length, 0)
  await node.clock.advance(1)
  await stop
  assert.ok(node.lines.includes(`WARN Done waiting for Applications to be Finished. Still alive: [${application}]`))
})

test('a node whose containers are taken over leaves them running', async () => {
  const node = new TestNode({ keepsContainersOnStop: true }).register()
  await node.start([node.entry(one)])
  await settle()
  await node.manager.stop()
  assert.equal(node.node.findContainer(one)?.state, 'RUNNING')
})
