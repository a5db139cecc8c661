import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applicationClient } from '../../../src/protocol/application-client.ts'
import { javaDate } from '../../../src/base/times.ts'
import { applicationIdFromProto, applicationIdToProto, nodeId } from '../../../src/protocol/ids.ts'
import { hadoop } from '../../../src/protocol/messages.ts'
import { JavaClass } from '../../../src/protocol/remote-error.ts'
import { resourceToProto } from '../../../src/protocol/resource.ts'
import { fixture } from '../../helpers/fixtures.ts'
import { exchangesOf, fieldsOf, replay } from './replay.ts'
import { FakeNode, Rig, simple } from './rig.ts'
import { ask, idsOf, masterOf, running } from './running.ts'

const { ApplicationsRequestScopeProto, YarnApplicationStateProto } = hadoop.yarn

test('the yarn commands find every field that they found on Hadoop', async () => {
  const rig = new Rig({}, 1796129716650)
  const node = new FakeNode(rig, nodeId('localhost', 28041), { memoryMb: 8192, vcores: 8 })
  node.register({ httpPort: 28042 })
  node.heartbeat()
  // The third application of the capture runs with its master and one container; the first has finished.
  const first = await running(rig, node, { applicationName: 'DistributedShell' })
  first.master.finishApplicationMaster({})
  node.complete(masterOf(first.attempt))
  node.heartbeat()
  rig.newId()
  const third = await running(rig, node, { applicationName: 'DistributedShell' })
  node.running.add(idsOf(third.allocate({ ask: [ask(1)] }))[0]!)
  node.heartbeat()
  const { commands } = fixture<{ commands: { frames: object[] }[] }>('vectors/capture-rm-cli.json')
  const different: string[] = []
  let count = 0
  for (const { frames } of commands) {
    if (frames.some((frame) => JSON.stringify(frame).includes('Administration'))) continue
    for (const exchange of exchangesOf(frames)) {
      count++
      const ours = await replay(rig.core.client.handlers, exchange, simple('alice'))
      const expected = fieldsOf(applicationClient.methods, exchange.method, exchange.answer)
      const actual = fieldsOf(applicationClient.methods, exchange.method, ours)
      const missing = expected.filter((path) => !actual.includes(path))
      const added = actual.filter((path) => !expected.includes(path))
      if (missing.length + added.length > 0)
        different.push(`${exchange.method}: without ${missing.join(', ')}; with ${added.join(', ')}`)
    }
  }
  assert.ok(count > 15)
  assert.deepEqual(different, [])
})

test('an id is counted up, and one that a client made up is passed over', () => {
  const rig = new Rig()
  const first = rig.newId()
  const second = first.replace('_0001', '_0002') as typeof first
  rig.submit({ queue: 'nope' }, 'alice', second)
  assert.equal(applicationIdToProto(rig.newId()).id, 3)
  const wrong = { applicationId: { id: -1, clusterTimestamp: 1 } }
  assert.throws(() => rig.submit(wrong), {
    className: JavaClass.YARN,
    message: 'Invalid ApplicationId: application_1_00-1',
  })
})

test('an application that is submitted again is left as it is', () => {
  const rig = new Rig()
  const id = rig.submit({ applicationName: 'one' })
  rig.submit({ applicationName: 'two' }, 'bob', id)
  assert.equal(rig.report(id).name, 'one')
  assert.equal(rig.report(id).user, 'alice')
})

test('what an application leaves out has the defaults of Hadoop', () => {
  const rig = new Rig()
  const id = rig.submit({ applicationName: null, applicationType: 'a type with a long name', queue: 'root.default' })
  const { name, queue, applicationType, host, rpcPort, originalTrackingUrl } = rig.report(id)
  assert.deepEqual(
    { name, queue, applicationType, host, rpcPort, originalTrackingUrl },
    {
      name: 'N/A',
      queue: 'root.default',
      applicationType: 'a type with a long n',
      host: 'N/A',
      rpcPort: -1,
      originalTrackingUrl: 'N/A',
    },
  )
})

test('the size of a master may be plain, as older clients send it, and is normalised', async () => {
  const rig = new Rig()
  rig.addNode()
  rig.submit({ amContainerResourceRequest: [], resource: { memory: 300, virtualCores: 1 } })
  await rig.settle()
  const container = rig.core.scheduler.findContainer(rig.lastStarted)
  assert.deepEqual(container?.fields.resource, { memoryMb: 512, vcores: 1 })
})

test('a master may be asked for on a host', async () => {
  const rig = new Rig()
  rig.addNode('node1')
  rig.addNode('node2', 1024)
  const capability = resourceToProto({ memoryMb: 512, vcores: 1 })
  rig.submit({
    amContainerResourceRequest: [
      { resourceName: 'node2', numContainers: 7 },
      { resourceName: '/default-rack', numContainers: 7 },
      { resourceName: '*', numContainers: 7, capability },
    ],
  })
  await rig.settle()
  assert.equal(rig.core.scheduler.findContainer(rig.lastStarted)?.fields.nodeId, 'node2:1234')
  assert.equal(rig.core.scheduler.pendingCount, 0)
})

