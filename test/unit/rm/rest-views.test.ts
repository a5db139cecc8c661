import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeId, type ApplicationId } from '../../../src/protocol/ids.ts'
import { resourceToProto } from '../../../src/protocol/resource.ts'
import {
  applicationInfo,
  applicationList,
  attemptList,
  clusterInfo,
  clusterMetrics,
  nodeInfo,
  nodeList,
  type RestContext,
} from '../../../src/rm/rest-views.ts'
import { fixture } from '../../helpers/fixtures.ts'
import { FakeNode, Rig, WEB } from './rig.ts'
import { ask, idsOf, running } from './running.ts'

const golden = fixture<{ json: { [request: string]: string } }>('vectors/capture-rm-rest.json').json

/** Each field's path and the kind of its value, without positions in lists. */
function shapeOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((one) => shapeOf(one, `${path}[]`)))]
  if (typeof value !== 'object' || value === null) return [`${path}: ${typeof value}`]
  const inside = Object.entries(value).flatMap(([name, field]) => shapeOf(field, `${path}.${name}`))
  return inside.length === 0 ? [`${path}: {}`] : inside
}

/** How an answer differs in shape from the one of Hadoop to the same request. */
function different(request: string, ours: object): { missing: string[]; added: string[] } {
  const text = golden[request]
  assert.notEqual(text, undefined, request)
  // Its parser keeps the last of the "entry" keys; ours is a list of them.
  const expected = shapeOf(JSON.parse(text!)).map((path) => path.replace('SecondsMap.entry.', 'SecondsMap.entry[].'))
  const actual = shapeOf(JSON.parse(JSON.stringify(ours)))
  return {
    missing: expected.filter((path) => !actual.includes(path)),
    added: actual.filter((path) => !expected.includes(path)),
  }
}

function contextOf(rig: Rig): RestContext {
  const { clusterTimestamp, applications, scheduler, nodes } = rig.core
  return {
    clusterTimestamp,
    hadoopVersion: '3.4.2',
    webUrl: WEB,
    now: rig.clock.now(),
    applications,
    scheduler,
    nodes,
  }
}

/** One application with its master and a task, on one node. */
async function busy(): Promise<{ rig: Rig; context: RestContext; node: FakeNode; id: ApplicationId }> {
  const rig = new Rig()
  const node = new FakeNode(rig, nodeId('localhost', 28041), { memoryMb: 8192, vcores: 8 })
  node.register({ physicalResource: resourceToProto({ memoryMb: 24105, vcores: 2 }) })
  node.heartbeat()
  const { id, allocate } = await running(rig, node, { applicationName: 'DistributedShell' })
  node.running.add(idsOf(allocate({ ask: [ask(1)] }))[0]!)
  node.heartbeat()
  await rig.clock.advance(10_000)
  return { rig, context: contextOf(rig), node, id }
}

const none = { missing: [], added: [] }

test('the cluster is described as by Hadoop', async () => {
  const { context } = await busy()
  assert.deepEqual(different('GET /ws/v1/cluster/info', clusterInfo(context)), {
    missing: ['.clusterInfo.resourceManagerVersionBuiltOn: string', '.clusterInfo.hadoopVersionBuiltOn: string'],
    added: [],
  })
  const { missing, added } = different('GET /ws/v1/cluster/metrics', clusterMetrics(context))
  assert.deepEqual(added, [])
  // What the Java scheduler measures of itself, and shares of use.
  assert.deepEqual(
    missing.map((path) => path.replace('.clusterMetrics.', '').replace(': number', '')),
    [
      'utilizedMB',
      'utilizedVirtualCores',
      'utilizedMBPercent',
      'utilizedVirtualCoresPercent',
      'rmSchedulerBusyPercent',
      'containerAssignedPerSecond',
      'rmEventQueueSize',
      'schedulerEventQueueSize',
    ],
  )
})

test('nodes are described as by Hadoop, with what is used and free', async () => {
  const { rig } = await busy()
  const [node] = rig.core.nodes.active
  assert.deepEqual(different('GET /ws/v1/cluster/nodes/localhost:28041', { node: nodeInfo(node!) }), none)
  const { usedMemoryMB, availMemoryMB, usedVirtualCores, numContainers, nodeHTTPAddress, cpuUtilization } = nodeInfo(
    node!,
  ) as Record<string, unknown>
  assert.deepEqual(
    { usedMemoryMB, availMemoryMB, usedVirtualCores, numContainers, nodeHTTPAddress, cpuUtilization },
    {
      usedMemoryMB: 768,
      availMemoryMB: 7424,
      usedVirtualCores: 2,
      numContainers: 2,
      nodeHTTPAddress: 'localhost:8042',
      cpuUtilization: 75,
    },
  )
})

test('a node that is lost shows no use and no address', async () => {
  const { rig } = await busy()
  await rig.clock.advance(1_000_000)
  assert.deepEqual(different('GET /ws/v1/cluster/nodes (node lost)', nodeList(rig.core.nodes.inactive)), none)
})

test('applications and their attempts are described as by Hadoop', async () => {
  const { context, id } = await busy()
  const application = context.applications.get(id)
  const request = 'GET /ws/v1/cluster/apps/application_1796129716650_0003'
  const { missing, added } = different(request, { app: applicationInfo(application, context) })
  assert.deepEqual(missing, [])
  assert.deepEqual(added, ['.app.amRPCAddress: string'], 'which a master with a port has')
  assert.deepEqual(different('GET /ws/v1/cluster/apps?states=RUNNING', applicationList([application], context)).added, [
    '.apps.app[].amRPCAddress: string',
  ])
  assert.deepEqual(different(`${request}/appattempts`, attemptList(application)), none)
  const { memorySeconds, vcoreSeconds, allocatedMB, runningContainers, progress, elapsedTime } = applicationInfo(
    application,
    context,
  ) as Record<string, unknown>
  assert.deepEqual(
    { memorySeconds, vcoreSeconds, allocatedMB, runningContainers, progress, elapsedTime },
    {
      memorySeconds: 7680,
      vcoreSeconds: 20,
      allocatedMB: 768,
      runningContainers: 2,
      progress: 0,
      elapsedTime: 10_000,
    },
  )
})

test('an empty list is null', () => {
  const context = contextOf(new Rig())
  assert.deepEqual(nodeList([]), { nodes: null })
  assert.deepEqual(applicationList([], context), { apps: null })
})
