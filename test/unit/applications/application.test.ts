import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Application, type ApplicationOptions } from '../../../src/applications/application.ts'
import type { ApplicationContainer } from '../../../src/applications/transitions.ts'
import { silentLog } from '../../../src/base/log.ts'
import { Tasks } from '../../../src/base/tasks.ts'
import { applicationId, parseContainerId } from '../../../src/protocol/ids.ts'

const ID = applicationId(1, 1)

function make(overrides: Partial<ApplicationOptions> = {}) {
  const asked: string[] = []
  const tasks = new Tasks(silentLog)
  const note = (text: string) => {
    asked.push(text)
    return Promise.resolve()
  }
  const options: ApplicationOptions = {
    localization: {
      initApplication: (user, id) => note(`init ${user} ${id}`),
      destroyApplication: (user, id) => note(`destroy ${user} ${id}`),
    },
    logHandling: {
      applicationStarted: () => Promise.resolve(77),
      applicationFinished: (id, user) => note(`logs of ${id} ${user}`),
    },
    store: {
      storeApplication: (id, record) => note(`store ${id} ${record.appLogAggregationInitedTime}`),
      removeApplication: (id) => note(`remove ${id}`),
    },
    tasks,
    log: silentLog,
    onApplicationStopped: (id) => asked.push(`stopped ${id}`),
    onApplicationFinished: (application) => asked.push(`finished ${application.id} ${application.state}`),
    onApplicationGone: (application) => asked.push(`gone ${application.id} ${application.state}`),
    ...overrides,
  }
  return { application: new Application({ id: ID, user: 'alice', record: { user: 'alice' } }, options), asked, tasks }
}

class FakeContainer implements ApplicationContainer {
  readonly id = parseContainerId('container_1_0001_01_000001')
  readonly asked: string[] = []
  init(): void {
    this.asked.push('init')
  }
  kill(exitStatus: number, diagnostics: string): void {
    this.asked.push(`kill ${exitStatus} ${diagnostics}`)
  }
}

test('an application lives from its first container until nothing is left of it', async () => {
  const { application, asked, tasks } = make()
  const container = new FakeContainer()
  application.init()
  application.addContainer(container)
  assert.deepEqual(container.asked, [])
  await tasks.idle()
  assert.equal(application.state, 'RUNNING')
  assert.deepEqual(container.asked, ['init'])
  assert.deepEqual(application.containerIds, [container.id])
  application.finish('Application killed by ResourceManager')
  assert.deepEqual(container.asked, [
    'init',
    'kill -107 Container killed on application-finish event: Application killed by ResourceManager',
  ])
  application.containerDone(container.id)
  await tasks.idle()
  assert.equal(application.state, 'FINISHED')
  assert.deepEqual(asked, [
    `store ${ID} 77`,
    `init alice ${ID}`,
    `destroy alice ${ID}`,
    `stopped ${ID}`,
    `logs of ${ID} alice`,
    `finished ${ID} FINISHED`,
    `remove ${ID}`,
    `gone ${ID} FINISHED`,
  ])
})

test('an application whose directories or logs fail runs and ends all the same', async () => {
  const broken = () => Promise.reject(new Error('disk'))
  const { application, asked, tasks } = make({
    localization: { initApplication: broken, destroyApplication: broken },
    logHandling: { applicationStarted: broken, applicationFinished: broken },
  })
  application.init()
  await tasks.idle()
  assert.equal(application.state, 'RUNNING')
  application.finish('Application killed on shutdown')
  await tasks.idle()
  assert.deepEqual(asked, [`stopped ${ID}`, `finished ${ID} FINISHED`, `remove ${ID}`, `gone ${ID} FINISHED`])
})
