import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applicationIdToProto, attemptId, containerIdFromProto } from '../../../src/protocol/ids.ts'
import { hadoop } from '../../../src/protocol/messages.ts'
import { resourceToProto } from '../../../src/protocol/resource.ts'
import { decodeContainerToken } from '../../../src/security/container-token.ts'
import { Rig, WEB } from './rig.ts'
import { ask, masterOf, running } from './running.ts'

const { FinalApplicationStatusProto } = hadoop.yarn

test('an application runs from its submission to its end', async () => {
  const rig = new Rig()
  const node = rig.addNode()
  const id = rig.submit()
  assert.equal(rig.stateOf(id), 'ACCEPTED')
  await rig.settle()

  const attempt = attemptId(id, 1)
  assert.equal(rig.started.length, 1)
  const [start] = rig.started
  const token = decodeContainerToken(Buffer.from(start?.containerToken?.identifier ?? []))
  assert.equal(token.containerId, masterOf(attempt))
  assert.equal(token.containerType, 'APPLICATION_MASTER')
  assert.equal(token.nodeAddress, 'node1:1234')
  assert.equal(token.user, 'alice')
  assert.equal(token.expiryTime, rig.clock.now() + 600_000)
  assert.deepEqual(
    start?.containerLaunchContext?.environment?.map(({ key, value }) => `${key}=${value}`),
    [`APPLICATION_WEB_PROXY_BASE=/proxy/${id}`, `APP_SUBMIT_TIME_ENV=${rig.clock.now()}`],
  )
  assert.equal(rig.masterToken.kind, 'YARN_AM_RM_TOKEN')
  assert.equal(rig.core.amrmTokens.authenticate(rig.masterToken.identifier).user, attempt)

  node.running.add(masterOf(attempt))
  node.heartbeat()
  const master = rig.master(attempt, rig.masterToken)
  const registered = master.registerApplicationMaster({ host: 'node1', rpcPort: 99, trackingUrl: 'http://node1:1' })
  assert.deepEqual(registered.maximumCapability, resourceToProto({ memoryMb: 8192, vcores: 4 }))
  assert.equal(registered.queue, 'root.default')
  assert.equal(rig.stateOf(id), 'RUNNING')
  assert.equal(rig.report(id).host, 'node1')
  assert.equal(rig.report(id).originalTrackingUrl, 'http://node1:1')

  const first = master.allocate({
    ask: [ask(2, { capability: resourceToProto({ memoryMb: 300, vcores: 1 }) })],
    responseId: 0,
    progress: 0.5,
  })
  assert.equal(first.responseId, 1)
  assert.equal(first.allocatedContainers?.length, 2)
  assert.deepEqual(first.allocatedContainers?.[0]?.resource, resourceToProto({ memoryMb: 512, vcores: 1 }))
  assert.equal(first.nmTokens?.length, 1)
  assert.deepEqual(first.limit, resourceToProto({ memoryMb: 8192 - 3 * 512, vcores: 5 }))
  assert.equal(first.numClusterNodes, 1)
  const ids = (first.allocatedContainers ?? []).map((container) => containerIdFromProto(container.id))
  for (const container of ids) node.running.add(container)
  node.heartbeat()

  node.complete(ids[0]!)
  node.complete(ids[1]!, 3, 'broken')
  node.heartbeat()
  const second = master.allocate({ responseId: 1, progress: 0.9 })
  assert.deepEqual(
    second.completedContainerStatuses?.map(({ exitStatus, diagnostics }) => ({ exitStatus, diagnostics })),
    [
      { exitStatus: 0, diagnostics: '' },
      { exitStatus: 3, diagnostics: 'broken' },
    ],
  )
  assert.deepEqual(second.nmTokens, [])
  assert.deepEqual(
    node.heartbeat().containersToBeRemovedFromNm,
    [],
    'not before the master is known to have the answer',
  )
  master.allocate({ responseId: 2, progress: 1 })
  assert.deepEqual(node.heartbeat().containersToBeRemovedFromNm?.map(containerIdFromProto), ids)

  const finished = master.finishApplicationMaster({
    finalApplicationStatus: FinalApplicationStatusProto.APP_SUCCEEDED,
    diagnostics: 'all done',
    trackingUrl: 'http://history',
  })
  assert.equal(finished.isUnregistered, true)
  assert.equal(rig.stateOf(id), 'FINISHED')
  assert.deepEqual(master.allocate({ responseId: 3 }).limit, resourceToProto({ memoryMb: 0, vcores: 0 }))

  node.complete(masterOf(attempt))
  node.heartbeat()
  const orders = node.heartbeat()
  assert.deepEqual(orders.containersToBeRemovedFromNm?.map(containerIdFromProto), [masterOf(attempt)])
  assert.deepEqual(orders.applicationsToCleanup, [applicationIdToProto(id)])
  const report = rig.report(id)
  assert.equal(report.finalApplicationStatus, FinalApplicationStatusProto.APP_SUCCEEDED)
  assert.equal(report.diagnostics, 'all done')
  assert.equal(report.originalTrackingUrl, 'http://history')
  assert.equal(report.trackingUrl, `${WEB}/proxy/${id}/`)
  assert.deepEqual(rig.stopped, [], 'a master that ended by itself is not stopped')
  assert.throws(() => master.allocate({ responseId: 4 }), {
    className: 'org.apache.hadoop.yarn.exceptions.ApplicationAttemptNotFoundException',
    message: `Application attempt ${attempt} doesn't exist in ApplicationMasterService cache.`,
  })
})

test('a running application is killed', async () => {
  const rig = new Rig()
  const node = rig.addNode()
  const { id, attempt } = await running(rig, node)
  assert.deepEqual(rig.client('bob').forceKillApplication({ applicationId: applicationIdToProto(id) }), {
    isKillCompleted: true,
  })
  assert.equal(rig.stateOf(id), 'KILLED')
  assert.equal(rig.report(id).diagnostics, `Application ${id} was killed by user bob at 127.0.0.1`)
  await rig.settle()
  assert.deepEqual(rig.stopped, [masterOf(attempt)])
  const orders = node.heartbeat()
  assert.deepEqual(orders.containersToCleanup?.map(containerIdFromProto), [masterOf(attempt)])
  assert.deepEqual(orders.applicationsToCleanup, [applicationIdToProto(id)])
  assert.deepEqual(rig.client().forceKillApplication({ applicationId: applicationIdToProto(id) }), {
    isKillCompleted: true,
  })
})
