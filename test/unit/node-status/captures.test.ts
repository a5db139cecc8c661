/** What a Java NodeManager has sent, built again from the same state of the node, byte for byte. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import type { ContainerStateName, ContainerView } from '../../../src/containers/container-view.ts'
import { applicationIdFromProto, applicationOfContainer, containerIdFromProto } from '../../../src/protocol/ids.ts'
import { nodeIdFromProto } from '../../../src/protocol/ids.ts'
import { encode, hadoop, toNumber } from '../../../src/protocol/messages.ts'
import { resourceFromProto } from '../../../src/protocol/resource.ts'
import { resourceTracker } from '../../../src/protocol/resource-tracker.ts'
import { CompletedContainers } from '../../../src/node-status/completed-containers.ts'
import { Heartbeat } from '../../../src/node-status/heartbeat.ts'
import { KeepAlive } from '../../../src/node-status/keep-alive.ts'
import { registrationRequest } from '../../../src/node-status/register.ts'
import { FakeClock } from '../../helpers/fake-clock.ts'
import { fixture } from '../../helpers/fixtures.ts'
import { FakeNode, container, type HeartbeatRequest, type RegisterRequest } from './scripted.ts'

type NodeStatus = hadoop.yarn.NodeStatusProto.$Properties

interface Frame {
  readonly direction: string
  readonly callId: number
  readonly frameHex: string
  readonly requestHeader?: { readonly methodName: string }
}

const CAPTURES = ['capture-resourcetracker', 'capture-resync-and-keyroll']

function requests(capture: string): { name: string; method: string; bytes: Buffer }[] {
  const parsed = fixture<{ frames?: Frame[]; connections?: { frames: Frame[] }[] }>(`vectors/${capture}.json`)
  return (parsed.connections ?? [{ frames: parsed.frames ?? [] }])
    .flatMap((connection) => connection.frames)
    .filter((frame) => frame.requestHeader !== undefined)
    .map((frame) => ({
      name: `${capture} call ${frame.callId}`,
      method: frame.requestHeader?.methodName ?? '',
      bytes: lastOfThree(Buffer.from(frame.frameHex, 'hex').subarray(4)),
    }))
}

/** RPC header, request header, message: each behind its length as a varint. */
function lastOfThree(frame: Buffer): Buffer {
  let rest = frame
  for (let part = 0; ; part++) {
    let length = 0
    let used = 0
    for (let byte = 0x80; byte >= 0x80; used++) {
      byte = rest[used] ?? 0
      length += (byte & 0x7f) * 2 ** (7 * used)
    }
    if (part === 2) return rest.subarray(used, used + length)
    rest = rest.subarray(used + length)
  }
}

const { ContainerSubStateProto, ExecutionTypeProto } = hadoop.yarn
const STATES: Readonly<Record<number, ContainerStateName>> = {
  [ContainerSubStateProto.CSS_SCHEDULED]: 'LOCALIZING',
  [ContainerSubStateProto.CSS_RUNNING]: 'RUNNING',
  [ContainerSubStateProto.CSS_COMPLETING]: 'EXITED_WITH_FAILURE',
  [ContainerSubStateProto.CSS_DONE]: 'DONE',
}

