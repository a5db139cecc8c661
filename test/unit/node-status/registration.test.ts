import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hadoop } from '../../../src/protocol/messages.ts'
import { SHUTDOWN, container, registered, scene, started, unreachable } from './scripted.ts'
import { applicationId } from '../../../src/protocol/ids.ts'

const start = (parts: ReturnType<typeof scene>) => parts.updater.start(new AbortController().signal)

test('registers with size, versions and ports, tells the listener and logs the line that monitoring looks for', async () => {
  const { rm, listener, lines, updater } = await started()
  assert.equal(rm.registrations.length, 1)
  const request = rm.registrations[0]!
  assert.deepEqual(request.nodeId, { host: 'localhost', port: 8041 })
  assert.equal(request.httpPort, 8042)
  assert.equal(request.nmVersion, '3.4.2')
  assert.equal(request.resource?.memory, 8192)
  assert.equal(request.physicalResource?.memory, 24105)
  assert.equal(request.nodeStatus?.responseId, 0)
  assert.deepEqual(listener.events, ['registering', 'registered 1700000000000 1/2'])
  assert.equal(listener.registration?.nodeId, 'localhost:8041')
  assert.ok(
    lines.includes(
      'info Registered with ResourceManager as localhost:8041 with total resource of <memory:8192, vCores:8>',
    ),
    lines.join('\n'),
  )
  await updater.stop()
})

test('a size that the ResourceManager dictates at registration replaces the configured one', async () => {
  const parts = scene()
  parts.rm.registerScript.push(registered({ resource: { memory: 4096, virtualCores: 2 } }))
  await start(parts)
  assert.deepEqual(parts.updater.resource, { memoryMb: 4096, vcores: 2 })
  assert.ok(
    parts.lines.includes(
      'info Registered with ResourceManager as localhost:8041 with updated total resource of <memory:4096, vCores:2>',
    ),
  )
  await parts.updater.stop()
})

test('reports every container of a known application, completed ones too, and drops those of unknown ones', async () => {
  const parts = scene()
  const running = parts.node.put(container(1))
  const done = parts.node.put(container(2, { state: 'DONE', exitStatus: 3 }))
  const stray = parts.node.put(container(3, { applicationId: applicationId(1, 9) }))
  parts.node.setApp(applicationId(1, 2), 'FINISHED')
  await start(parts)
  const request = parts.rm.registrations[0]!
  const { C_RUNNING, C_COMPLETE } = hadoop.yarn.ContainerStateProto
  assert.deepEqual(
    request.containerStatuses?.map((status) => [String(status.containerId?.id), status.containerState]),
    [
      ['1', C_RUNNING],
      ['2', C_COMPLETE],
    ],
  )
  assert.deepEqual(request.runningApplications, [{ id: 1, clusterTimestamp: 1_700_000_000_000 }])
  assert.equal(parts.node.findContainer(stray), undefined)
  assert.ok(parts.node.findContainer(running))
  assert.ok(parts.updater.isRecentlyStopped(done))
  assert.ok(!parts.updater.isRecentlyStopped(running))
  // The completion was told by the registration; a heartbeat does not tell it again.
  await parts.clock.advance(0)
  assert.deepEqual(parts.rm.statuses(), ['1:-1000'])
  await parts.updater.stop()
})

const refusals: { name: string; rule: string; answer: Parameters<typeof registered>[0]; text: string }[] = [
  {
    name: 'an order to shut down',
    rule: 'NONE',
    answer: { nodeAction: SHUTDOWN, diagnosticsMessage: 'Disallowed NodeManager from  h, Sending SHUTDOWN' },
    text:
      'Received SHUTDOWN signal from Resourcemanager, Registration of NodeManager failed, ' +
      'Message from ResourceManager: Disallowed NodeManager from  h, Sending SHUTDOWN',
  },
  {
    name: 'a ResourceManager without a version',
    rule: '3.0.0',
    answer: { rmVersion: null },
    text:
      "Shutting down the Node Manager. The Resource Manager's did not return a version. " +
      'Valid version cannot be checked.',
  },
  {
    name: 'a ResourceManager older than this node',
    rule: 'EqualToNM',
    answer: { rmVersion: '3.4.2-SNAPSHOT' },
    text:
      "Shutting down the Node Manager on RM version error, The Resource Manager's version (3.4.2-SNAPSHOT) " +
      'is less than the minimum allowed version 3.4.2',
  },
]
for (const { name, rule, answer, text } of refusals)
  test(`start rejects on ${name} with Hadoop's words, and nothing is unregistered`, async () => {
    const parts = scene({ minimumResourceManagerVersion: rule })
    parts.rm.registerScript.push(registered(answer))
    await assert.rejects(start(parts), { code: 'ERR_REGISTRATION_REFUSED', message: text })
    assert.deepEqual(parts.listener.events, ['registering', 'unregistered'])
    await parts.updater.stop()
    assert.deepEqual(parts.rm.unregistrations, [])
    assert.equal(parts.rm.heartbeats.length, 0)
    assert.ok(parts.rm.isClosed)
  })

test('a new enough ResourceManager passes the version check', async () => {
  const parts = await started({ minimumResourceManagerVersion: '3.3.6' })
  assert.equal(parts.rm.heartbeats.length, 1)
  await parts.updater.stop()
})

test('start rejects when no ResourceManager can be reached', async () => {
  const parts = scene()
  parts.rm.registerScript.push(unreachable())
  await assert.rejects(start(parts), { code: 'ERR_RM_UNREACHABLE' })
  assert.deepEqual(parts.listener.events, ['registering', 'unregistered'])
  assert.deepEqual(parts.shutdowns, [])
})

test('an aborted start ends the registration that is under way', async () => {
  const parts = scene()
  parts.rm.registerScript.push(new Promise(() => {}))
  const controller = new AbortController()
  const starting = parts.updater.start(controller.signal)
  controller.abort(new Error('stopped while starting'))
  await assert.rejects(starting, /stopped while starting/)
})

test('the node status of a registration starts a new sequence and carries the health', async () => {
  const parts = scene()
  parts.health = { isHealthy: false, report: '1/1 local-dirs have errors', lastReportTime: 77 }
  await start(parts)
  const status = parts.rm.registrations[0]!.nodeStatus
  assert.deepEqual(status?.nodeHealthStatus, {
    isNodeHealthy: false,
    healthReport: '1/1 local-dirs have errors',
    lastHealthReportTime: 77,
  })
  await parts.updater.stop()
})
