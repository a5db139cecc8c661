import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applicationId, attemptId, containerIdToProto } from '../../../src/protocol/ids.ts'
import { hadoop } from '../../../src/protocol/messages.ts'
import { emptyCredentials, writeCredentials } from '../../../src/security/credentials.ts'
import { settle } from '../../helpers/fake-clock.ts'
import { application, attempt, container, onlyFailure, RM_IDENTIFIER, TestNode } from './node.ts'

const YARN = 'org.apache.hadoop.yarn.exceptions.YarnException'
const INVALID_TOKEN = 'org.apache.hadoop.security.token.SecretManager$InvalidToken'
const one = container(1)
const two = container(2)
const { FILE } = hadoop.yarn.LocalResourceTypeProto
const { PUBLIC } = hadoop.yarn.LocalResourceVisibilityProto

test('an accepted container is stored, handed to its new application, audited and answered', async () => {
  const node = new TestNode().register()
  const acls = [{ accessType: hadoop.yarn.ApplicationAccessTypeProto.APPACCESS_VIEW_APP, acl: '*' }]
  const entry = node.entry(one, { version: 2 }, { command: ['true'], application_ACLs: acls })
  const answer = await node.start([entry])
  assert.deepEqual(answer.succeededRequests, [containerIdToProto(one)])
  assert.deepEqual(answer.failedRequests, [])
  assert.deepEqual(answer.servicesMetaData, [{ key: 'mapreduce_shuffle', value: Buffer.from([0, 0, 0x9e, 0x72]) }])
  assert.equal(node.store.calls[0], `application ${application}`)
  assert.ok(node.store.calls.includes(`container ${one}`))
  const [record] = node.store.applications
  assert.equal(record?.user, 'root')
  assert.deepEqual(record?.acls, acls)
  assert.deepEqual(record?.credentials, writeCredentials(emptyCredentials()))
  const [stored] = node.store.starts
  assert.equal(stored?.version, 2)
  assert.equal(stored?.startTime, node.clock.now())
  assert.deepEqual(stored?.request, Buffer.from(hadoop.yarn.StartContainerRequestProto.encode(entry).finish()))
  await settle()
  assert.equal(node.node.findContainer(one)?.state, 'RUNNING')
  assert.deepEqual(node.node.findApplication(application)?.containerIds, [one])
  assert.ok(
    node.lines.includes(
      `USER=${attempt}\tIP=10.0.0.7\tOPERATION=Start Container Request\tTARGET=ContainerManageImpl\tRESULT=SUCCESS\tAPPID=${application}\tCONTAINERID=${one}`,
    ),
  )
  assert.ok(node.lines.includes(`Start request for ${one} by user ${attempt} with resource <memory:128, vCores:1>`))
})

test('a container of a user whose name leads out of usercache is refused, and nothing is made', async () => {
  const node = new TestNode().register()
  for (const user of ['', '.', '..', '../../etc', 'root/..', 'a\nb', 'a\0b', 'x'.repeat(256)]) {
    const { message } = onlyFailure(await node.start([node.entry(one, { user })]))
    assert.match(message, /whose name can't be that of a directory: it must have 1 to 255 bytes, without '\/'/)
    assert.ok(message.includes(`is for the user ${JSON.stringify(user)}, `))
  }
  assert.deepEqual(node.store.calls, [])
  assert.equal(node.node.findApplication(application), undefined)
  assert.deepEqual((await node.start([node.entry(one, { user: 'alice smith@EXAMPLE.COM' })])).failedRequests, [])
})

test('a second container joins the application that is there', async () => {
  const node = new TestNode().register()
  await node.start([node.entry(one), node.entry(two)])
  const created = node.lines.filter((line) => line.startsWith('Creating a new application reference'))
  assert.deepEqual(created, [`Creating a new application reference for app ${application}`])
  await settle()
  assert.deepEqual(node.node.findApplication(application)?.containerIds, [one, two])
})

test('a start for an application that is FINISHED is taken in and ends at once', async () => {
  const node = new TestNode().register()
  await node.start([node.entry(one)])
  node.node.finishApplication(application, 'Application killed by ResourceManager')
  await settle()
  assert.equal(node.node.findApplication(application)?.state, 'FINISHED')
  const answer = await node.start([node.entry(two)])
  assert.deepEqual(answer.succeededRequests, [containerIdToProto(two)])
  await settle()
  assert.equal(node.node.findContainer(two)?.state, 'DONE')
  assert.equal(node.node.findContainer(two)?.exitStatus, -107)
  assert.match(node.node.findContainer(two)?.diagnostics ?? '', /\]Application no longer running\.\n/)
  assert.deepEqual(node.node.findApplication(application)?.containerIds, [])
})