/** A node in the state that the captured status describes. */
function nodeLike(status: NodeStatus | null | undefined, register?: RegisterRequest) {
  const clock = new FakeClock()
  const node = new FakeNode()
  node.apps.clear()
  for (const proto of status?.containersStatuses ?? []) {
    const id = containerIdFromProto(proto.containerId)
    const attribute = (key: string) => proto.containerAttributes?.find((entry) => entry.key === key)?.value ?? undefined
    const registered = register?.containerStatuses?.find((other) => containerIdFromProto(other.containerId) === id)
    const view: Partial<ContainerView> = {
      id,
      applicationId: applicationOfContainer(id),
      state: STATES[proto.containerSubState ?? 0] ?? 'NEW',
      exitStatus: proto.exitStatus ?? -1000,
      diagnostics: proto.diagnostics ?? '',
      resource: resourceFromProto(proto.capability),
      executionType: proto.executionType === ExecutionTypeProto.OPPORTUNISTIC ? 'OPPORTUNISTIC' : 'GUARANTEED',
      host: attribute('HOST'),
      ips: attribute('IPS')?.split(',') ?? [],
      creationTime: toNumber(registered?.creationTime, 0),
      allocationRequestId: toNumber(registered?.allocationRequestId, -1),
    }
    node.put(container(0, view))
    node.setApp(applicationOfContainer(id), 'RUNNING')
  }
  for (const app of register?.runningApplications ?? []) node.setApp(applicationIdFromProto(app), 'RUNNING')
  const completed = new CompletedContainers({
    containers: node,
    store: { removeContainer: async () => {} },
    trackStoppedContainersMs: 600_000,
    clock,
    log: silentLog,
  })
  const keepAlive = new KeepAlive({
    containers: node,
    isEnabled: false,
    livenessExpiryMs: 1,
    clock,
    random: Math.random,
  })
  const utilization = (proto: hadoop.yarn.ResourceUtilizationProto.$Properties | null | undefined) => () => ({
    pmemMb: proto?.pmem ?? 0,
    vmemMb: proto?.vmem ?? 0,
    vcores: proto?.cpu ?? 0,
  })
  const health = status?.nodeHealthStatus
  const report = {
    nodeId: () => nodeIdFromProto(status?.nodeId),
    health: () => ({
      isHealthy: health?.isNodeHealthy ?? false,
      report: health?.healthReport ?? '',
      lastReportTime: toNumber(health?.lastHealthReportTime, 0),
    }),
    containersUtilization: utilization(status?.containersUtilization),
    nodeUtilization: utilization(status?.nodeUtilization),
  }
  return { node, parts: { report, completed, keepAlive } }
}

function builtHeartbeat(captured: HeartbeatRequest): Buffer {
  const { node, parts } = nodeLike(captured.nodeStatus)
  const heartbeat = new Heartbeat({
    ...parts,
    containers: node,
    credentials: { systemCredentials: () => {} },
    log: silentLog,
    onMasterKeys: () => {},
    onResource: () => {},
  })
  heartbeat.restart({
    containerToken: captured.lastKnownContainerTokenMasterKey ?? undefined,
    nmToken: captured.lastKnownNmTokenMasterKey ?? undefined,
  })
  heartbeat.handle({
    responseId: captured.nodeStatus?.responseId ?? 0,
    tokenSequenceNo: toNumber(captured.tokenSequenceNo, 0),
  })
  return encode(resourceTracker.methods.nodeHeartbeat.request, heartbeat.request())
}

function builtRegistration(captured: RegisterRequest): Buffer {
  const { node, parts } = nodeLike(captured.nodeStatus, captured)
  const request = registrationRequest({
    ...parts,
    containers: node,
    httpPort: captured.httpPort ?? 0,
    resource: resourceFromProto(captured.resource),
    physicalResource: resourceFromProto(captured.physicalResource),
    hadoopVersion: captured.nmVersion ?? '',
  })
  return encode(resourceTracker.methods.registerNodeManager.request, request)
}

for (const capture of CAPTURES) {
  const all = requests(capture)
  test(`the requests of ${capture} are built as Java has built them`, () => {
    const seen = { registerNodeManager: 0, nodeHeartbeat: 0 }
    for (const { name, method, bytes } of all) {
      if (method === 'nodeHeartbeat') {
        const codec = resourceTracker.methods.nodeHeartbeat.request
        const captured: HeartbeatRequest = codec.decode(bytes)
        // Containers that were made larger while they ran are not reported yet.
        if (captured.nodeStatus) captured.nodeStatus.increasedContainers = []
        const built = builtHeartbeat(captured)
        assert.deepEqual(codec.decode(built), captured, name)
        assert.equal(built.toString('hex'), encode(codec, captured).toString('hex'), name)
        seen.nodeHeartbeat++
      } else if (method === 'registerNodeManager') {
        const codec = resourceTracker.methods.registerNodeManager.request
        const captured: RegisterRequest = codec.decode(bytes)
        const built = builtRegistration(captured)
        assert.deepEqual(codec.decode(built), captured, name)
        assert.equal(built.toString('hex'), bytes.toString('hex'), name)
        seen.registerNodeManager++
      }
    }
    assert.ok(seen.registerNodeManager > 0 && seen.nodeHeartbeat > 2, JSON.stringify(seen))
  })
}
