import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toContainerStatus, toNMContainerStatus } from '../../../src/containers/container-status.ts'
import {
  CONTAINER_STATES,
  type ContainerStateName,
  type ContainerView,
} from '../../../src/containers/container-view.ts'
import type { ApplicationId, ContainerId } from '../../../src/protocol/ids.ts'
import { encode, hadoop } from '../../../src/protocol/messages.ts'
import { fixture } from '../../helpers/fixtures.ts'

const { ContainerStateProto, ContainerStatusProto, ContainerSubStateProto, NMContainerStatusProto } = hadoop.yarn

interface Frames {
  connections?: { frames: Frame[] }[]
  calls?: { request: Frame; response: Frame }[]
}
interface Frame {
  frameHex: string
}

const container: ContainerView = {
  id: 'container_1796121941544_0001_01_000002' as ContainerId,
  applicationId: 'application_1796121941544_0001' as ApplicationId,
  user: 'root',
  state: 'SCHEDULED',
  exitStatus: -1000,
  diagnostics: '',
  resource: { memoryMb: 1024, vcores: 1 },
  priority: 0,
  creationTime: 1796122432472,
  nodeLabelExpression: '',
  executionType: 'GUARANTEED',
  version: 0,
  allocationRequestId: 0,
  allocationTags: [],
  pid: undefined,
  host: undefined,
  ips: [],
}

/** Whether the bytes of the message stand in a frame that a Java node has sent. */
function isInCapture(name: string, message: Buffer): boolean {
  const { connections = [], calls = [] } = fixture<Frames>(`vectors/${name}`)
  const frames = [
    ...connections.flatMap(({ frames }) => frames),
    ...calls.flatMap(({ request, response }) => [request, response]),
  ]
  return frames.some(({ frameHex }) => frameHex.includes(message.toString('hex')))
}

test('the status of a container that is not launched yet is, to the byte, what a Java node answers', () => {
  const bytes = encode(ContainerStatusProto, toContainerStatus(container))
  assert.ok(isInCapture('capture-container-management.json', bytes))
})

test('a registration tells of a running container what a Java node tells, to the byte', () => {
  const captured = {
    ...container,
    id: 'container_1796122406501_0001_01_000002' as ContainerId,
    state: 'RUNNING',
  } as const
  const frames = fixture<{ connections: { frames: { message?: { container_statuses?: Captured[] } }[] }[] }>(
    'vectors/capture-resync-and-keyroll.json',
  ).connections.flatMap(({ frames }) => frames)
  const statuses = frames.flatMap(({ message }) => message?.container_statuses ?? [])
  const status = statuses.find(({ container_id }) => container_id.id === '2')
  assert.ok(status)
  const bytes = encode(
    NMContainerStatusProto,
    toNMContainerStatus({
      ...captured,
      creationTime: Number(status.creation_time),
      resource: { memoryMb: Number(status.resource.memory), vcores: status.resource.virtual_cores },
      priority: status.priority.priority,
      allocationRequestId: Number(status.allocation_request_id),
    }),
  )
  assert.ok(isInCapture('capture-resync-and-keyroll.json', bytes))
})

interface Captured {
  container_id: { id: string }
  creation_time: string
  resource: { memory: string; virtual_cores: number }
  priority: { priority: number }
  allocation_request_id: string
}

test('host and addresses are attributes once they are known', () => {
  const status = toContainerStatus({ ...container, state: 'RUNNING', host: 'vm', ips: ['127.0.0.1', '::1'] })
  assert.deepEqual(status.containerAttributes, [
    { key: 'HOST', value: 'vm' },
    { key: 'IPS', value: '127.0.0.1,::1' },
  ])
})

test('each state has the state and sub-state that masters know', () => {
  const expected: { [S in ContainerStateName]: string } = {
    NEW: 'SCHEDULED',
    LOCALIZING: 'SCHEDULED',
    SCHEDULED: 'SCHEDULED',
    REINITIALIZING_AWAITING_KILL: 'SCHEDULED',
    RELAUNCHING: 'SCHEDULED',
    RUNNING: 'RUNNING',
    REINITIALIZING: 'RUNNING',
    PAUSING: 'RUNNING',
    KILLING: 'RUNNING',
    PAUSED: 'PAUSED',
    RESUMING: 'PAUSED',
    LOCALIZATION_FAILED: 'COMPLETING',
    EXITED_WITH_SUCCESS: 'COMPLETING',
    EXITED_WITH_FAILURE: 'COMPLETING',
    CONTAINER_CLEANEDUP_AFTER_KILL: 'COMPLETING',
    CONTAINER_RESOURCES_CLEANINGUP: 'COMPLETING',
    DONE: 'DONE',
  }
  for (const state of CONTAINER_STATES) {
    const status = toContainerStatus({ ...container, state })
    assert.equal(ContainerSubStateProto[status.containerSubState ?? 0], `CSS_${expected[state]}`, state)
    const wire = state === 'DONE' ? ContainerStateProto.C_COMPLETE : ContainerStateProto.C_RUNNING
    assert.equal(status.state, wire, state)
    assert.equal(toNMContainerStatus({ ...container, state }).containerState, wire, state)
  }
})
