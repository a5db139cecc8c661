import assert from 'node:assert/strict'
import { test } from 'node:test'
import Long from 'long'
import {
  applicationIdFromProto,
  applicationIdToProto,
  applicationOfAttempt,
  applicationOfContainer,
  attemptIdFromProto,
  attemptIdToProto,
  attemptOfContainer,
  containerIdFromProto,
  containerIdToProto,
  nodeIdFromProto,
  nodeIdToProto,
  parseApplicationId,
  parseAttemptId,
  parseContainerId,
} from '../../../src/protocol/ids.ts'
import { encode, hadoop } from '../../../src/protocol/messages.ts'
import { resourceFromProto, resourceText, resourceToProto } from '../../../src/protocol/resource.ts'
import { fixture } from '../../helpers/fixtures.ts'

interface Vectors {
  readonly containerIds: readonly {
    readonly clusterTimestamp: string
    readonly appId: number
    readonly attemptId: number
    readonly id: string
    readonly string: string
    readonly app: string
    readonly attempt: string
  }[]
  readonly resources: readonly {
    readonly memoryMb: number
    readonly vcores: number
    readonly string: string
    readonly protoHex: string
  }[]
}

const vectors = fixture<Vectors>('vectors/ids-and-resources.json')
const { yarn } = hadoop

test('ids have the text of Hadoop, and are read from messages and written back', () => {
  for (const { clusterTimestamp, appId, attemptId, id, string, app, attempt } of vectors.containerIds) {
    const bytes = encode(yarn.ContainerIdProto, {
      appAttemptId: { applicationId: { id: appId, clusterTimestamp: Long.fromString(clusterTimestamp) }, attemptId },
      id: Long.fromString(id),
    })
    const proto = yarn.ContainerIdProto.decode(bytes)
    const container = containerIdFromProto(proto)
    assert.equal(container, string)
    assert.equal(attemptIdFromProto(proto.appAttemptId), attempt)
    assert.equal(applicationIdFromProto(proto.appAttemptId?.applicationId), app)
    assert.deepEqual(encode(yarn.ContainerIdProto, containerIdToProto(container)), bytes)
  }
})

test('ids are parsed, and lead from a container to its attempt and application', () => {
  for (const { string, app, attempt } of vectors.containerIds) {
    const container = parseContainerId(string)
    assert.equal(container, string)
    assert.equal(attemptOfContainer(container), parseAttemptId(attempt))
    assert.equal(applicationOfContainer(container), parseApplicationId(app))
    assert.equal(applicationOfAttempt(parseAttemptId(attempt)), app)
    assert.equal(applicationIdFromProto(applicationIdToProto(parseApplicationId(app))), app)
    assert.equal(attemptIdFromProto(attemptIdToProto(parseAttemptId(attempt))), attempt)
  }
  assert.equal(nodeIdFromProto(nodeIdToProto(nodeIdFromProto({ host: 'n1', port: 45454 }))), 'n1:45454')
})

test('a text that is no id is refused with the text', () => {
  for (const text of ['', 'container_1', 'container_x_1_1_1', 'container_1_1_1_1_1_1', '../container_1_1_01_000001']) {
    assert.throws(() => parseContainerId(text), { code: 'ERR_BAD_ID', message: `Invalid ContainerId: ${text}` })
  }
  assert.throws(() => parseApplicationId('application_1'), { code: 'ERR_BAD_ID' })
  assert.throws(() => parseAttemptId('appattempt_1_1'), { code: 'ERR_BAD_ID' })
  assert.throws(() => parseApplicationId('application_99999999999999999999_0001'), { code: 'ERR_BAD_ID' })
})

test('a resource has the bytes and the text of Hadoop', () => {
  for (const { memoryMb, vcores, string, protoHex } of vectors.resources) {
    assert.equal(encode(yarn.ResourceProto, resourceToProto({ memoryMb, vcores })).toString('hex'), protoHex)
    assert.deepEqual(resourceFromProto(yarn.ResourceProto.decode(Buffer.from(protoHex, 'hex'))), { memoryMb, vcores })
    assert.equal(resourceText({ memoryMb, vcores }), string)
  }
})

test('a resource without the map is read from its plain fields, and other types are kept', () => {
  assert.deepEqual(resourceFromProto({ memory: 2048, virtualCores: 2 }), { memoryMb: 2048, vcores: 2 })
  assert.deepEqual(resourceFromProto(undefined), { memoryMb: 0, vcores: 0 })
  const gpus = { memoryMb: 1, vcores: 1, others: { 'yarn.io/gpu': { units: '', value: 4 } } }
  const bytes = encode(yarn.ResourceProto, resourceToProto(gpus))
  assert.deepEqual(resourceFromProto(yarn.ResourceProto.decode(bytes)), gpus)
  assert.equal(resourceText(gpus), '<memory:1, vCores:1, yarn.io/gpu: 4>')
})
