import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { ApplicationId, ContainerId } from '../../../src/protocol/ids.ts'
import { applicationIdToProto } from '../../../src/protocol/ids.ts'
import type { NodeStateStore } from '../../../src/recovery/store.ts'

const application = 'application_1796121941544_0001' as ApplicationId
const container = 'container_1796121941544_0001_01_000001' as ContainerId
const start = { containerId: container, version: 0, startTime: 1796122011800, request: Buffer.from('request') }
const record = { id: applicationIdToProto(application), user: 'alice', credentials: Buffer.from('HDTS') }

/** What holds for every NodeStateStore. @param create opens an empty store */
export function storeContract(name: string, create: () => Promise<NodeStateStore>): void {
  test(`${name}: a container's life is stored step by step and removed`, async () => {
    const store = await create()
    await store.storeApplication(application, record)
    await store.storeContainer(start)
    await store.storeContainerQueued(container)
    await store.storeContainerLaunched(container)
    await store.storeContainerDiagnostics(container, '[2026-12-01 10:00:00.000]Container killed\n')
    await store.storeContainerKilled(container)
    await store.storeContainerCompleted(container, 143)
    await store.removeContainer(container)
    await store.removeApplication(application)
  })

  test(`${name}: a record is stored again, and removed when it is not there, without an error`, async () => {
    const store = await create()
    await store.storeApplication(application, record)
    await store.storeApplication(application, { ...record, appLogAggregationInitedTime: 1796122011900 })
    await store.storeContainerDiagnostics(container, 'one')
    await store.storeContainerDiagnostics(container, 'two')
    await store.removeContainer(container)
    await store.removeContainer(container)
    await store.removeApplication(application)
    await store.removeApplication(application)
  })

  test(`${name}: writes that are under way at once all come to an end`, async () => {
    const store = await create()
    const ids = Array.from({ length: 100 }, (_, n) => `container_1796121941544_0001_01_${100000 + n}` as ContainerId)
    const writes = ids.flatMap((containerId) => [
      store.storeContainer({ ...start, containerId }),
      store.storeContainerQueued(containerId),
      store.removeContainer(containerId),
    ])
    assert.equal((await Promise.all(writes)).length, 300)
  })
}
