import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { BobbinError } from '../../../src/base/errors.ts'
import { attemptId, applicationId, type ApplicationAttemptId } from '../../../src/protocol/ids.ts'
import { RemoteError } from '../../../src/protocol/remote-error.ts'
import { fitsIn } from '../../../src/rm/amounts.ts'
import { Rig } from './rig.ts'

const START = 1_700_000_000_000

/** Ids that mostly exist, and amounts that mostly make sense. */
const int = fc.oneof(fc.constantFrom(0, 1, 2, 3), fc.integer())
const application = fc.record({ id: int, clusterTimestamp: fc.constantFrom(START, 1, -1) })
const attempt = fc.record({ applicationId: application, attemptId: int })
const container = fc.record({ appAttemptId: attempt, id: int })
const resource = fc.option(fc.record({ memory: int, virtualCores: int }))
const name = fc.constantFrom('*', 'node1', '/default-rack', '', 'default', 'root')
const ask = fc.record({
  priority: fc.option(fc.record({ priority: int })),
  resourceName: fc.option(name),
  capability: resource,
  numContainers: fc.option(int),
  relaxLocality: fc.option(fc.boolean()),
  allocationRequestId: fc.option(int),
})
const node = fc.option(fc.record({ host: fc.constantFrom('node1', 'node2', ''), port: fc.constantFrom(1, 2, -1) }))
const status = fc.record({ containerId: container, state: fc.constantFrom(1, 2, 3), exitStatus: fc.option(int) })

type Call = (rig: Rig, master: ApplicationAttemptId) => unknown

const client: fc.Arbitrary<Call> = fc.oneof(
  fc
    .record({
      applicationId: fc.option(application),
      queue: fc.option(name),
      unmanagedAm: fc.option(fc.boolean()),
      maxAppAttempts: fc.option(int),
      resource,
      amContainerResourceRequest: fc.array(ask, { maxLength: 2 }),
    })
    .map(
      (context): Call =>
        (rig) =>
          rig.client().submitApplication({ applicationSubmissionContext: context }),
    ),
  fc.record({ applicationId: fc.option(application) }).chain((request) =>
    fc.constantFrom<Call[]>(
      (rig) => rig.client().getApplicationReport(request),
      (rig) => rig.client().forceKillApplication(request),
      (rig) => rig.client().getApplicationAttempts(request),
    ),
  ),
  fc.record({ applicationAttemptId: fc.option(attempt) }).chain((request) =>
    fc.constantFrom<Call[]>(
      (rig) => rig.client().getContainers(request),
      (rig) => rig.client().failApplicationAttempt(request),
    ),
  ),
  container.map(
    (containerId): Call =>
      (rig) =>
        rig.client().getContainerReport({ containerId }),
  ),
)
const tracker: fc.Arbitrary<Call> = fc.oneof(
  fc.record({ nodeId: node, resource, runningApplications: fc.array(application, { maxLength: 2 }) }).map(
    (request): Call =>
      (rig) =>
        rig.tracker.registerNodeManager(request),
  ),
  fc.record({ nodeId: node, responseId: int, containersStatuses: fc.array(status, { maxLength: 3 }) }).map(
    (nodeStatus): Call =>
      (rig) =>
        rig.tracker.nodeHeartbeat({ nodeStatus }),
  ),
  node.map(
    (nodeId): Call =>
      (rig) =>
        rig.tracker.unRegisterNodeManager({ nodeId }),
  ),
)
const master: fc.Arbitrary<Call> = fc.oneof(
  fc.constant<Call>((rig, id) => rig.master(id).registerApplicationMaster({})),
  fc
    .record({
      ask: fc.array(ask, { maxLength: 3 }),
      release: fc.array(container, { maxLength: 2 }),
      responseId: fc.constantFrom(0, 1, 2, 3),
      progress: fc.float(),
    })
    .map(
      (request): Call =>
        (rig, id) =>
          rig.master(id).allocate(request),
    ),
  fc.constant<Call>((rig, id) => rig.master(id).finishApplicationMaster({})),
)

test('whatever is called in whatever order, the answer is one or a refusal, and the books stay right', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(client, tracker, master), { maxLength: 40 }), async (calls) => {
      const rig = new Rig({}, START)
      rig.addNode('node1', 2048, 4)
      for (let n = 0; n < 2; n++) rig.submit({ unmanagedAm: n === 1 })
      for (const call of calls) {
        for (const number of [1, 2]) {
          try {
            call(rig, attemptId(applicationId(START, number), 1))
          } catch (error) {
            assert.ok(error instanceof RemoteError || error instanceof BobbinError, String(error))
          }
        }
        await rig.settle()
        for (const { used, total, id } of rig.core.nodes.active) assert.ok(fitsIn(used, total), id)
        rig.client().getApplications({})
        rig.client().getClusterNodes({})
        rig.client().getQueueInfo({ queueName: 'root', includeApplications: true, includeChildQueues: true })
      }
    }),
    { numRuns: 60 },
  )
})
