import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applicationIdToProto } from '../../../src/protocol/ids.ts'
import { APP, started } from './scripted.ts'

const SECURE = { isSecurityEnabled: true, isLogAggregationEnabled: true }
const named = (request: { nodeStatus?: { keepAliveApplications?: unknown[] | null } | null } | undefined) =>
  request?.nodeStatus?.keepAliveApplications?.length ?? 0

test('a finished application that is still here is named when 0.7 to 0.9 of the expiry have passed, again and again', async () => {
  const { rm, clock, updater } = await started({ ...SECURE, random: 0.5 })
  rm.heartbeatScript.push(rm.next({ applicationsToCleanup: [applicationIdToProto(APP)] }))
  await clock.advance(1000)
  await clock.advance(480_000)
  assert.equal(rm.heartbeats.filter((request) => named(request) > 0).length, 0)
  await clock.advance(1000)
  assert.equal(named(rm.heartbeats.at(-1)), 1)
  await clock.advance(480_000)
  assert.equal(rm.heartbeats.filter((request) => named(request) > 0).length, 1)
  await clock.advance(1000)
  assert.equal(named(rm.heartbeats.at(-1)), 1)
  await updater.stop()
})

test('an application that is gone is not named', async () => {
  const { rm, clock, node, updater } = await started(SECURE)
  rm.heartbeatScript.push(rm.next({ applicationsToCleanup: [applicationIdToProto(APP)] }))
  await clock.advance(1000)
  node.apps.delete(APP)
  await clock.advance(600_000)
  assert.ok(rm.heartbeats.every((request) => named(request) === 0))
  await updater.stop()
})

for (const options of [{ isSecurityEnabled: true }, { isLogAggregationEnabled: true }])
  test(`nothing is kept alive with only ${Object.keys(options)[0]}`, async () => {
    const { rm, clock, updater } = await started(options)
    rm.heartbeatScript.push(rm.next({ applicationsToCleanup: [applicationIdToProto(APP)] }))
    await clock.advance(601_000)
    assert.ok(rm.heartbeats.every((request) => named(request) === 0))
    await updater.stop()
  })
