import assert from 'node:assert/strict'
import { test } from 'node:test'
import { containerIdFromProto } from '../../../src/protocol/ids.ts'
import { encode, hadoop } from '../../../src/protocol/messages.ts'
import { settle } from '../../helpers/fake-clock.ts'
import { fixture } from '../../helpers/fixtures.ts'
import { attempt, TestNode } from './node.ts'

interface Capture {
  calls: {
    request: { frameHex: string; requestHeader: { methodName: string } }
    response: { frameHex: string; header: { status: string; exceptionClassName?: string; errorMsg?: string } }
  }[]
}
interface Keys {
  containerTokenMasterKey: { keyId: number; hex: string }
}

const { calls } = fixture<Capture>('vectors/capture-container-management.json')
const { containerTokenMasterKey } = fixture<Keys>('vectors/capture-startcontainers-am.json')

/** The last message of a frame: what is asked or answered. */
function lastMessage(frameHex: string): Buffer {
  let rest = Buffer.from(frameHex, 'hex').subarray(4)
  for (;;) {
    let length = 0
    let at = 0
    for (let shift = 0; ; shift += 7) {
      const byte = rest[at++] ?? 0
      length += (byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    const next = rest.subarray(at + length)
    if (next.length === 0) return rest.subarray(at)
    rest = next
  }
}

/** A node as the captured one: same keys, same registration, at the time of the capture. */
function capturedNode(): TestNode {
  const node = new TestNode()
  const { keyId, hex } = containerTokenMasterKey
  return node.register({ ...node.rmKeys(), container: { keyId, bytes: Buffer.from(hex, 'hex') } })
}

const starts = hadoop.yarn.StartContainersRequestProto
const startRequest = (index: number) => starts.decode(lastMessage(calls[index]!.request.frameHex))

/** Without the lines of the stack, which are Java's own. */
function withoutStack(exception: hadoop.yarn.SerializedExceptionProto.$Properties | null | undefined) {
  return [exception?.className, exception?.message, exception?.trace?.split('\n')[0]]
}

test("a real client's start is accepted, and its repetition with another token refused with Java's words", async () => {
  const node = capturedNode()
  const request = startRequest(3)
  const first = await node.start(request.startContainerRequest)
  assert.equal(first.succeededRequests?.length, 1)
  // In the capture it is the same container with another expiry time.
  for (const { spec } of node.node.containers) node.tokens.container.forgetStarted(spec.token)
  const second = await node.start(request.startContainerRequest)
  const java = hadoop.yarn.StartContainersResponseProto.decode(lastMessage(calls[3]!.response.frameHex))
  assert.deepEqual(second.servicesMetaData, [{ key: 'mapreduce_shuffle', value: Buffer.from([0, 0, 0x9e, 0x72]) }])
  assert.equal(second.failedRequests?.length, 1)
  assert.deepEqual(withoutStack(second.failedRequests?.[0]?.exception), withoutStack(java.failedRequests[0]?.exception))
})

for (const index of [4, 5]) {
  const { header } = calls[index]!.response
  test(`a real client's start fails the call as in Java: ${header.errorMsg?.split('\n')[0]}`, async () => {
    const node = capturedNode()
    await assert.rejects(node.start(startRequest(index).startContainerRequest), {
      className: header.exceptionClassName,
      message: header.errorMsg?.split('\n')[0],
    })
  })
}

test("the statuses of a running, an unknown and a foreign container are answered with Java's words", async () => {
  const node = capturedNode()
  await node.start(startRequest(3).startContainerRequest)
  await settle()
  const request = hadoop.yarn.GetContainerStatusesRequestProto.decode(lastMessage(calls[6]!.request.frameHex))
  const answer = await node.manager.handlers().getContainerStatuses!(request, node.caller(attempt))
  const java = hadoop.yarn.GetContainerStatusesResponseProto.decode(lastMessage(calls[6]!.response.frameHex))
  const { ContainerStatusProto } = hadoop.yarn
  assert.deepEqual(
    answer.status?.map((status) => encode(ContainerStatusProto, status).toString('hex')),
    java.status.map((status) => encode(ContainerStatusProto, status).toString('hex')),
  )
  assert.deepEqual(
    answer.failedRequests?.map(({ exception }) => withoutStack(exception)),
    java.failedRequests.map(({ exception }) => withoutStack(exception)),
  )
})

test("the stop of an unknown, a foreign and a stopped container is answered with Java's words", async () => {
  const node = capturedNode()
  const request = hadoop.yarn.StopContainersRequestProto.decode(lastMessage(calls[7]!.request.frameHex))
  node.recentlyStopped.add(containerIdFromProto(request.containerId[2]))
  const answer = await node.manager.handlers().stopContainers!(request, node.caller(attempt))
  const java = hadoop.yarn.StopContainersResponseProto.decode(lastMessage(calls[7]!.response.frameHex))
  assert.deepEqual(
    answer.succeededRequests?.map(containerIdFromProto),
    java.succeededRequests.map(containerIdFromProto),
  )
  assert.deepEqual(
    answer.failedRequests?.map(({ exception }) => withoutStack(exception)),
    java.failedRequests.map(({ exception }) => withoutStack(exception)),
  )
})
