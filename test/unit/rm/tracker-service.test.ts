import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  applicationId,
  applicationIdToProto,
  attemptId,
  containerIdFromProto,
  containerIdToProto,
  nodeIdToProto,
} from '../../../src/protocol/ids.ts'
import { hadoop } from '../../../src/protocol/messages.ts'
import { resourceToProto } from '../../../src/protocol/resource.ts'
import { Rig } from './rig.ts'
import { ask, idsOf, masterOf, running } from './running.ts'

const { ContainerStateProto, NodeActionProto, NodeStateProto, NodeUpdateTypeProto, SignalContainerCommandProto } =
  hadoop.yarn

const stateOf = (rig: Rig) => {
  const [node] = rig.client().getClusterNodes({}).nodeReports
  return NodeStateProto[node?.nodeState ?? 0]
}

test('a registration is answered with keys, the identifier of this start and a version', () => {
  const rig = new Rig()
  const answer = rig.addNode().register()
  assert.equal(answer.nodeAction, NodeActionProto.NORMAL)
  assert.equal(answer.rmIdentifier, rig.core.clusterTimestamp)
  assert.equal(answer.rmVersion, '3.4.2')
  assert.equal(answer.containerTokenMasterKey?.bytes?.length, 8)
  assert.equal(answer.nmTokenMasterKey?.bytes?.length, 8)
})

test('a node that is smaller than the smallest container is sent away', () => {
  const rig = new Rig({ minimumAllocation: { memoryMb: 1024, vcores: 1 } })
  const answer = rig.addNode('node1', 10, 1).register()
  assert.equal(answer.nodeAction, NodeActionProto.SHUTDOWN)
  assert.equal(
    answer.diagnosticsMessage,
    "NodeManager from  node1 doesn't satisfy minimum allocations, Sending SHUTDOWN signal to the NodeManager. " +
      'Node capabilities are <memory:10, vCores:1>; minimums are 1024mb and 1 vcores',
  )
})

test('a repeated heartbeat gets the same answer, and its content is not taken twice', async () => {
  const rig = new Rig()
  const node = rig.addNode()
  const { id } = await running(rig, node)
  rig.client().forceKillApplication({ applicationId: applicationIdToProto(id) })
  node.running.clear()
  const before = node.responseId
  const first = node.heartbeat()
  assert.equal(first.applicationsToCleanup?.length, 1)
  node.responseId = before
  assert.deepEqual(node.heartbeat(), first)
  assert.deepEqual(node.heartbeat().applicationsToCleanup, [])
})

test('the first heartbeat may be repeated too', () => {
  const node = new Rig().addNode()
  const first = node.heartbeat()
  node.responseId = 0
  assert.deepEqual(node.heartbeat(), first)
})

test('a node with a wrong response id must register again, and what ran there is lost', async () => {
  const rig = new Rig()
  const node = rig.addNode()
  const { attempt } = await running(rig, node)
  const expected = node.responseId
  node.responseId = 40
  assert.deepEqual(node.heartbeat(), {
    nodeAction: NodeActionProto.RESYNC,
    diagnosticsMessage: `Too far behind rm response id:${expected} nm response id:40`,
  })
  assert.equal(stateOf(rig), 'NS_REBOOTED')
  assert.deepEqual(node.heartbeat(), {
    nodeAction: NodeActionProto.RESYNC,
    diagnosticsMessage: 'Node not found resyncing node1:1234',
  })
  node.register()
  assert.equal(stateOf(rig), 'NS_RUNNING')
  node.heartbeat()
  assert.deepEqual(node.heartbeat().containersToCleanup?.map(containerIdFromProto), [masterOf(attempt)])
})

test('a master that has been away hears once of each node, what it is now', async () => {
  const rig = new Rig()
  const node = rig.addNode('node1')
  const { allocate } = await running(rig, node)
  allocate()
  const flapping = rig.addNode('node2', 1024)
  for (let n = 0; n < 100; n++)
    for (const isNodeHealthy of [false, true])
      flapping.heartbeat({ nodeHealthStatus: { isNodeHealthy, healthReport: '', lastHealthReportTime: n } })
  const told = () => allocate().updatedNodes?.map(({ nodeId, nodeUpdateType }) => [nodeId?.host, nodeUpdateType])
  assert.deepEqual(told(), [['node2', NodeUpdateTypeProto.NODE_USABLE]])
  assert.deepEqual(told(), [])
})

