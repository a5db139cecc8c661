import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settle } from '../../helpers/fake-clock.ts'
import { RESYNC, SHUTDOWN, container, key, registered, started, unreachable } from './scripted.ts'

const NOT_FOUND = { nodeAction: RESYNC, diagnosticsMessage: 'Node not found resyncing localhost:8041' }

test('RESYNC refuses starts, registers again with what runs and begins a new sequence at once', async () => {
  const { rm, clock, node, listener, lines, updater } = await started()
  node.put(container(1))
  rm.registerScript.push(registered({ containerTokenMasterKey: key(21), nmTokenMasterKey: key(22), rmIdentifier: 9 }))
  rm.heartbeatScript.push(NOT_FOUND)
  await clock.advance(1000)
  assert.deepEqual(listener.events.slice(2), ['unregistered', 'registering', 'registered 9 21/22'])
  assert.equal(rm.registrations.length, 2)
  assert.equal(rm.registrations[1]?.containerStatuses?.length, 1)
  const newest = rm.heartbeats.at(-1)
  assert.equal(rm.heartbeats.length, 3)
  assert.deepEqual([newest?.nodeStatus?.responseId, newest?.tokenSequenceNo], [0, 0])
  assert.equal(newest?.lastKnownContainerTokenMasterKey?.keyId, 21)
  assert.deepEqual(node.orders, [])
  const expected = [
    'warn Node is out of sync with ResourceManager, hence resyncing.',
    'warn Message from ResourceManager: Node not found resyncing localhost:8041',
    'info Preserving containers on resync',
  ]
  assert.deepEqual(
    lines.filter((line) => expected.includes(line)),
    expected,
  )
  await updater.stop()
})

test('without work preserving recovery the containers are killed and complete before the registration', async () => {
  const { rm, clock, node, updater } = await started({ isWorkPreserving: false })
  const [one, two] = [node.put(container(1)), node.put(container(2, { state: 'DONE', exitStatus: 0 }))]
  rm.heartbeatScript.push(NOT_FOUND)
  await clock.advance(1000)
  assert.deepEqual(node.orders, [`kill ${one} -106 Container Killed by ResourceManager`])
  await clock.advance(5000)
  assert.equal(rm.registrations.length, 1)
  node.finish(one, -106)
  updater.beatNow()
  await settle()
  assert.deepEqual(
    rm.registrations[1]?.containerStatuses?.map((status) => status.containerExitStatus),
    [-106, 0],
  )
  assert.ok(node.findContainer(two))
  await updater.stop()
})

test('a refused registration after a RESYNC ends the daemon', async () => {
  const { rm, clock, listener, shutdowns, updater } = await started()
  rm.registerScript.push(registered({ nodeAction: SHUTDOWN, diagnosticsMessage: 'no' }))
  rm.heartbeatScript.push(NOT_FOUND)
  await clock.advance(5000)
  assert.equal(shutdowns[0]?.kind, 'refused')
  assert.match(shutdowns[0]?.message ?? '', /Received SHUTDOWN signal from Resourcemanager, Registration .* failed/)
  assert.equal(shutdowns.length, 1)
  assert.equal(listener.events.at(-1), 'unregistered')
  assert.equal(rm.heartbeats.length, 2)
  await updater.stop()
  assert.deepEqual(rm.unregistrations, [])
})

test('a ResourceManager that vanishes during a RESYNC is reported as unreachable', async () => {
  const { rm, clock, shutdowns, updater } = await started()
  rm.registerScript.push(unreachable())
  rm.heartbeatScript.push(NOT_FOUND)
  await clock.advance(1000)
  assert.deepEqual(
    shutdowns.map((reason) => reason.kind),
    ['unreachable'],
  )
  await updater.stop()
})

test('a stop during a RESYNC ends it without a report', async () => {
  const { rm, clock, shutdowns, updater } = await started()
  rm.registerScript.push(new Promise(() => {}))
  rm.heartbeatScript.push(NOT_FOUND)
  await clock.advance(1000)
  await updater.stop()
  assert.deepEqual(shutdowns, [])
})
