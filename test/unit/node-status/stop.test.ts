import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scene, started } from './scripted.ts'

test('a clean stop unregisters the node and closes the connection', async () => {
  const { rm, lines, updater, clock } = await started()
  await updater.stop()
  assert.deepEqual(rm.unregistrations, ['localhost'])
  assert.ok(rm.isClosed)
  assert.ok(lines.includes('info Successfully Unregistered the Node localhost:8041 with ResourceManager.'))
  await clock.advance(10_000)
  assert.equal(rm.heartbeats.length, 1)
  await updater.stop()
  assert.deepEqual(rm.unregistrations, ['localhost'])
})

const cases = [
  { isEnabled: true, isSupervised: true, unregisters: false },
  { isEnabled: true, isSupervised: false, unregisters: true },
  { isEnabled: false, isSupervised: true, unregisters: true },
]
for (const { isEnabled, isSupervised, unregisters } of cases)
  test(`recovery ${isEnabled}, supervised ${isSupervised}: ${unregisters ? 'unregisters' : 'does not unregister'}`, async () => {
    const { rm, updater } = await started({ recovery: { isEnabled, isSupervised } })
    await updater.stop()
    assert.equal(rm.unregistrations.length, unregisters ? 1 : 0)
  })

test('a stop before or after a failed start does nothing but close the connection', async () => {
  const { rm, updater } = scene()
  await updater.stop()
  assert.deepEqual(rm.unregistrations, [])
  assert.ok(rm.isClosed)
})

test('a failed unregistration is only logged', async () => {
  const { rm, lines, updater } = await started()
  rm.unregister = async () => {
    throw new Error('refused')
  }
  await updater.stop()
  assert.ok(lines.includes('warn Unregistration of the Node localhost:8041 failed: refused'))
})

test('an unregistration that is not answered is given up', async () => {
  const { rm, clock, lines, updater } = await started()
  rm.unregister = () => new Promise(() => {})
  const stopping = updater.stop()
  await clock.advance(2000)
  await stopping
  assert.ok(lines.includes('warn Unregistration of the Node localhost:8041 failed: no answer within 2000 ms'))
})

test('a stop does not wait for the answer of a heartbeat', async () => {
  const { rm, clock, lines, updater } = await started()
  rm.heartbeatScript.push(new Promise(() => {}))
  await clock.advance(1000)
  await updater.stop()
  assert.equal(rm.unregistrations.length, 1)
  assert.ok(!lines.some((line) => line.includes('Caught exception')))
})
