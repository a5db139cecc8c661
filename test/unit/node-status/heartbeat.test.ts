import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applicationId, applicationIdToProto, containerIdToProto } from '../../../src/protocol/ids.ts'
import { hadoop } from '../../../src/protocol/messages.ts'
import {
  APP,
  RESYNC,
  SHUTDOWN,
  container,
  key,
  registered,
  scene,
  started,
  unreachable,
  type HeartbeatResponse,
} from './scripted.ts'

const ids = (...views: ReturnType<typeof container>[]) => views.map((view) => containerIdToProto(view.id))

test('the first heartbeat follows the registration at once, the next ones at the dictated interval', async () => {
  const { rm, clock, updater } = await started()
  assert.equal(rm.heartbeats.length, 1)
  rm.heartbeatScript.push(rm.next({ nextHeartBeatInterval: 250 }))
  await clock.advance(999)
  assert.equal(rm.heartbeats.length, 1)
  await clock.advance(1)
  assert.equal(rm.heartbeats.length, 2)
  await clock.advance(250)
  assert.equal(rm.heartbeats.length, 3)
  await updater.stop()
})

test('an answer without an interval means the default of one second', async () => {
  const parts = scene()
  parts.rm.heartbeatScript.push({ responseId: 1, nextHeartBeatInterval: 0 })
  await parts.updater.start(new AbortController().signal)
  await parts.clock.advance(999)
  assert.equal(parts.rm.heartbeats.length, 1)
  await parts.clock.advance(1)
  assert.equal(parts.rm.heartbeats.length, 2)
  await parts.updater.stop()
})

test('a slow answer does not shift the heartbeats after it', async () => {
  const { rm, clock, updater } = await started()
  rm.heartbeatScript.push(clock.sleep(400).then(() => rm.next()))
  // Asked for at 1000 ms, answered at 1400: the next one is due at 2000.
  await clock.advance(1999)
  assert.equal(rm.heartbeats.length, 2)
  await clock.advance(1)
  assert.equal(rm.heartbeats.length, 3)
  await updater.stop()
})

test('each request carries the response id and the token sequence number of the answer before it', async () => {
  const { rm, clock, updater } = await started()
  rm.heartbeatScript.push(rm.next({ responseId: 2 ** 31 - 1, tokenSequenceNo: 77 }))
  await clock.advance(2000)
  assert.deepEqual(
    rm.heartbeats.map((request) => [request.nodeStatus?.responseId, request.tokenSequenceNo]),
    [
      [0, 0],
      [1, 1],
      [2 ** 31 - 1, 77],
    ],
  )
  await updater.stop()
})

test('both last known keys are always sent; a roll is told at once and sent from then on', async () => {
  const { rm, clock, listener, updater } = await started()
  const known = (index: number) => [
    rm.heartbeats[index]?.lastKnownContainerTokenMasterKey?.keyId,
    rm.heartbeats[index]?.lastKnownNmTokenMasterKey?.keyId,
  ]
  rm.heartbeatScript.push(rm.next({ containerTokenMasterKey: key(11), nmTokenMasterKey: key(12) }))
  rm.heartbeatScript.push(rm.next({ responseId: 3, nmTokenMasterKey: key(13) }))
  await clock.advance(3000)
  assert.deepEqual(
    [known(0), known(1), known(2), known(3)],
    [
      [1, 2],
      [1, 2],
      [11, 12],
      [11, 13],
    ],
  )
  assert.deepEqual(listener.events.slice(2), ['keys 11/12', 'keys undefined/13'])
  await updater.stop()
})

test('a registration without keys leaves the known ones in use', async () => {
  const { rm, clock, updater } = await started()
  rm.registerScript.push(registered({ containerTokenMasterKey: null, nmTokenMasterKey: null }))
  rm.heartbeatScript.push({ nodeAction: RESYNC })
  await clock.advance(1000)
  assert.equal(rm.heartbeats.at(-1)?.nodeStatus?.responseId, 0)
  assert.equal(rm.heartbeats.at(-1)?.lastKnownNmTokenMasterKey?.keyId, 2)
  await updater.stop()
})

