import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applicationClient } from '../../../src/protocol/application-client.ts'
import { applicationMaster } from '../../../src/protocol/application-master.ts'
import { applicationId, attemptId, nodeId } from '../../../src/protocol/ids.ts'
import type { RpcMethods } from '../../../src/protocol/rpc-protocol.ts'
import { fixture } from '../../helpers/fixtures.ts'
import { exchangesOf, fieldsOf, replay, type Answer, type Exchange } from './replay.ts'
import { FakeNode, Rig, simple } from './rig.ts'

interface Connection {
  readonly frames: readonly object[]
}

/** The node of the captures. */
function capturedNode(rig: Rig): FakeNode {
  const node = new FakeNode(rig, nodeId('localhost', 28041), { memoryMb: 8192, vcores: 8 })
  node.register({ httpPort: 28042 })
  node.heartbeat()
  return node
}

/** How our answer differs from the captured one: fields that are not there, fields that are there as well. */
function deviations(methods: RpcMethods, { callId, method, answer: captured }: Exchange, ours: Answer): string[] {
  const expected = fieldsOf(methods, method, captured)
  const actual = fieldsOf(methods, method, ours)
  const missing = expected.filter((path) => !actual.includes(path)).map((path) => `${callId} ${method} - ${path}`)
  const added = actual.filter((path) => !expected.includes(path)).map((path) => `${callId} ${method} + ${path}`)
  return [...missing, ...added]
}

test('wrong calls of clients get the classes and texts that Hadoop gives', async () => {
  const rig = new Rig({}, 1796129716650)
  capturedNode(rig)
  // The captured ResourceManager had given out four ids before.
  for (let n = 0; n < 4; n++) rig.newId()
  const exchanges = exchangesOf(fixture<Connection>('vectors/capture-rm-client-errors.json').frames)
  assert.ok(exchanges.length > 30)
  const different: string[] = []
  for (const exchange of exchanges) {
    const answer = await replay(rig.core.client.handlers, exchange, simple('root'))
    different.push(...deviations(applicationClient.methods, exchange, answer))
  }
  assert.deepEqual(different, [
    // Java has a null pointer there.
    '27 submitApplication - java.lang.NullPointerException: Cannot invoke "org.apache.hadoop.yarn.api.records.Resource.getResourceInformation(int)" because "reqResource" is null',
    '27 submitApplication + org.apache.hadoop.yarn.exceptions.InvalidResourceRequestException: Invalid resource request, no resources requested',
    // An attempt exists at once, where Hadoop has not stored the application yet.
    '32 getApplicationReport + applicationReport.logAggregationStatus',
  ])
})

test('wrong calls of masters get the classes and texts that Hadoop gives', async () => {
  const { clientConnections, amConnections } = fixture<{
    clientConnections: Connection[]
    amConnections: Connection[]
  }>('vectors/capture-rm-am-errors.json')
  const timestamp = 1796130035181
  const rig = new Rig({}, timestamp)
  capturedNode(rig)
  for (const exchange of exchangesOf(clientConnections[0]!.frames).slice(0, 2))
    await replay(rig.core.client.handlers, exchange, simple('root'))
  const attempt = attemptId(applicationId(timestamp, 1), 1)
  // The later calls depend on when a node's heartbeat came.
  const exchanges = exchangesOf(amConnections[0]!.frames).filter(({ callId }) => callId < 18)
  assert.equal(exchanges.length, 12)
  const different: string[] = []
  for (const exchange of exchanges) {
    const answer = await replay(rig.core.master.handlers, exchange, { ...simple(attempt), authentication: 'TOKEN' })
    different.push(...deviations(applicationMaster.methods, exchange, answer))
  }
  assert.deepEqual(different, [])
  const report = rig.report(applicationId(timestamp, 1), 'root')
  assert.equal(report.host, 'masterhost')
  assert.equal(report.rpcPort, 4242)
  assert.equal(report.trackingUrl, 'http://127.0.0.1:1/x')
})

test("the distributed shell's client finds every field that it found on Hadoop", async () => {
  const capture = fixture<{ client: Connection; applicationMaster: Connection }>('vectors/capture-rm-dshell.json')
  const timestamp = 1796129716650
  const rig = new Rig({}, timestamp)
  const node = capturedNode(rig)
  const attempt = attemptId(applicationId(timestamp, 1), 1)
  const master = (exchange: Exchange) =>
    replay(rig.core.master.handlers, exchange, { ...simple(attempt), authentication: 'TOKEN' })
  const masterCalls = exchangesOf(capture.applicationMaster.frames)
  const different: string[] = []
  for (const exchange of exchangesOf(capture.client.frames)) {
    // Between the captured reports the master was launched, registered and finished.
    if (exchange.callId === 15) {
      await rig.settle()
      node.running.add(rig.lastStarted)
      node.heartbeat()
      await master(masterCalls[0]!)
    }
    if (exchange.callId === 22) {
      await master(masterCalls.at(-1)!)
      node.complete(rig.lastStarted)
      node.heartbeat()
    }
    const answer = await replay(rig.core.client.handlers, exchange, simple('root'))
    different.push(...deviations(applicationClient.methods, exchange, answer))
  }
  assert.deepEqual(different, [
    // The attempt exists and its container is allocated at once: nothing is stored before, no heartbeat waited for.
    '9 getApplicationReport + applicationReport.appResource_Usage.clusterUsagePercentage',
    '9 getApplicationReport + applicationReport.appResource_Usage.queueUsagePercentage',
    '9 getApplicationReport + applicationReport.logAggregationStatus',
    '10 getApplicationReport + applicationReport.appResource_Usage.clusterUsagePercentage',
    '10 getApplicationReport + applicationReport.appResource_Usage.queueUsagePercentage',
  ])
})

test("the distributed shell's master is served in fewer calls than by Hadoop, with the same fields", async () => {
  const capture = fixture<{ client: Connection; applicationMaster: Connection }>('vectors/capture-rm-dshell.json')
  const timestamp = 1796129716650
  const rig = new Rig({}, timestamp)
  const node = capturedNode(rig)
  const submission = exchangesOf(capture.client.frames).find(({ method }) => method === 'submitApplication')
  await replay(rig.core.client.handlers, submission!, simple('root'))
  await rig.settle()
  node.running.add(rig.lastStarted)
  node.heartbeat()
  const attempt = attemptId(applicationId(timestamp, 1), 1)
  const calls = exchangesOf(capture.applicationMaster.frames)
  const call = (callId: number) => calls.find((exchange) => exchange.callId === callId)!
  const fieldsOfOurs = async (callId: number) => {
    const caller = { ...simple(attempt), authentication: 'TOKEN' } as const
    const ours = await replay(rig.core.master.handlers, call(callId), caller)
    return fieldsOf(applicationMaster.methods, call(callId).method, ours)
  }
  assert.deepEqual(
    await fieldsOfOurs(0),
    fieldsOf(applicationMaster.methods, 'registerApplicationMaster', call(0).answer),
  )
  assert.deepEqual(await fieldsOfOurs(1), fieldsOf(applicationMaster.methods, 'allocate', call(1).answer))
  // What Hadoop gives at the next call but one, because its scheduler waits for the node.
  const allocated = fieldsOf(applicationMaster.methods, 'allocate', call(3).answer)
  assert.deepEqual(
    await fieldsOfOurs(2),
    allocated.filter((path) => path !== 'enhancedHeadroom.totalPendingCount'),
  )
})
