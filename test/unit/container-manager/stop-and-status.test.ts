import assert from 'node:assert/strict'
import { test } from 'node:test'
import { containerIdToProto } from '../../../src/protocol/ids.ts'
import { hadoop } from '../../../src/protocol/messages.ts'
import { settle } from '../../helpers/fake-clock.ts'
import { application, attempt, container, onlyFailure, TestNode } from './node.ts'

const YARN = 'org.apache.hadoop.yarn.exceptions.YarnException'
const one = container(1)
const foreign = container(1, 902)

async function running(): Promise<TestNode> {
  const node = new TestNode().register()
  await node.start([node.entry(one)])
  await settle()
  return node
}

test('a stop is stored before the kill, which ends the container with the status of its master', async () => {
  const node = await running()
  let release = () => {}
  node.store.hold = new Promise((resolve) => {
    release = resolve
  })
  const stop = node.stop([one])
  await settle()
  assert.equal(node.node.findContainer(one)?.state, 'RUNNING')
  release()
  assert.deepEqual((await stop).succeededRequests, [containerIdToProto(one)])
  await settle()
  assert.ok(node.store.calls.includes(`killed ${one}`))
  const stopped = node.node.findContainer(one)
  assert.equal(stopped?.state, 'DONE')
  assert.equal(stopped?.exitStatus, -105)
  assert.match(stopped?.diagnostics ?? '', /\]Container killed by the ApplicationMaster\.\n/)
  assert.ok(
    node.lines.includes(
      `USER=${attempt}\tIP=10.0.0.7\tOPERATION=Stop Container Request\tTARGET=ContainerManageImpl\tRESULT=SUCCESS\tAPPID=${application}\tCONTAINERID=${one}`,
    ),
  )
})

test('a stop answers for each container on its own, in the order asked', async () => {
  const node = await running()
  node.recentlyStopped.add(container(3))
  const answer = await node.stop([container(2), foreign, container(3), one])
  assert.deepEqual(answer.succeededRequests, [container(3), one].map(containerIdToProto))
  assert.deepEqual(
    answer.failedRequests?.map(({ containerId, exception }) => [containerId, exception?.className, exception?.message]),
    [
      [containerIdToProto(container(2)), YARN, `Container ${container(2)} is not handled by this NodeManager`],
      [containerIdToProto(foreign), YARN, `${attempt} attempted to stop non-application container : ${foreign}`],
    ],
  )
  assert.ok(
    node.lines.includes(
      `WARN USER=${attempt}\tIP=10.0.0.7\tOPERATION=Stop Container Request\tTARGET=ContainerManagerImpl\tRESULT=FAILURE\tDESCRIPTION=Trying to stop unknown container!\tAPPID=application_1796121941544_0902\tCONTAINERID=${foreign}`,
    ),
  )
})

test('a stop that cannot be stored fails the call, and the container goes on', async () => {
  const node = await running()
  node.store.fail = 'killed'
  await assert.rejects(node.stop([one]), {
    className: 'java.io.IOException',
    message: `The end of ${one} could not be stored: No space left on device`,
  })
  assert.equal(node.node.findContainer(one)?.state, 'RUNNING')
})

test('a status is told while the container is in the table, and the reason when it is not', async () => {
  const node = await running()
  node.recentlyStopped.add(container(3))
  const answer = await node.statuses([one, container(2), container(3), foreign])
  assert.equal(answer.status?.length, 1)
  assert.equal(answer.status?.[0]?.state, hadoop.yarn.ContainerStateProto.C_RUNNING)
  assert.deepEqual(
    answer.failedRequests?.map(({ exception }) => [exception?.className, exception?.message]),
    [
      [YARN, `Container ${container(2)} is not handled by this NodeManager`],
      [YARN, `Container ${container(3)} was recently stopped on node manager.`],
      [YARN, `${attempt} attempted to get status for non-application container : ${foreign}`],
    ],
  )
})

test('stops and statuses need an NM token, but not the user of its attempt', async () => {
  const node = await running()
  const simple = { ...node.caller(), authentication: 'SIMPLE' as const }
  const refused = { className: YARN, message: 'Invalid NMToken' }
  await assert.rejects(node.stop([one], simple), refused)
  await assert.rejects(async () => node.statuses([one], simple), refused)
  assert.equal((await node.statuses([one], { ...node.caller(), user: 'other' })).status?.length, 1)
})

test('a signal is passed on, and one for an unknown container is ignored', async () => {
  const node = await running()
  const { signalToContainer } = node.manager.handlers()
  const command = hadoop.yarn.SignalContainerCommandProto.OUTPUT_THREAD_DUMP
  await signalToContainer!({ containerId: containerIdToProto(one), command }, node.caller())
  await signalToContainer!({ containerId: containerIdToProto(container(2)), command }, node.caller())
  assert.deepEqual(node.signals, [`${one} ${command}`])
  assert.ok(node.lines.includes(`${one} signal request OUTPUT_THREAD_DUMP by Application Master`))
  assert.ok(node.lines.includes(`Container ${container(2)} no longer exists`))
})

test('the calls that come with later versions are left to the server to refuse', () => {
  const handlers = new TestNode().manager.handlers()
  assert.deepEqual(Object.keys(handlers).sort(), [
    'getContainerStatuses',
    'signalToContainer',
    'startContainers',
    'stopContainers',
  ])
})

test("the ResourceManager's orders for unknown ids are logged and ignored", () => {
  const node = new TestNode().register()
  node.node.killContainer(one, -106, 'Container Killed by ResourceManager')
  node.node.finishApplication(application, 'Application killed by ResourceManager')
  assert.deepEqual(node.lines, [
    `WARN couldn't find container ${one} while processing FINISH_CONTAINERS event`,
    `couldn't find application ${application} while processing FINISH_APPS event. The ResourceManager allocated resources for this application to the NodeManager but no active containers were found to process.`,
  ])
})

test('when an application is FINISHED, the old NM key of its attempts is forgotten', async () => {
  const node = await running()
  const { tokenIdentifier } = node.caller()
  for (const keyId of [1, 2]) {
    node.manager.masterKeys({ containerToken: undefined, nmToken: { keyId, bytes: Buffer.from([keyId]) } })
  }
  assert.equal(node.tokens.nm.authenticate(tokenIdentifier!).user, attempt)
  node.node.finishApplication(application, 'Application killed by ResourceManager')
  await settle()
  assert.deepEqual(node.finished, [application])
  assert.throws(() => node.tokens.nm.authenticate(tokenIdentifier!))
})

test('one failure of each kind has its own entry, and the last is not lost', async () => {
  const node = await running()
  assert.deepEqual(onlyFailure(await node.stop([container(9)])), {
    className: YARN,
    message: `Container ${container(9)} is not handled by this NodeManager`,
  })
})
