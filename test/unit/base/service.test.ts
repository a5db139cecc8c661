import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import { Services, type Service } from '../../../src/base/service.ts'

function service(name: string, said: string[], failing?: 'start' | 'stop'): Service {
  return {
    name,
    async start() {
      said.push(`start ${name}`)
      if (failing === 'start') throw new Error(`${name} cannot start`)
    },
    async stop() {
      said.push(`stop ${name}`)
      if (failing === 'stop') throw new Error(`${name} cannot stop`)
    },
  }
}

test('services start in order and stop backwards', async () => {
  const said: string[] = []
  const services = new Services('all', [service('a', said), service('b', said)], silentLog)
  await services.start(new AbortController().signal)
  await services.stop()
  await services.stop()
  assert.deepEqual(said, ['start a', 'start b', 'stop b', 'stop a'])
})

test('a failed start is stopped too, and what came after it never is', async () => {
  const said: string[] = []
  const services = new Services('all', [service('a', said), service('b', said, 'start'), service('c', said)], silentLog)
  await assert.rejects(services.start(new AbortController().signal), /b cannot start/)
  await services.stop()
  assert.deepEqual(said, ['start a', 'start b', 'stop b', 'stop a'])
})

test('one that fails to stop does not keep the others from stopping', async () => {
  const said: string[] = []
  const services = new Services('all', [service('a', said), service('b', said, 'stop')], silentLog)
  await services.start(new AbortController().signal)
  await services.stop()
  assert.deepEqual(said, ['start a', 'start b', 'stop b', 'stop a'])
})

test('an abort ends the start before the next service', async () => {
  const said: string[] = []
  const abort = new AbortController()
  const first: Service = { ...service('a', said), start: async () => abort.abort(new Error('told to stop')) }
  const services = new Services('all', [first, service('b', said)], silentLog)
  await assert.rejects(services.start(abort.signal), /told to stop/)
  assert.deepEqual(said, [])
})

test('one that does not stop in its time is left behind, and the time of a group is that of its members', async () => {
  const said: string[] = []
  const slow: Service = { ...service('slow', said), stop: () => new Promise(() => {}), stopDeadlineMs: 10 }
  const group = new Services('group', [service('a', said), slow], silentLog)
  await group.start(new AbortController().signal)
  await group.stop()
  assert.deepEqual(said, ['start a', 'start slow', 'stop a'])
  const patient: Service = { ...service('patient', said), stopDeadlineMs: 60_000 }
  assert.equal(new Services('all', [patient, group], silentLog).stopDeadlineMs, 60_000 + 8000 + 10)
})
