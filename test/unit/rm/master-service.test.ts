import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  applicationIdToProto,
  attemptIdToProto,
  containerIdFromProto,
  containerIdToProto,
  parseContainerId,
} from '../../../src/protocol/ids.ts'
import { hadoop } from '../../../src/protocol/messages.ts'
import { resourceToProto } from '../../../src/protocol/resource.ts'
import { decodeAmrmToken } from '../../../src/security/amrm-token.ts'
import { decodeContainerToken } from '../../../src/security/container-token.ts'
import { decodeNMToken } from '../../../src/security/nm-token.ts'
import { Rig } from './rig.ts'
import { ask, idsOf, running } from './running.ts'

const { ContainerUpdateTypeProto, FinalApplicationStatusProto } = hadoop.yarn

test('a repeated allocate gets the same answer, and a wrong response id is refused', async () => {
  const rig = new Rig()
  const { attempt, master } = await running(rig, rig.addNode())
  const first = master.allocate({ ask: [ask(1)], responseId: 0 })
  assert.equal(first.allocatedContainers?.length, 1)
  assert.deepEqual(master.allocate({ ask: [ask(1)], responseId: 0 }), first)
  assert.throws(() => master.allocate({ responseId: 7 }), {
    className: 'org.apache.hadoop.yarn.exceptions.InvalidApplicationMasterRequestException',
    message:
      `Invalid responseId in AllocateRequest from application attempt: ${attempt} expect responseId to be 1 ` +
      'but get 7',
  })
  assert.equal(master.allocate({ responseId: 1 }).responseId, 2)
})

test('nothing of a refused call is applied', async () => {
  const rig = new Rig()
  const { attempt, allocate } = await running(rig, rig.addNode())
  const tooLarge = ask(1, { priority: { priority: 9 }, capability: resourceToProto({ memoryMb: 9999, vcores: 1 }) })
  assert.throws(() => allocate({ ask: [ask(1), tooLarge] }), /greater than maximum allowed allocation/)
  assert.throws(() => allocate({ ask: [ask(1)], blacklistRequest: { blacklistAdditions: ['*'] } }), {
    className: 'org.apache.hadoop.yarn.exceptions.InvalidResourceBlacklistRequestException',
  })
  const foreign = containerIdToProto(parseContainerId('container_1_0001_01_000009'))
  assert.throws(() => allocate({ ask: [ask(1)], release: [foreign] }), {
    className: 'org.apache.hadoop.yarn.exceptions.InvalidContainerReleaseException',
    message: `Cannot release container : container_1_0001_01_000009 not belonging to this application attempt : ${attempt}`,
  })
  assert.throws(() => allocate({ ask: [ask(1)], schedulingRequests: [{}] }), /placement constraints are not handled/)
  assert.throws(() => allocate({ ask: [ask(1, { nodeLabelExpression: 'gpu' })] }), /node label not enabled/)
  const answer = allocate()
  assert.equal(answer.responseId, 1)
  assert.deepEqual(answer.allocatedContainers, [])
})

test('the largest container is lowered to the largest node', async () => {
  const rig = new Rig()
  const { allocate } = await running(rig, rig.addNode('node1', 2048, 2))
  const tooLarge = ask(1, { capability: resourceToProto({ memoryMb: 4096, vcores: 1 }) })
  assert.throws(
    () => allocate({ ask: [tooLarge] }),
    /maximum allowed allocation=<memory:2048, vCores:2>, please note .* configured maximum allocation=<memory:8192, vCores:4>/,
  )
  rig.addNode('node2')
  assert.equal(allocate({ ask: [tooLarge] }).allocatedContainers?.length, 1)
})

test('a released container ends for its master at once, and its node is told to kill it', async () => {
  const rig = new Rig()
  const node = rig.addNode()
  const { allocate } = await running(rig, node)
  const [task] = idsOf(allocate({ ask: [ask(1)] }))
  node.running.add(task!)
  node.heartbeat()
  const answer = allocate({ release: [containerIdToProto(task!)] })
  assert.deepEqual(
    answer.completedContainerStatuses?.map(({ containerId, exitStatus, diagnostics }) => [
      containerIdFromProto(containerId),
      exitStatus,
      diagnostics,
    ]),
    [[task, -100, 'Container released by application']],
  )
  assert.deepEqual(node.heartbeat().containersToCleanup?.map(containerIdFromProto), [task])
  node.complete(task!, -106)
  node.heartbeat()
  assert.deepEqual(node.heartbeat().containersToBeRemovedFromNm?.map(containerIdFromProto), [task])
  assert.deepEqual(allocate().completedContainerStatuses, [], 'the end that the node reports is not told again')
})

test('tokens name the container, the node and the application of the submission', async () => {
  const rig = new Rig()
  const logAggregationContext = { includePattern: 'std.*' }
  const { attempt, allocate } = await running(rig, rig.addNode(), { logAggregationContext })
  await rig.clock.advance(5000)
  const answer = allocate({ ask: [ask(1, { priority: { priority: 7 }, allocationRequestId: 3 })] })
  const [container] = answer.allocatedContainers ?? []
  assert.equal(container?.containerToken?.service, '127.0.0.1:1234')
  const token = decodeContainerToken(container.containerToken.identifier)
  assert.equal(token.containerType, 'TASK')
  assert.equal(token.priority, 7)
  assert.equal(token.allocationRequestId, 3)
  assert.equal(token.rmIdentifier, rig.core.clusterTimestamp)
  assert.equal(token.expiryTime, rig.clock.now() + 600_000)
  assert.equal(token.logAggregationContext?.includePattern, 'std.*')
  const nmToken = decodeNMToken(answer.nmTokens![0]!.token!.identifier)
  assert.deepEqual([nmToken.attemptId, nmToken.nodeId, nmToken.user], [attempt, 'node1:1234', 'alice'])
})