test('a finished application stays until its logs go, hours later', async () => {
  const node = new TestNode().register()
  await node.start([node.entry(one)])
  node.node.finishApplication(application, 'Application killed by ResourceManager')
  await node.clock.advance(10_799_000)
  assert.equal(node.node.findApplication(application)?.state, 'FINISHED')
  assert.deepEqual(node.deleted, [])
  await node.clock.advance(1000)
  assert.equal(node.node.findApplication(application), undefined)
  assert.deepEqual(node.deleted, [`root /logs0/${application}`, `root /logs1/${application}`])
  assert.ok(node.store.calls.includes(`removed application ${application}`))
})

test('an application that has gone from the node is made again', async () => {
  const node = new TestNode().register()
  await node.start([node.entry(one)])
  node.node.finishApplication(application, 'Application killed by ResourceManager')
  await node.clock.advance(10_800_000)
  assert.deepEqual(node.finished, [application, application])
  assert.equal(node.node.findApplication(application), undefined)
  const answer = await node.start([node.entry(two)])
  assert.deepEqual(answer.succeededRequests, [containerIdToProto(two)])
  await settle()
  assert.equal(node.node.findContainer(two)?.state, 'RUNNING')
})

test('a caller without an NM token is refused', async () => {
  const node = new TestNode().register()
  const refused = { className: YARN, message: 'Invalid NMToken' }
  const simple = { ...node.caller(), authentication: 'SIMPLE' as const }
  await assert.rejects(node.start([node.entry(one)], simple), refused)
  await assert.rejects(node.start([node.entry(one)], { ...node.caller(), tokenIdentifier: undefined }), refused)
})

test('a caller who is not the attempt of its token is refused', async () => {
  const node = new TestNode().register()
  await assert.rejects(node.start([], { ...node.caller(), user: 'eve' }), {
    className: YARN,
    message: `Expected applicationAttemptId: eveFound: ${attempt}`,
  })
})

test('check 1: an entry without a container token fails the call', async () => {
  const node = new TestNode().register()
  const refused = { className: YARN, message: 'java.io.IOException: Invalid ContainerToken' }
  await assert.rejects(node.start([{ containerLaunchContext: {} }]), refused)
  const empty = { identifier: Buffer.alloc(0), password: Buffer.alloc(0), kind: '', service: '' }
  await assert.rejects(node.start([{ containerToken: empty }]), refused)
})

test('check 2: a token for another node fails the call', async () => {
  const node = new TestNode().register()
  await assert.rejects(node.start([node.entry(one, { nodeAddress: 'other:1' })]), {
    className: INVALID_TOKEN,
    message: `Given Container ${one} identifier is not valid for current Node manager. Expected : localhost:40454 Found : other:1`,
  })
})

test('check 3: a token with an unknown key fails the call', async () => {
  const node = new TestNode().register()
  node.rm.container.keys.roll()
  node.rm.container.keys.activate()
  await assert.rejects(node.start([node.entry(one)]), {
    className: INVALID_TOKEN,
    message: `Given Container ${one} seems to have an illegally generated token.`,
  })
})

test('check 4: a token with a wrong password fails the call', async () => {
  const node = new TestNode().register()
  const entry = node.entry(one)
  const containerToken = { ...entry.containerToken!, password: Buffer.alloc(20, 'x') }
  await assert.rejects(node.start([{ ...entry, containerToken }]), {
    className: INVALID_TOKEN,
    message: 'Invalid container token used for starting container on : localhost:40454',
  })
})

test('a call that fails in the middle has started what stood before', async () => {
  const node = new TestNode().register()
  const call = node.start([node.entry(one), node.entry(two, { nodeAddress: 'other:1' }), node.entry(container(3))])
  await assert.rejects(call, { className: INVALID_TOKEN })
  assert.ok(node.node.findContainer(one))
  assert.equal(node.node.findContainer(container(3)), undefined)
})

test("check 6: a container of another application fails, one of the application's other attempt does not", async () => {
  const node = new TestNode().register()
  const foreign = container(1, 902)
  assert.deepEqual(onlyFailure(await node.start([node.entry(foreign)])), {
    className: YARN,
    message: `Unauthorized request to start container.\nNMToken for application attempt : ${attempt} was used for starting container with container token issued for application attempt : ${attemptId(applicationId(RM_IDENTIFIER, 902), 1)}`,
  })
  const otherAttempt = container(1, 901, 2)
  assert.equal((await node.start([node.entry(otherAttempt)])).succeededRequests?.length, 1)
})