test('submissions that cannot be are refused', () => {
  const rig = new Rig()
  const capability = resourceToProto({ memoryMb: 512, vcores: 1 })
  const className = JavaClass.INVALID_RESOURCE_REQUEST
  assert.throws(() => rig.submit({ amContainerResourceRequest: [{ resourceName: 'node1', capability }] }), {
    className,
    message: 'Invalid resource request, no resource request specified with *',
  })
  const anywhere = { resourceName: '*', capability }
  assert.throws(() => rig.submit({ amContainerResourceRequest: [anywhere, anywhere] }), {
    className,
    message: 'Invalid resource request, only one resource request with * is allowed',
  })
  assert.throws(() => rig.submit({ amContainerResourceRequest: [] }), {
    className,
    message: 'Invalid resource request, no resources requested',
  })
  assert.throws(() => rig.submit({ amContainerResourceRequest: [{ ...anywhere, nodeLabelExpression: 'gpu' }] }), {
    className: JavaClass.INVALID_LABEL_REQUEST,
  })
  const gpu = resourceToProto({ memoryMb: 512, vcores: 1, others: { 'yarn.io/gpu': { units: '', value: 2 } } })
  assert.throws(() => rig.submit({ amContainerResourceRequest: [{ ...anywhere, capability: gpu }] }), {
    className,
    message: /resource type=\[yarn.io\/gpu\] is not one that the embedded ResourceManager schedules/,
  })
  assert.throws(() => rig.submit({ applicationTags: Array.from({ length: 11 }, (_, n) => `t${n}`) }), {
    className: JavaClass.YARN,
    message: 'java.lang.IllegalArgumentException: Too many applicationTags, a maximum of only 10 are allowed!',
  })
  assert.throws(() => rig.submit({ applicationTags: ['ü'] }), /can only have ASCII characters/)
  assert.throws(
    () =>
      rig.submit({
        applicationTimeouts: [
          { applicationTimeoutType: hadoop.yarn.ApplicationTimeoutTypeProto.APP_TIMEOUT_LIFETIME, timeout: 0 },
        ],
      }),
    /it must be a positive number of seconds/,
  )
  assert.deepEqual(rig.client().getApplications({}).applications, [])
})

test('a kill says who and why', () => {
  const rig = new Rig()
  const id = rig.submit()
  rig.client('bob').forceKillApplication({ applicationId: applicationIdToProto(id), diagnostics: ' enough ' })
  assert.equal(
    rig.report(id).diagnostics,
    `Application ${id} was killed by user bob at 127.0.0.1 with diagnostic message: enough`,
  )
})

test('why a master waits is said', async () => {
  const rig = new Rig()
  const id = rig.submit()
  assert.equal(
    rig.report(id).diagnostics,
    `[${javaDate(rig.clock.now())}] Application is Activated, waiting for resources to be assigned for AM. ` +
      'Details : AM Resource Request = <memory:512, vCores:1> ; ',
  )
  rig.addNode()
  assert.match(rig.report(id).diagnostics ?? '', /Scheduler has assigned a container for AM, waiting for AM container/)
  await rig.settle()
  assert.equal(rig.report(id).diagnostics, 'AM container is launched, waiting for AM container to Register with RM')
})

test('applications are listed by state, user, type, tag, queue, name, time and number', async () => {
  const rig = new Rig()
  const one = rig.submit({ applicationType: 'MAPREDUCE', applicationTags: ['x'], applicationName: 'one' })
  await rig.clock.advance(1000)
  const two = rig.submit({}, 'bob')
  rig.client().forceKillApplication({ applicationId: applicationIdToProto(two) })
  const later = rig.clock.now()
  const list = (filter: hadoop.yarn.GetApplicationsRequestProto.$Properties, user = 'alice') =>
    rig
      .client(user)
      .getApplications(filter)
      .applications.map(({ applicationId }) => applicationIdFromProto(applicationId))
  assert.deepEqual(list({}), [one, two])
  assert.deepEqual(list({ limit: 1 }), [one])
  assert.deepEqual(list({ applicationTypes: ['mapreduce'] }), [one])
  assert.deepEqual(list({ applicationStates: [YarnApplicationStateProto.KILLED] }), [two])
  assert.deepEqual(list({ users: ['bob'] }), [two])
  assert.deepEqual(list({ queues: ['default'], applicationTags: ['x', 'y'] }), [one])
  assert.deepEqual(list({ queues: ['other'] }), [])
  assert.deepEqual(list({ name: 'one' }), [one])
  assert.deepEqual(list({ startBegin: later }), [two])
  assert.deepEqual(list({ finishBegin: 0, finishEnd: 5 }), [one])
  assert.deepEqual(list({ scope: ApplicationsRequestScopeProto.OWN }, 'bob'), [two])
})
