import assert from 'node:assert/strict'
import { test } from 'node:test'
import { containerIdToProto } from '../../../src/protocol/ids.ts'
import { settle } from '../../helpers/fake-clock.ts'
import { APP, RESYNC, container, started } from './scripted.ts'

test('a completion brings the next heartbeat forward, and is reported in exactly one', async () => {
  const { rm, clock, node, updater } = await started()
  const id = node.put(container(1))
  await clock.advance(1000)
  assert.deepEqual(rm.statuses(), ['1:-1000'])
  node.finish(id, 7)
  updater.beatNow()
  await settle()
  assert.equal(rm.heartbeats.length, 3)
  assert.deepEqual(rm.statuses(), ['1:7'])
  await clock.advance(1000)
  assert.equal(rm.heartbeats.length, 4)
  assert.deepEqual(rm.statuses(), [])
  // It stays known until the ResourceManager has acknowledged it.
  assert.ok(node.findContainer(id))
  await updater.stop()
})

test('three completions at once bring heartbeats without a pause, and each is reported', async () => {
  const { rm, node, updater } = await started()
  const all = [1, 2, 3].map((sequence) => node.put(container(sequence)))
  let answer: () => void = () => {}
  rm.heartbeatScript.push(new Promise((resolve) => (answer = () => resolve(rm.next()))))
  for (const id of all) {
    node.finish(id)
    updater.beatNow()
    await settle()
  }
  // The first is on its way; the others wait for its answer, not for the interval.
  assert.equal(rm.heartbeats.length, 2)
  assert.deepEqual(rm.statuses(), ['2:-1000', '3:-1000', '1:0'])
  answer()
  await settle()
  assert.equal(rm.heartbeats.length, 3)
  assert.deepEqual(rm.statuses(), ['2:0', '3:0'])
  await updater.stop()
})

test('completions that arrive while a heartbeat is under way are reported by the next one', async () => {
  const { rm, node, updater } = await started()
  const [one, two] = [node.put(container(1)), node.put(container(2))]
  let answer: () => void = () => {}
  rm.heartbeatScript.push(new Promise((resolve) => (answer = () => resolve(rm.next()))))
  node.finish(one)
  updater.beatNow()
  await settle()
  node.finish(two)
  updater.beatNow()
  answer()
  await settle()
  assert.deepEqual([rm.statuses(-2), rm.statuses(-1)], [['2:-1000', '1:0'], ['2:0']])
  await updater.stop()
})

test('after a failed heartbeat a completion is reported again, and once more after the next answer', async () => {
  const { rm, clock, node, lines, updater } = await started()
  const id = node.put(container(1, { state: 'DONE', exitStatus: 0 }))
  rm.heartbeatScript.push(new Error('connection reset'))
  await clock.advance(1000)
  assert.deepEqual(rm.statuses(), ['1:0'])
  // The ResourceManager may have handled the lost one, and take this one for a duplicate.
  await clock.advance(1000)
  assert.deepEqual(rm.statuses(), ['1:0'])
  assert.ok(lines.includes('info skipped clearing pending completed containers due to missed heartbeat'))
  await clock.advance(1000)
  assert.deepEqual(rm.statuses(), ['1:0'])
  await clock.advance(1000)
  assert.deepEqual(rm.statuses(), [])
  assert.ok(node.findContainer(id))
  await updater.stop()
})

test('an acknowledgement takes a done container out of the table and out of what is pending', async () => {
  const { rm, clock, node, lines, updater } = await started()
  const id = node.put(container(1, { state: 'DONE' }))
  rm.heartbeatScript.push(new Error('lost'))
  rm.heartbeatScript.push(rm.next({ containersToBeRemovedFromNm: [containerIdToProto(id)] }))
  await clock.advance(2000)
  assert.equal(node.findContainer(id), undefined)
  assert.ok(lines.includes(`info Removed completed containers from NM context: [${id}]`))
  await clock.advance(1000)
  assert.deepEqual(rm.statuses(), [])
  assert.ok(updater.isRecentlyStopped(id))
  await updater.stop()
})

test('an acknowledgement that comes before the container is done is applied when it is', async () => {
  const { rm, clock, node, updater } = await started()
  const id = node.put(container(1, { state: 'KILLING' }))
  rm.heartbeatScript.push(rm.next({ containersToBeRemovedFromNm: [containerIdToProto(id)] }))
  await clock.advance(1000)
  assert.ok(node.findContainer(id))
  node.finish(id, -106)
  await clock.advance(1000)
  assert.deepEqual(rm.statuses(), ['1:-106'])
  assert.equal(node.findContainer(id), undefined)
  await updater.stop()
})

for (const state of ['FINISHING_CONTAINERS_WAIT', 'APPLICATION_RESOURCES_CLEANINGUP', 'FINISHED'] as const)
  test(`a done container of an application in ${state} is reported once more and needs no acknowledgement`, async () => {
    const { rm, clock, node, updater } = await started()
    const id = node.put(container(1, { state: 'DONE' }))
    await clock.advance(2000)
    assert.deepEqual(rm.statuses(), [])
    node.setApp(APP, state)
    await clock.advance(1000)
    assert.deepEqual(rm.statuses(), ['1:-1000'])
    assert.equal(node.findContainer(id), undefined)
    await clock.advance(1000)
    assert.deepEqual(rm.statuses(), [])
    await updater.stop()
  })

test('a stopped container is forgotten, and its record removed, after the tracked time and not before', async () => {
  const { clock, rm, node, removedFromStore, updater } = await started()
  const id = node.put(container(1, { state: 'DONE' }))
  rm.heartbeatScript.push(rm.next({ containersToBeRemovedFromNm: [containerIdToProto(id)] }))
  await clock.advance(1000)
  node.setApp(APP, 'FINISHED')
  await clock.advance(599_000)
  assert.ok(updater.isRecentlyStopped(id))
  assert.deepEqual(removedFromStore, [])
  await clock.advance(3000)
  assert.ok(!updater.isRecentlyStopped(id))
  assert.deepEqual(removedFromStore, [id])
  await updater.stop()
})

test('a stopped container stays known as long as it is in the table or its application runs', async () => {
  const { clock, rm, node, removedFromStore, updater } = await started()
  const id = node.put(container(1, { state: 'DONE' }))
  await clock.advance(700_000)
  assert.ok(updater.isRecentlyStopped(id))
  rm.heartbeatScript.push(rm.next({ containersToBeRemovedFromNm: [containerIdToProto(id)] }))
  await clock.advance(2000)
  assert.ok(updater.isRecentlyStopped(id))
  node.setApp(APP, 'FINISHED')
  await clock.advance(1000)
  assert.deepEqual(removedFromStore, [id])
  await updater.stop()
})

test('a RESYNC leaves the completions to the registration', async () => {
  const { rm, clock, node, updater } = await started()
  const id = node.put(container(1, { state: 'DONE', exitStatus: 4 }))
  rm.heartbeatScript.push({ nodeAction: RESYNC, containersToBeRemovedFromNm: [containerIdToProto(id)] })
  await clock.advance(1000)
  assert.deepEqual(
    rm.registrations.at(-1)?.containerStatuses?.map((status) => status.containerExitStatus),
    [4],
  )
  assert.deepEqual(rm.statuses(), [])
  assert.ok(node.findContainer(id))
  await updater.stop()
})