test('check 7: the same token starts a container once', async () => {
  const node = new TestNode().register()
  const entry = node.entry(one)
  await node.start([entry])
  const relaunch = {
    className: YARN,
    message: `Unauthorized request to start container.\n Attempt to relaunch the same container with id ${one}.`,
  }
  assert.deepEqual(onlyFailure(await node.start([entry])), relaunch)
  node.node.forgetContainer(one)
  assert.deepEqual(onlyFailure(await node.start([entry])), relaunch)
})

test('check 8: an expired token starts nothing, one that expires now does', async () => {
  const node = new TestNode().register()
  const now = node.clock.now()
  assert.deepEqual(onlyFailure(await node.start([node.entry(one, { expiryTime: now - 1 })])), {
    className: YARN,
    message: `Unauthorized request to start container.\nThis token is expired. current time is ${now} found ${now - 1}\nNote: System times on machines may be out of sync. Check system time and time zones.`,
  })
  assert.equal((await node.start([node.entry(one, { expiryTime: now })])).succeededRequests?.length, 1)
})

test('checks 6 to 8 tell the first that fails', async () => {
  const node = new TestNode().register()
  const expired = node.clock.now() - 1
  const answer = await node.start([node.entry(container(1, 902), { expiryTime: expired, rmIdentifier: 1 })])
  assert.match(onlyFailure(answer).message, /^Unauthorized request to start container\.\nNMToken for/)
  const onlyExpired = await node.start([node.entry(one, { expiryTime: expired, rmIdentifier: 1 })])
  assert.match(onlyFailure(onlyExpired).message, /\nThis token is expired/)
})

test('check 9: a container of an earlier ResourceManager is rejected', async () => {
  const node = new TestNode().register()
  assert.deepEqual(onlyFailure(await node.start([node.entry(one, { rmIdentifier: RM_IDENTIFIER - 1 })])), {
    className: 'org.apache.hadoop.yarn.exceptions.InvalidContainerException',
    message: `\nContainer ${one} rejected as it is allocated by a previous RM`,
  })
})

test('check 10: a start with an NM token older than the previous key fails the call', async () => {
  const node = new TestNode().register()
  const caller = node.caller()
  for (const keyId of [1, 2]) {
    node.manager.masterKeys({ containerToken: undefined, nmToken: { keyId, bytes: Buffer.from([keyId]) } })
  }
  await assert.rejects(node.start([node.entry(one)], caller), {
    className: INVALID_TOKEN,
    message: 'Older NMToken should not be used while starting the container.',
  })
})

test('check 11: data for a service that does not run here fails the container', async () => {
  const node = new TestNode().register()
  const serviceData = [{ key: 'mapreduce_shuffle' }, { key: 'spark_shuffle', value: Buffer.from('x') }]
  const answer = await node.start([node.entry(one, {}, { serviceData }), node.entry(two)])
  assert.deepEqual(onlyFailure(answer), {
    className: 'org.apache.hadoop.yarn.exceptions.InvalidAuxServiceException',
    message: 'The auxService:spark_shuffle does not exist',
  })
  assert.deepEqual(answer.succeededRequests, [containerIdToProto(two)])
})

test('check 12: a resource without URL, type or visibility fails the container, with the resource as Java prints it', async () => {
  const node = new TestNode().register()
  const resource = { scheme: 'file', port: -1, file: '/x' }
  const start = async (value: hadoop.yarn.LocalResourceProto.$Properties) =>
    onlyFailure(await node.start([node.entry(one, {}, { localResources: [{ key: 'job.jar', value }] })])).message
  assert.equal(
    await start({ size: 5, timestamp: 7, type: FILE }),
    'Null resource URL for local resource job.jar : size: 5 timestamp: 7 type: FILE',
  )
  assert.equal(
    await start({ resource, size: 5, timestamp: 7, visibility: PUBLIC, pattern: 'a.*' }),
    'Null resource type for local resource job.jar : resource { scheme: "file" port: -1 file: "/x" } size: 5 timestamp: 7 visibility: PUBLIC pattern: "a.*"',
  )
  assert.equal(
    await start({ resource, type: FILE }),
    'Null resource visibility for local resource job.jar : resource { scheme: "file" port: -1 file: "/x" } type: FILE',
  )
})

test('check 13: tokens that cannot be read fail the call', async () => {
  const node = new TestNode().register()
  const start = (tokens: Buffer) => node.start([node.entry(one, {}, { tokens })])
  await assert.rejects(start(Buffer.from('HDTX\0\0\0')), {
    className: YARN,
    message: 'java.io.IOException: Bad header found in token storage.',
  })
  await assert.rejects(start(Buffer.alloc(0)), { className: YARN, message: 'java.io.EOFException' })
  assert.equal(node.node.findContainer(one), undefined)
})

