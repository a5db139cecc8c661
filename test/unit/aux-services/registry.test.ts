import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuxiliaryServices, type AuxiliaryService } from '../../../src/aux-services/registry.ts'
import { silentLog } from '../../../src/base/log.ts'

const signal = new AbortController().signal

function shuffle(name: string, calls: string[]): AuxiliaryService {
  return {
    name,
    start: async () => void calls.push(`start ${name}`),
    stop: async () => void calls.push(`stop ${name}`),
    metaData: () => Buffer.from([0, 0, 0x34, 0xfa]),
  }
}

test('a configured service that is not provided is warned about once and keeps nothing from starting', async () => {
  const warnings: string[] = []
  const log = { ...silentLog, warn: (message: unknown) => void warnings.push(String(message)) }
  const services = new AuxiliaryServices({ configured: ['mapreduce_shuffle'], provided: [], log })
  await services.start(signal)
  assert.deepEqual(warnings, [
    'yarn.nodemanager.aux-services: mapreduce_shuffle is not provided by this version: a container that names it in its service data is refused, others run',
  ])
  assert.equal(services.has('mapreduce_shuffle'), false)
  assert.equal(services.metaData().size, 0)
})

test('of the provided services the configured ones run and tell their data', async () => {
  const calls: string[] = []
  const services = new AuxiliaryServices({
    configured: ['spark_shuffle'],
    provided: [shuffle('mapreduce_shuffle', calls), shuffle('spark_shuffle', calls)],
    log: silentLog,
  })
  await services.start(signal)
  assert.equal(services.has('spark_shuffle'), true)
  assert.equal(services.has('mapreduce_shuffle'), false)
  assert.deepEqual([...services.metaData()], [['spark_shuffle', Buffer.from([0, 0, 0x34, 0xfa])]])
  await services.stop()
  assert.deepEqual(calls, ['start spark_shuffle', 'stop spark_shuffle'])
})
