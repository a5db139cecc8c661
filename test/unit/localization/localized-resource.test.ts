import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import { LocalizedResource, type Reference } from '../../../src/localization/localized-resource.ts'
import { parseResourceRequest } from '../../../src/localization/resource-request.ts'
import { containerId } from '../../../src/protocol/ids.ts'
import { FakeClock } from '../../helpers/fake-clock.ts'

const FILE = { path: '/l/filecache/10/a', sizeBytes: 7, sourceBytes: 7 }

function containerNo(sequence: number) {
  return containerId({ clusterTimestamp: 1, application: 1, attempt: 1, epoch: 0, sequence })
}

function reference(sequence: number, sizeBytes = -1): Reference {
  return {
    containerId: containerNo(sequence),
    resource: {},
    sizeBytes,
    credentials: Buffer.alloc(0),
    listener: { resourceLocalized: () => {}, resourceFailed: () => {} },
  }
}

function makeResource() {
  const calls: string[] = []
  const clock = new FakeClock()
  const id = ({ containerId }: Reference) => Number(containerId.slice(-2))
  const request = parseResourceRequest(
    { resource: { scheme: 'hdfs', host: 'nn', port: 1, file: '/a' }, timestamp: 5 },
    '',
  )
  const resource = new LocalizedResource(
    request,
    {
      fetch: (_resource, first) => calls.push(`fetch for ${id(first)}`),
      localized: (to, { path }, wasCached) => calls.push(`${id(to)} ${wasCached ? 'cached' : 'fetched'} ${path}`),
      failed: (to, diagnostics) => calls.push(`${id(to)} failed ${diagnostics}`),
    },
    clock,
    silentLog,
  )
  return { resource, calls, clock }
}

test('a first request fetches, a second one waits, and both hear of the end', () => {
  const { resource, calls } = makeResource()
  resource.send({ type: 'REQUEST', payload: reference(1) })
  resource.send({ type: 'REQUEST', payload: reference(2) })
  assert.equal(resource.state, 'DOWNLOADING')
  resource.send({ type: 'LOCALIZED', payload: FILE })
  assert.equal(resource.state, 'LOCALIZED')
  resource.send({ type: 'REQUEST', payload: reference(3) })
  assert.deepEqual(calls, ['fetch for 1', `1 fetched ${FILE.path}`, `2 fetched ${FILE.path}`, `3 cached ${FILE.path}`])
})

test('a failure is told to all who wait and ends the entry', () => {
  const { resource, calls } = makeResource()
  resource.send({ type: 'REQUEST', payload: reference(1) })
  resource.send({ type: 'REQUEST', payload: reference(2) })
  resource.send({ type: 'RELEASE', payload: containerNo(1) })
  resource.send({ type: 'LOCALIZATION_FAILED', payload: 'gone' })
  assert.equal(resource.state, 'FAILED')
  resource.send({ type: 'REQUEST', payload: reference(3) })
  assert.deepEqual(calls, ['fetch for 1', '2 failed gone'])
})

test('a recovered entry answers at once, without references of its own', () => {
  const { resource, calls } = makeResource()
  resource.send({ type: 'RECOVERED', payload: FILE })
  assert.equal(resource.state, 'LOCALIZED')
  assert.deepEqual(resource.references, [])
  resource.send({ type: 'REQUEST', payload: reference(1, 7) })
  resource.send({ type: 'REQUEST', payload: reference(2, 8) })
  assert.deepEqual(calls, [
    `1 cached ${FILE.path}`,
    '2 failed Resource hdfs://nn:1/a has another size on src filesystem - expected: 8, was: 7 bytes',
  ])
})

test('a size of 0 or −1 is taken for one that is not known', () => {
  const { resource, calls } = makeResource()
  resource.send({ type: 'REQUEST', payload: reference(1, 0) })
  resource.send({ type: 'REQUEST', payload: reference(2, -1) })
  resource.send({ type: 'LOCALIZED', payload: FILE })
  assert.deepEqual(calls.slice(1), [`1 fetched ${FILE.path}`, `2 fetched ${FILE.path}`])
})

test('its text is the one that Hadoop puts into diagnostics', async () => {
  const { resource, clock } = makeResource()
  await clock.advance(1.5)
  resource.send({ type: 'REQUEST', payload: reference(1) })
  resource.send({ type: 'REQUEST', payload: reference(2) })
  assert.equal(
    String(resource),
    `{ { hdfs://nn:1/a, 5, FILE, null },pending,[(${containerNo(1)})(${containerNo(2)})],0,DOWNLOADING}`,
  )
  resource.send({ type: 'LOCALIZED', payload: FILE })
  resource.send({ type: 'RELEASE', payload: containerNo(1) })
  assert.equal(
    String(resource),
    `{ { hdfs://nn:1/a, 5, FILE, null },/l/filecache/10/a,7,[(${containerNo(2)})],1500000,LOCALIZED}`,
  )
})