test('a node that is not heard of is lost: its containers end and their masters are told', async () => {
  const rig = new Rig({ nodeExpiryMs: 6000 })
  const node = rig.addNode('node1')
  const other = rig.addNode('node2', 1024)
  const { allocate } = await running(rig, node)
  // The master is on node1, which has more room; this one is told to go to node2.
  const [task] = idsOf(allocate({ ask: [ask(1), ask(1, { resourceName: 'node2' })] }))
  other.running.add(task!)
  for (let n = 0; n < 9; n++) {
    await rig.clock.advance(1000)
    node.heartbeat()
  }
  const answer = allocate()
  assert.deepEqual(
    answer.completedContainerStatuses?.map((status) => [
      containerIdFromProto(status.containerId),
      status.exitStatus,
      status.diagnostics,
    ]),
    [[task, -100, 'Container released on a *lost* node']],
  )
  assert.deepEqual(
    answer.updatedNodes?.map(({ nodeId, nodeState, nodeUpdateType }) => [nodeId?.host, nodeState, nodeUpdateType]),
    [['node2', NodeStateProto.NS_LOST, NodeUpdateTypeProto.NODE_UNUSABLE]],
  )
  assert.equal(answer.numClusterNodes, 1)
  assert.equal(rig.client().getClusterMetrics({}).clusterMetrics.numLostNms, 1)

  assert.equal(other.heartbeat().diagnosticsMessage, 'Node not found resyncing node2:1234')
  const containerStatuses = [{ containerId: containerIdToProto(task!), containerState: ContainerStateProto.C_RUNNING }]
  other.register({ containerStatuses })
  other.heartbeat()
  assert.deepEqual(
    other.heartbeat().containersToCleanup?.map(containerIdFromProto),
    [task],
    'what still runs is killed',
  )
  assert.equal(rig.client().getClusterMetrics({}).clusterMetrics.numLostNms, 0)
})

test('a node that says goodbye is gone at once', async () => {
  const rig = new Rig()
  const node = rig.addNode()
  const { id } = await running(rig, node)
  assert.deepEqual(rig.tracker.unRegisterNodeManager({ nodeId: nodeIdToProto(node.id) }), {})
  assert.equal(stateOf(rig), 'NS_SHUTDOWN')
  assert.equal(rig.stateOf(id), 'ACCEPTED', 'the master is lost, and that does not count')
  assert.deepEqual(rig.tracker.unRegisterNodeManager({ nodeId: nodeIdToProto(node.id) }), {}, 'an unknown node is fine')
})

test('a node that is not healthy loses its containers and gets none, until it is', async () => {
  const rig = new Rig()
  const node = rig.addNode()
  const { id, attempt } = await running(rig, node)
  node.heartbeat({ nodeHealthStatus: { isNodeHealthy: false, healthReport: 'disk on fire' } })
  assert.equal(stateOf(rig), 'NS_UNHEALTHY')
  assert.equal(rig.stateOf(id), 'ACCEPTED')
  const orders = node.heartbeat({ nodeHealthStatus: { isNodeHealthy: false, healthReport: 'disk on fire' } })
  assert.deepEqual(orders.containersToCleanup?.map(containerIdFromProto), [masterOf(attempt)])
  await rig.settle()
  assert.equal(rig.started.length, 1)
  node.heartbeat({ nodeHealthStatus: { isNodeHealthy: true } })
  await rig.settle()
  assert.equal(rig.lastStarted, masterOf(attemptId(id, 2)))
})

test('a container that was running and is missing from a heartbeat is over', async () => {
  const rig = new Rig()
  const node = rig.addNode()
  const { allocate } = await running(rig, node)
  const [first, second] = idsOf(allocate({ ask: [ask(2)] }))
  node.running.add(first!)
  node.heartbeat()
  node.running.delete(first!)
  node.heartbeat()
  assert.deepEqual(
    allocate().completedContainerStatuses?.map(({ exitStatus, diagnostics }) => [exitStatus, diagnostics]),
    [[-100, `Container ${first} was running but not reported from node1:1234`]],
  )
  assert.notEqual(rig.core.scheduler.findContainer(second!), undefined, 'one that has not been started may be missing')
})

test('containers and applications that nobody knows are cleaned up', () => {
  const rig = new Rig()
  const node = rig.addNode()
  const application = applicationId(1, 7)
  const unknown = masterOf(attemptId(application, 1))
  node.running.add(unknown)
  node.heartbeat()
  assert.deepEqual(node.heartbeat().applicationsToCleanup, [applicationIdToProto(application)])
  node.complete(unknown, -106)
  node.heartbeat()
  assert.deepEqual(node.heartbeat().containersToBeRemovedFromNm?.map(containerIdFromProto), [unknown])
  node.register({ runningApplications: [applicationIdToProto(application)] })
  assert.deepEqual(node.heartbeat().applicationsToCleanup, [applicationIdToProto(application)])
})

