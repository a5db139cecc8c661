import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applicationIdToProto, attemptId, attemptIdToProto, containerIdFromProto } from '../../../src/protocol/ids.ts'
import { hadoop } from '../../../src/protocol/messages.ts'
import { RemoteError } from '../../../src/protocol/remote-error.ts'
import { Rig, WEB } from './rig.ts'
import { ask, idsOf, masterOf, registered, running } from './running.ts'

const { ApplicationTimeoutTypeProto, FinalApplicationStatusProto } = hadoop.yarn

/** The master exits with a status of its own. */
async function masterExits(rig: Rig, node: ReturnType<Rig['addNode']>, attempt: ReturnType<typeof attemptId>) {
  node.complete(masterOf(attempt), 7, 'it broke\n')
  node.heartbeat()
  await rig.settle()
}

test('a failed attempt is followed by another one, and the last failure ends the application', async () => {
  const rig = new Rig()
  const node = rig.addNode()
  const { id, attempt, allocate, master } = await running(rig, node)
  const [other] = idsOf(allocate({ ask: [ask(1)] }))
  node.running.add(other!)
  node.heartbeat()

  await masterExits(rig, node, attempt)
  assert.equal(rig.stateOf(id), 'ACCEPTED')
  assert.equal(rig.lastStarted, masterOf(attemptId(id, 2)))
  assert.deepEqual(rig.stopped, [], 'the first master has ended by itself')
  assert.deepEqual(node.heartbeat().containersToCleanup?.map(containerIdFromProto), [other])
  node.complete(other!, -106)
  assert.throws(() => master.allocate({ responseId: 1 }), /doesn't exist in ApplicationMasterService cache/)
  assert.throws(() => rig.core.amrmTokens.authenticate(rig.masterTokens[0]!.identifier), {
    message: `${attempt} not found in AMRMTokenSecretManager.`,
  })

  const second = registered(rig, node, id, 2)
  assert.equal(rig.stateOf(id), 'RUNNING')
  await masterExits(rig, node, second.attempt)
  assert.equal(rig.stateOf(id), 'FAILED')
  const report = rig.report(id)
  assert.equal(
    report.diagnostics,
    `Application ${id} failed 2 times due to AM Container for ${second.attempt} exited with  exitCode: 7\n` +
      'Failing this attempt.Diagnostics: it broke\n' +
      `For more detailed output, check the application tracking page: ${WEB}/cluster/app/${id} ` +
      'Then click on links to logs of each attempt.\n. Failing the application.',
  )
  assert.equal(report.finalApplicationStatus, FinalApplicationStatusProto.APP_FAILED)
  assert.equal(report.host, 'N/A')
  assert.equal(report.trackingUrl, `${WEB}/cluster/app/${id}`)
  const attempts = rig.client().getApplicationAttempts({ applicationId: applicationIdToProto(id) }).applicationAttempts
  assert.equal(attempts.length, 2)
})

test('the number of attempts that an application may have is its own, within the limit of the cluster', async () => {
  const rig = new Rig({ maxAttempts: 2, globalMaxAttempts: 3 })
  const node = rig.addNode()
  for (const [wanted, given] of [
    [1, 1],
    [0, 2],
    [9, 3],
  ]) {
    const id = rig.submit({ maxAppAttempts: wanted! })
    for (let number = 1; rig.stateOf(id) === 'ACCEPTED'; number++) {
      await rig.settle()
      node.running.add(masterOf(attemptId(id, number)))
      node.heartbeat()
      await masterExits(rig, node, attemptId(id, number))
    }
    assert.equal(rig.core.applications.get(id).attempts.length, given)
    const limits = given === 3 ? '' : ` (global limit =3; local limit is =${given})`
    assert.match(
      rig.report(id).diagnostics ?? '',
      new RegExp(`failed ${given} times${limits.replace(/[()]/g, '\\$&')} due`),
    )
  }
})

test('an attempt that is lost with its node does not count', async () => {
  const rig = new Rig({ nodeExpiryMs: 3000 })
  const node = rig.addNode()
  const { id } = await running(rig, node)
  const keepsAlive = rig.addNode('node2')
  for (let number = 2; number < 6; number++) {
    const lost = number % 2 === 0 ? node : keepsAlive
    const kept = number % 2 === 0 ? keepsAlive : node
    for (let n = 0; n < 5; n++) {
      await rig.clock.advance(1000)
      kept.heartbeat()
    }
    await rig.settle()
    assert.equal(rig.stateOf(id), 'ACCEPTED')
    assert.equal(rig.lastStarted, masterOf(attemptId(id, number)))
    lost.running.clear()
    lost.register()
    kept.running.add(masterOf(attemptId(id, number)))
    kept.heartbeat()
  }
})

test('failures older than the validity interval do not count', async () => {
  const rig = new Rig()
  const node = rig.addNode()
  const id = rig.submit({ attemptFailuresValidityInterval: 10_000 })
  for (let number = 1; number <= 4; number++) {
    await rig.settle()
    node.running.add(masterOf(attemptId(id, number)))
    node.heartbeat()
    await rig.clock.advance(11_000)
    await masterExits(rig, node, attemptId(id, number))
  }
  assert.equal(rig.stateOf(id), 'ACCEPTED')
  node.running.add(masterOf(attemptId(id, 5)))
  node.heartbeat()
  await masterExits(rig, node, attemptId(id, 5))
  assert.equal(rig.stateOf(id), 'FAILED')
  assert.match(rig.report(id).diagnostics ?? '', /failed 2 times in previous 10000 milliseconds due to/)
})

test('a master that is not heard of is given up on, and its container stopped', async () => {
  const rig = new Rig({ attemptExpiryMs: 9000, maxAttempts: 1 })
  const node = rig.addNode()
  const { id, attempt, allocate } = await running(rig, node)
  await rig.clock.advance(8000)
  allocate()
  await rig.clock.advance(8000)
  assert.equal(rig.stateOf(id), 'RUNNING')
  await rig.clock.advance(5000)
  assert.equal(rig.stateOf(id), 'FAILED')
  assert.match(
    rig.report(id).diagnostics ?? '',
    new RegExp(`due to ApplicationMaster for attempt ${attempt} timed out`),
  )
  assert.deepEqual(rig.stopped, [masterOf(attempt)])
})

test('a master that has unregistered and does not end is stopped', async () => {
  const rig = new Rig({ attemptExpiryMs: 9000 })
  const node = rig.addNode()
  const { id, attempt, master } = await running(rig, node)
  master.finishApplicationMaster({ finalApplicationStatus: FinalApplicationStatusProto.APP_SUCCEEDED })
  await rig.clock.advance(13_000)
  assert.deepEqual(rig.stopped, [masterOf(attempt)])
  assert.deepEqual(node.heartbeat().applicationsToCleanup, [applicationIdToProto(id)])
  assert.equal(rig.report(id).finalApplicationStatus, FinalApplicationStatusProto.APP_SUCCEEDED)
})

test('a node that refuses the master fails the attempt with what it said', async () => {
  const rig = new Rig({ maxAttempts: 1 })
  rig.addNode()
  rig.onStart = () => ({
    failedRequests: [
      { exception: { className: 'org.apache.hadoop.yarn.exceptions.YarnException', message: 'no room' } },
    ],
  })
  const refused = rig.submit()
  await rig.settle()
  assert.equal(
    rig.report(refused).diagnostics,
    `Application ${refused} failed 1 times (global limit =2; local limit is =1) due to Error launching ` +
      `${attemptId(refused, 1)}. Got exception: org.apache.hadoop.yarn.exceptions.YarnException: no room. ` +
      'Failing the application.',
  )
  rig.onStart = () => Promise.reject(new RemoteError('java.io.IOException', 'broken'))
  const broken = rig.submit()
  await rig.settle()
  assert.match(rig.report(broken).diagnostics ?? '', /Got exception: java.io.IOException: broken/)
})

test('credentials that do not parse fail the attempt before a node is asked', async () => {
  const rig = new Rig({ maxAttempts: 1 })
  rig.addNode()
  const id = rig.submit({ amContainerSpec: { tokens: Buffer.from('nonsense') } })
  await rig.settle()
  assert.match(rig.report(id).diagnostics ?? '', /Error launching .*Bad header found in token storage/)
  assert.deepEqual(rig.started, [])
})

test('a user may fail an attempt', async () => {
  const rig = new Rig()
  const node = rig.addNode()
  const { id, attempt } = await running(rig, node)
  rig.client('bob').failApplicationAttempt({ applicationAttemptId: attemptIdToProto(attempt) })
  await rig.settle()
  assert.equal(rig.stateOf(id), 'ACCEPTED')
  assert.deepEqual(rig.stopped, [masterOf(attempt)])
  assert.equal(rig.lastStarted, masterOf(attemptId(id, 2)))
})

test('an unmanaged master logs in with the token of the report, which only the owner sees', async () => {
  const rig = new Rig()
  rig.addNode()
  const id = rig.submit({ unmanagedAm: true, amContainerResourceRequest: [] })
  assert.equal(rig.stateOf(id), 'ACCEPTED')
  assert.deepEqual(rig.started, [])
  assert.equal(rig.report(id, 'mallory').amRmToken, null)
  const token = rig.report(id).amRmToken
  const attempt = attemptId(id, 1)
  assert.equal(rig.core.amrmTokens.authenticate(Buffer.from(token!.identifier)).user, attempt)
  const master = rig.master(attempt)
  master.registerApplicationMaster({ host: 'here', rpcPort: 1, trackingUrl: 'http://here' })
  assert.equal(rig.report(id).amRmToken, null, 'not once it is registered')
  assert.equal(rig.report(id).trackingUrl, 'http://here')
  assert.deepEqual(idsOf(master.allocate({ ask: [ask(1)], responseId: 0 })), [masterOf(attempt)])
  assert.deepEqual(master.finishApplicationMaster({ diagnostics: 'done' }), { isUnregistered: true })
  assert.equal(rig.stateOf(id), 'FINISHED')
  assert.throws(() => master.allocate({ responseId: 1 }), /doesn't exist in ApplicationMasterService cache/)
  assert.throws(() => master.registerApplicationMaster({}), {
    className: 'org.apache.hadoop.yarn.exceptions.InvalidApplicationMasterRequestException',
    message: `Application doesn't exist in cache ${attempt}`,
  })
  assert.deepEqual(master.finishApplicationMaster({}), { isUnregistered: true }, 'a repeat')
})

test('an unmanaged master that is not heard of fails its application at once', async () => {
  const rig = new Rig({ attemptExpiryMs: 9000 })
  const id = rig.submit({ unmanagedAm: true, amContainerResourceRequest: [] })
  await rig.clock.advance(13_000)
  assert.equal(
    rig.report(id).diagnostics,
    `Unmanaged application ${id} failed due to ApplicationMaster for attempt ${attemptId(id, 1)} timed out. ` +
      'Failing the application.',
  )
})

test('an application is killed at the end of its lifetime', async () => {
  const rig = new Rig()
  const id = rig.submit({
    applicationTimeouts: [{ applicationTimeoutType: ApplicationTimeoutTypeProto.APP_TIMEOUT_LIFETIME, timeout: 60 }],
  })
  await rig.clock.advance(59_000)
  assert.equal(rig.stateOf(id), 'ACCEPTED')
  assert.equal(rig.report(id).appTimeouts?.[0]?.applicationTimeout?.remainingTime, 1)
  await rig.clock.advance(1000)
  assert.equal(rig.stateOf(id), 'KILLED')
  assert.match(rig.report(id).diagnostics ?? '', /exceeded the lifetime period of 60 seconds/)
})

test('only the last completed applications are remembered', () => {
  const rig = new Rig({ maxCompletedApplications: 2 })
  const ids = [1, 2, 3].map(() => rig.submit({ queue: 'nope' }))
  assert.throws(() => rig.report(ids[0]!), {
    className: 'org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException',
  })
  assert.deepEqual([rig.stateOf(ids[1]!), rig.stateOf(ids[2]!)], ['FAILED', 'FAILED'])
})