test('progress is kept between nothing and all', async () => {
  const rig = new Rig()
  const { id, allocate } = await running(rig, rig.addNode())
  for (const [told, shown] of [
    [Number.NaN, 0],
    [-Infinity, 0],
    [-1, 0],
    [0.25, 0.25],
    [7, 1],
  ]) {
    allocate({ progress: told! })
    assert.equal(rig.report(id).progress, shown)
  }
  allocate({ trackingUrl: 'http://elsewhere' })
  assert.equal(rig.report(id).originalTrackingUrl, 'http://elsewhere')
})

test('asks to resize a container are refused one by one', async () => {
  const rig = new Rig()
  const { allocate } = await running(rig, rig.addNode())
  const [task] = idsOf(allocate({ ask: [ask(1)] }))
  const update = {
    containerVersion: 0,
    containerId: containerIdToProto(task!),
    updateType: ContainerUpdateTypeProto.INCREASE_RESOURCE,
    capability: resourceToProto({ memoryMb: 512, vcores: 1 }),
  }
  const answer = allocate({ updateRequests: [update] })
  assert.deepEqual(
    answer.updateErrors?.map(({ reason, updateRequest }) => [reason, updateRequest]),
    [['Containers cannot be resized or promoted by the embedded ResourceManager', update]],
  )
})

test('a master that must use another key gets a token until it has logged in with it', async () => {
  const rig = new Rig({ attemptExpiryMs: 10_000, amRmTokenRollMs: 60_000 })
  const { attempt } = await running(rig, rig.addNode())
  const old = rig.masterToken
  let master = rig.master(attempt, old)
  let responseId = 0
  const beat = async (seconds: number) => {
    for (let n = 0; n < seconds; n++) {
      await rig.clock.advance(1000)
      responseId = master.allocate({ responseId }).responseId ?? 0
    }
    const answer = master.allocate({ responseId })
    responseId = answer.responseId ?? 0
    return answer.amRmToken ?? undefined
  }
  assert.equal(await beat(1), undefined)
  const renewed = await beat(60)
  const token = {
    identifier: Buffer.from(renewed!.identifier),
    password: Buffer.from(renewed!.password),
    kind: renewed!.kind,
    service: renewed!.service,
  }
  assert.equal(decodeAmrmToken(token.identifier).keyId, (decodeAmrmToken(old.identifier).keyId + 1) | 0)
  assert.equal(rig.core.amrmTokens.authenticate(old.identifier).user, attempt, 'both keys are good for a while')
  assert.notEqual(await beat(1), undefined)
  master = rig.master(attempt, token)
  assert.equal(await beat(1), undefined)
  await beat(15)
  assert.throws(() => rig.core.amrmTokens.authenticate(old.identifier), {
    message: `Invalid AMRMToken from ${attempt}`,
  })
  assert.equal(rig.core.amrmTokens.authenticate(token.identifier).user, attempt)
})

test('a master that is unregistering gets nothing more', async () => {
  const rig = new Rig()
  const { id, master } = await running(rig, rig.addNode())
  const finish = { finalApplicationStatus: FinalApplicationStatusProto.APP_FAILED, diagnostics: 'no luck' }
  assert.deepEqual(master.finishApplicationMaster(finish), { isUnregistered: true })
  assert.deepEqual(master.finishApplicationMaster({ ...finish, diagnostics: 'again' }), { isUnregistered: true })
  const answer = master.allocate({ ask: [ask(1)], responseId: 0 })
  assert.deepEqual(answer.allocatedContainers ?? [], [])
  assert.deepEqual(rig.client().forceKillApplication({ applicationId: applicationIdToProto(id) }), {
    isKillCompleted: true,
  })
  const report = rig.report(id)
  assert.equal(report.finalApplicationStatus, FinalApplicationStatusProto.APP_FAILED)
  assert.equal(report.diagnostics, 'no luck')
})

test('the access rules and the queue of the submission are told to the master', async () => {
  const rig = new Rig()
  const rules = [{ accessType: hadoop.yarn.ApplicationAccessTypeProto.APPACCESS_VIEW_APP, acl: 'bob' }]
  rig.addNode()
  const id = rig.submit({ amContainerSpec: { application_ACLs: rules } })
  await rig.settle()
  const { currentAttempt } = rig.core.applications.get(id)
  const answer = rig.master(currentAttempt!.id).registerApplicationMaster({ host: 'h', rpcPort: 1 })
  assert.deepEqual(answer.application_ACLs, rules)
  assert.deepEqual(answer.schedulerResourceTypes, [
    hadoop.yarn.SchedulerResourceTypes.MEMORY,
    hadoop.yarn.SchedulerResourceTypes.CPU,
  ])
  const report = rig
    .client()
    .getApplicationAttemptReport({ applicationAttemptId: attemptIdToProto(currentAttempt!.id) })
  assert.equal(report.applicationAttemptReport.host, 'h')
})