test('a node that restarts with its containers keeps them', async () => {
  const rig = new Rig()
  const node = rig.addNode()
  const { id, attempt, allocate } = await running(rig, node)
  const [task, over] = idsOf(allocate({ ask: [ask(2)] }))
  node.running.add(task!).add(over!)
  node.heartbeat()
  const containerStatuses = [masterOf(attempt), task!].map((container) => ({
    containerId: containerIdToProto(container),
    containerState: ContainerStateProto.C_RUNNING,
  }))
  const ended = {
    containerId: containerIdToProto(over!),
    containerState: ContainerStateProto.C_COMPLETE,
    containerExitStatus: 3,
    diagnostics: 'ended meanwhile',
  }
  node.running.delete(over!)
  node.register({
    containerStatuses: [...containerStatuses, ended],
    runningApplications: [applicationIdToProto(id)],
    resource: resourceToProto({ memoryMb: 4096, vcores: 4 }),
  })
  assert.deepEqual(node.heartbeat().containersToCleanup, [])
  assert.equal(rig.stateOf(id), 'RUNNING')
  const answer = allocate({ ask: [ask(1)] })
  assert.deepEqual(
    answer.completedContainerStatuses?.map(({ exitStatus, diagnostics }) => [exitStatus, diagnostics]),
    [[3, 'ended meanwhile']],
  )
  assert.equal(answer.nmTokens?.length, 1, 'the node may have lost the key of the attempt')
  assert.deepEqual(answer.limit, resourceToProto({ memoryMb: 4096 - 512 - 2 * 256, vcores: 1 }))
})

test('a node that restarts with nothing has lost its containers', async () => {
  const rig = new Rig()
  const node = rig.addNode()
  const { id } = await running(rig, node)
  node.running.clear()
  node.register()
  assert.equal(rig.stateOf(id), 'ACCEPTED')
  await rig.settle()
  assert.equal(rig.lastStarted, masterOf(attemptId(id, 2)))
})

test('a signal for a container goes out with the next heartbeat, once', async () => {
  const rig = new Rig()
  const node = rig.addNode()
  const { attempt } = await running(rig, node)
  const signal = {
    containerId: containerIdToProto(masterOf(attempt)),
    command: SignalContainerCommandProto.OUTPUT_THREAD_DUMP,
  }
  rig.client().signalToContainer(signal)
  assert.deepEqual(node.heartbeat().containersToSignal, [signal])
  assert.deepEqual(node.heartbeat().containersToSignal, [])
})

test('keys roll: the next one is offered until it is known, and signs when every node has had time to learn it', async () => {
  const rig = new Rig({ nodeExpiryMs: 10_000, containerTokenRollMs: 60_000, nmTokenRollMs: 60_000 })
  const node = rig.addNode()
  const registered = node.register()
  const { allocate } = await running(rig, node)
  const nmKeyIds = () =>
    (allocate({ ask: [ask(1)] }).nmTokens ?? []).map(
      ({ token }) => hadoop.yarn.NMTokenIdentifierProto.decode(token?.identifier ?? new Uint8Array()).keyId,
    )
  const first = registered.nmTokenMasterKey?.keyId
  assert.deepEqual(nmKeyIds(), [first])
  const beat = async (ms: number) => {
    for (let n = 0; n < ms / 1000; n++) {
      await rig.clock.advance(1000)
      node.heartbeat()
    }
  }
  await beat(60_000)
  const offered = node.heartbeat()
  assert.equal(offered.nmTokenMasterKey?.keyId, (first! + 1) | 0)
  assert.equal(offered.containerTokenMasterKey?.keyId, (registered.containerTokenMasterKey!.keyId! + 1) | 0)
  const known = {
    lastKnownNmTokenMasterKey: offered.nmTokenMasterKey ?? null,
    lastKnownContainerTokenMasterKey: offered.containerTokenMasterKey ?? null,
  }
  assert.equal(node.heartbeat({}, known).nmTokenMasterKey, null)
  assert.deepEqual(nmKeyIds(), [], 'the current key still signs')
  await beat(16_000)
  assert.equal(node.heartbeat().nmTokenMasterKey, null)
  assert.deepEqual(nmKeyIds(), [(first! + 1) | 0], 'the master gets new tokens once the key is activated')
})