test('check 14: another token for a container that is there fails, and is audited', async () => {
  const node = new TestNode().register()
  await node.start([node.entry(one)])
  const answer = await node.start([node.entry(one, { expiryTime: node.clock.now() + 601_000 })])
  assert.deepEqual(onlyFailure(answer), {
    className: YARN,
    message: `Container ${one} already is running on this node!!`,
  })
  assert.ok(
    node.lines.includes(
      `WARN USER=${attempt}\tIP=10.0.0.7\tOPERATION=Start Container Request\tTARGET=ContainerManagerImpl\tRESULT=FAILURE\tDESCRIPTION=Container already running on this node!\tAPPID=${application}\tCONTAINERID=${one}`,
    ),
  )
})

test('check 15: a node that stops starts nothing more', async () => {
  const node = new TestNode().register()
  await node.manager.stop()
  assert.deepEqual(onlyFailure(await node.start([node.entry(one)])), {
    className: YARN,
    message: 'Container start failed as the NodeManager is in the process of shutting down',
  })
  assert.equal(node.node.findContainer(one), undefined)
})

test("a failure's trace begins as Java's does", async () => {
  const node = new TestNode().register()
  const answer = await node.start([node.entry(one, { rmIdentifier: 1 })])
  assert.equal(
    answer.failedRequests?.[0]?.exception?.trace,
    `org.apache.hadoop.yarn.exceptions.InvalidContainerException: \nContainer ${one} rejected as it is allocated by a previous RM\n`,
  )
})

test('of two equal starts at the same time one starts the container', async () => {
  const node = new TestNode().register()
  const entry = node.entry(one)
  const answers = await Promise.all([node.start([entry]), node.start([entry])])
  assert.deepEqual(
    answers.map(({ succeededRequests }) => succeededRequests?.length),
    [1, 0],
  )
  assert.equal(node.store.starts.length, 1)
})

test('two first containers of an application at the same time make one application, and both wait for its record', async () => {
  const node = new TestNode().register()
  let release = () => {}
  node.store.hold = new Promise((resolve) => {
    release = resolve
  })
  const both = Promise.all([node.start([node.entry(one)]), node.start([node.entry(two)])])
  await settle()
  assert.equal(node.store.applications.length, 1)
  assert.deepEqual(node.store.starts, [])
  release()
  assert.deepEqual(
    (await both).map(({ succeededRequests }) => succeededRequests?.length),
    [1, 1],
  )
})

test('a start that cannot be stored fails the call and leaves nothing behind, so that it may be tried again', async () => {
  for (const kind of ['application', 'container']) {
    const node = new TestNode().register()
    const entry = node.entry(one)
    node.store.fail = kind
    await assert.rejects(node.start([entry]), {
      className: YARN,
      message: `java.io.IOException: The start of ${one} could not be stored: No space left on device`,
    })
    assert.equal(node.node.findContainer(one), undefined)
    assert.equal(node.node.findApplication(application) === undefined, kind === 'application')
    node.store.fail = undefined
    assert.equal((await node.start([entry])).succeededRequests?.length, 1)
  }
})

test('an application that is finished while it is stored finishes once it has begun, with the container in it', async () => {
  const node = new TestNode().register()
  let release = () => {}
  node.store.hold = new Promise((resolve) => {
    release = resolve
  })
  const start = node.start([node.entry(one)])
  await settle()
  node.node.finishApplication(application, 'Application killed by ResourceManager')
  release()
  assert.equal((await start).succeededRequests?.length, 1)
  await settle()
  assert.equal(node.node.findContainer(one)?.state, 'DONE')
  assert.equal(node.node.findContainer(one)?.exitStatus, -107)
  assert.deepEqual(node.finished, [application])
})

test('a container that is killed while it is stored is done, and its application does not wait for it', async () => {
  const node = new TestNode().register()
  let release = () => {}
  node.store.hold = new Promise((resolve) => {
    release = resolve
  })
  const start = node.start([node.entry(one)])
  await settle()
  node.node.killContainer(one, -106, 'Container Killed by ResourceManager')
  release()
  await start
  await settle()
  assert.equal(node.node.findContainer(one)?.exitStatus, -106)
  assert.deepEqual(node.node.findApplication(application)?.containerIds, [])
})

test('a thousand starts at once, and a thousand statuses, are a matter of moments', async () => {
  const node = new TestNode().register()
  const ids = Array.from({ length: 1000 }, (_, n) => container(n + 1))
  const answers = await Promise.all(ids.map((id) => node.start([node.entry(id)])))
  assert.ok(answers.every(({ succeededRequests }) => succeededRequests?.length === 1))
  const statuses = await node.statuses(ids)
  assert.equal(statuses.status?.length, 1000)
})