test('containers and applications to clean up, signals and credentials reach the node in the order of the steps', async () => {
  const { rm, clock, node, credentials, lines, updater } = await started()
  const [one, two] = [container(1), container(2)]
  node.put(one)
  const answer: HeartbeatResponse = {
    applicationsToCleanup: [applicationIdToProto(APP)],
    containersToCleanup: ids(one),
    containersToSignal: [
      { containerId: containerIdToProto(two.id), command: hadoop.yarn.SignalContainerCommandProto.GRACEFUL_SHUTDOWN },
    ],
    systemCredentialsForApps: [
      { appId: applicationIdToProto(APP), credentialsForApp: Buffer.from('abcd', 'hex') },
      { appId: applicationIdToProto(applicationId(1, 2)), credentialsForApp: Buffer.from('00', 'hex') },
    ],
    containersToUpdate: [{ id: containerIdToProto(one.id), nodeHttpAddress: null }],
    containersToDecrease: [{ id: containerIdToProto(two.id) }],
  }
  rm.heartbeatScript.push(rm.next(answer))
  await clock.advance(1000)
  assert.deepEqual(node.orders, [
    `kill ${one.id} -106 Container Killed by ResourceManager`,
    `finish ${APP} Application killed by ResourceManager`,
    `signal ${two.id} 2`,
  ])
  assert.deepEqual(credentials, [`${APP} abcd`, 'application_1_0002 00'])
  const warnings = lines.filter((line) => line.startsWith('warn'))
  assert.deepEqual(warnings, [`warn Update of container ${one.id} was not applied: its size stays as it was started`])
  await updater.stop()
})

test('a new size of the node is taken over, and used at the next registration', async () => {
  const { rm, clock, lines, updater } = await started()
  rm.heartbeatScript.push(rm.next({ resource: { memory: 2048, virtualCores: 1 } }), { nodeAction: RESYNC })
  await clock.advance(2000)
  assert.deepEqual(updater.resource, { memoryMb: 2048, vcores: 1 })
  assert.ok(lines.includes("info Node's resource is updated to <memory:2048, vCores:1>"))
  assert.equal(rm.registrations.at(-1)?.resource?.memory, 2048)
  await updater.stop()
})

test('an exception of the ResourceManager is logged and the loop goes on after the interval', async () => {
  const { rm, clock, lines, shutdowns, updater } = await started()
  rm.heartbeatScript.push(new Error('boom'))
  await clock.advance(1000)
  assert.ok(lines.includes('error Caught exception in status-updater: boom'))
  await clock.advance(1000)
  assert.equal(rm.heartbeats.length, 3)
  assert.equal(rm.heartbeats[2]?.nodeStatus?.responseId, 1)
  assert.deepEqual(shutdowns, [])
  await updater.stop()
})

test('an unreachable ResourceManager ends the heartbeats without an unregistration', async () => {
  const { rm, clock, shutdowns, updater } = await started()
  rm.heartbeatScript.push(unreachable())
  await clock.advance(10_000)
  assert.deepEqual(shutdowns, [{ kind: 'unreachable', message: 'gave up after 3 attempts' }])
  assert.equal(rm.heartbeats.length, 2)
  await updater.stop()
  assert.deepEqual(rm.unregistrations, [])
})

test('SHUTDOWN ends the heartbeats, is told once and leaves nothing to unregister', async () => {
  const { rm, clock, lines, shutdowns, updater } = await started()
  rm.heartbeatScript.push({ nodeAction: SHUTDOWN, diagnosticsMessage: 'Disallowed NodeManager nodeId: a hostname: b' })
  await clock.advance(1000)
  updater.beatNow()
  await clock.advance(10_000)
  assert.deepEqual(shutdowns, [{ kind: 'ordered', message: 'Disallowed NodeManager nodeId: a hostname: b' }])
  assert.deepEqual(
    lines.filter((line) => line.startsWith('warn')),
    [
      'warn Received SHUTDOWN signal from Resourcemanager as part of heartbeat, hence shutting down.',
      'warn Message from ResourceManager: Disallowed NodeManager nodeId: a hostname: b',
    ],
  )
  assert.equal(rm.heartbeats.length, 2)
  await updater.stop()
  assert.deepEqual(rm.unregistrations, [])
})

test('a SHUTDOWN answer still installs its keys and the size of the node, and its orders are not obeyed', async () => {
  const { rm, clock, node, listener, updater } = await started()
  rm.heartbeatScript.push({
    nodeAction: SHUTDOWN,
    nmTokenMasterKey: key(9),
    resource: { memory: 1, virtualCores: 1 },
    containersToCleanup: ids(container(1)),
  })
  await clock.advance(1000)
  assert.deepEqual(listener.events.slice(2), ['keys undefined/9'])
  assert.deepEqual(updater.resource, { memoryMb: 1, vcores: 1 })
  assert.deepEqual(node.orders, [])
  await updater.stop()
})

test('a late heartbeat and a stall of the event loop are said in the log, once a minute', async () => {
  const { clock, lines, stall, updater } = await started()
  const stalls = () => lines.filter((line) => line.includes('Event loop stood still')).length
  stall.ms = 501
  await clock.advance(5000)
  assert.equal(stalls(), 1)
  assert.ok(lines.some((line) => line.startsWith('warn Event loop stood still for up to 501 ms')))
  await clock.advance(60_000)
  assert.equal(stalls(), 2)
  stall.ms = 500
  await clock.advance(120_000)
  assert.equal(stalls(), 2)
  await updater.stop()
})
