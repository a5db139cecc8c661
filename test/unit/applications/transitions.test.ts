import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApplicationEvent, ApplicationPayloads } from '../../../src/applications/events.ts'
import {
  applicationEdges,
  applicationTransitions,
  type ApplicationContainer,
  type ApplicationEdges,
  type ApplicationSubject,
} from '../../../src/applications/transitions.ts'
import { silentLog } from '../../../src/base/log.ts'
import { StateMachine } from '../../../src/base/state-machine.ts'
import { parseContainerId, type ContainerId } from '../../../src/protocol/ids.ts'

type State = keyof ApplicationEdges
type EventName = keyof ApplicationPayloads
/** What is asked, with one container (`old`) in the map before. */
type Expected = readonly [next: State, asked: readonly string[]]

const OLD = parseContainerId('container_1_0001_01_000001')
const NEW = parseContainerId('container_1_0001_01_000002')
const names = new Map<ContainerId, string>([
  [OLD, 'old'],
  [NEW, 'new'],
])

const late = (state: State): Expected => [state, ['new killed -107 Application no longer running.\n']]
const finishing: Expected = [
  'FINISHING_CONTAINERS_WAIT',
  ['old killed -107 Container killed on application-finish event: why'],
]

const expected: { readonly [S in State]: { readonly [E in EventName]?: Expected | 'ignored' } } = {
  NEW: { INIT_APPLICATION: ['INITING', ['start logs']], INIT_CONTAINER: ['NEW', []] },
  INITING: {
    INIT_CONTAINER: ['INITING', []],
    APPLICATION_LOG_HANDLING_INITED: ['INITING', ['logs began 5', 'init resources']],
    APPLICATION_LOG_HANDLING_FAILED: ['INITING', ['no logs', 'init resources']],
    APPLICATION_INITED: ['RUNNING', ['old init']],
    APPLICATION_CONTAINER_FINISHED: ['INITING', []],
    FINISH_APPLICATION: finishing,
  },
  RUNNING: {
    INIT_CONTAINER: ['RUNNING', ['new init']],
    APPLICATION_CONTAINER_FINISHED: ['RUNNING', []],
    FINISH_APPLICATION: finishing,
  },
  FINISHING_CONTAINERS_WAIT: {
    INIT_CONTAINER: late('FINISHING_CONTAINERS_WAIT'),
    APPLICATION_CONTAINER_FINISHED: ['APPLICATION_RESOURCES_CLEANINGUP', ['destroy resources']],
    APPLICATION_LOG_HANDLING_INITED: 'ignored',
    APPLICATION_LOG_HANDLING_FAILED: 'ignored',
    APPLICATION_INITED: 'ignored',
    FINISH_APPLICATION: 'ignored',
  },
  APPLICATION_RESOURCES_CLEANINGUP: {
    INIT_CONTAINER: late('APPLICATION_RESOURCES_CLEANINGUP'),
    APPLICATION_RESOURCES_CLEANEDUP: ['FINISHED', ['finish logs']],
    APPLICATION_CONTAINER_FINISHED: 'ignored',
    APPLICATION_LOG_HANDLING_INITED: 'ignored',
    APPLICATION_LOG_HANDLING_FAILED: 'ignored',
    APPLICATION_LOG_HANDLING_FINISHED: 'ignored',
    APPLICATION_INITED: 'ignored',
    FINISH_APPLICATION: 'ignored',
  },
  FINISHED: {
    INIT_CONTAINER: late('FINISHED'),
    APPLICATION_LOG_HANDLING_FINISHED: ['FINISHED', ['disappear']],
    APPLICATION_LOG_HANDLING_FAILED: ['FINISHED', ['disappear']],
    APPLICATION_LOG_HANDLING_INITED: 'ignored',
    APPLICATION_CONTAINER_FINISHED: 'ignored',
    FINISH_APPLICATION: 'ignored',
  },
}

/** Sends one event to a machine in a state of our choice. */
function send(state: State, event: EventName, present: readonly ContainerId[] = [OLD]) {
  const asked: string[] = []
  let unexpected = false
  const container = (id: ContainerId): ApplicationContainer => ({
    id,
    init: () => asked.push(`${names.get(id)} init`),
    kill: (exitStatus, diagnostics) => asked.push(`${names.get(id)} killed ${exitStatus} ${diagnostics}`),
  })
  const subject: ApplicationSubject = {
    containers: new Map(present.map((id) => [id, container(id)])),
    startLogHandling: () => asked.push('start logs'),
    logHandlingStarted: (time) => asked.push(`logs began ${time}`),
    logHandlingFailed: () => asked.push('no logs'),
    initResources: () => asked.push('init resources'),
    destroyResources: () => asked.push('destroy resources'),
    finishLogHandling: () => asked.push('finish logs'),
    disappear: () => asked.push('disappear'),
  }
  const payloads: ApplicationPayloads = {
    INIT_APPLICATION: undefined,
    INIT_CONTAINER: { container: container(NEW) },
    APPLICATION_LOG_HANDLING_INITED: { time: 5 },
    APPLICATION_LOG_HANDLING_FAILED: undefined,
    APPLICATION_INITED: undefined,
    APPLICATION_CONTAINER_FINISHED: { id: OLD },
    FINISH_APPLICATION: { reason: 'why' },
    APPLICATION_RESOURCES_CLEANEDUP: undefined,
    APPLICATION_LOG_HANDLING_FINISHED: undefined,
  }
  const machine = new StateMachine<ApplicationSubject, ApplicationPayloads, ApplicationEdges>(
    applicationTransitions,
    state,
    subject,
    { subject: 'Application a', log: silentLog, onUnexpected: () => (unexpected = true) },
  )
  machine.send({ type: event, payload: payloads[event] } as ApplicationEvent)
  return { next: machine.state, asked, unexpected, containers: [...subject.containers.keys()] }
}

const eventNames: readonly EventName[] = [
  'INIT_APPLICATION',
  'INIT_CONTAINER',
  'APPLICATION_LOG_HANDLING_INITED',
  'APPLICATION_LOG_HANDLING_FAILED',
  'APPLICATION_INITED',
  'APPLICATION_CONTAINER_FINISHED',
  'FINISH_APPLICATION',
  'APPLICATION_RESOURCES_CLEANEDUP',
  'APPLICATION_LOG_HANDLING_FINISHED',
]

for (const state of Object.keys(applicationEdges) as State[])
  for (const event of eventNames)
    test(`${event} in ${state}`, () => {
      const { containers, ...seen } = send(state, event)
      const row = expected[state][event]
      const [next, asked] = row === undefined || row === 'ignored' ? ([state, []] as const) : row
      assert.deepEqual(seen, { next, asked, unexpected: row === undefined })
      const isIn = row !== undefined && event === 'INIT_CONTAINER'
      const isOut = row !== undefined && event === 'APPLICATION_CONTAINER_FINISHED'
      assert.deepEqual(containers, [...(isOut ? [] : [OLD]), ...(isIn ? [NEW] : [])])
    })

test('an application without containers is cleaned up at once when it finishes', () => {
  for (const state of ['INITING', 'RUNNING'] as const) {
    const seen = send(state, 'FINISH_APPLICATION', [])
    assert.deepEqual([seen.next, seen.asked], ['APPLICATION_RESOURCES_CLEANINGUP', ['destroy resources']])
  }
})

test('an application that finishes waits for its last container', () => {
  const seen = send('FINISHING_CONTAINERS_WAIT', 'APPLICATION_CONTAINER_FINISHED', [OLD, NEW])
  assert.deepEqual([seen.next, seen.asked], ['FINISHING_CONTAINERS_WAIT', []])
})
