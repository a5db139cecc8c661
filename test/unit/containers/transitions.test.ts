import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import { StateMachine } from '../../../src/base/state-machine.ts'
import type { ContainerEvent, ContainerPayloads } from '../../../src/containers/events.ts'
import {
  containerEdges,
  containerTransitions,
  type ContainerEdges,
  type ContainerSubject,
  type ContainerTableState,
} from '../../../src/containers/transitions.ts'

type EventName = keyof ContainerPayloads
type Expected = readonly [next: string, asked: readonly string[], exitStatus?: number]

const exit = (exitStatus: number) => ({ exitStatus, diagnostics: 'why' })
const payloads: ContainerPayloads = {
  INIT_CONTAINER: undefined,
  RESOURCE_LOCALIZED: { resource: {}, path: '/x', sizeBytes: 1 },
  RESOURCE_FAILED: { diagnostics: 'why' },
  KILL_CONTAINER: exit(-105),
  CONTAINER_LAUNCHED: undefined,
  CONTAINER_EXITED_WITH_SUCCESS: undefined,
  CONTAINER_EXITED_WITH_FAILURE: exit(7),
  CONTAINER_KILLED_ON_REQUEST: exit(143),
  CONTAINER_RESOURCES_CLEANEDUP: undefined,
  UPDATE_DIAGNOSTICS_MSG: { text: 'note' },
}
const events = Object.keys(payloads) as EventName[]
const states = Object.keys(containerEdges) as ContainerTableState[]

const WHY = 'diag why\n'
const BEFORE = 'diag Container is killed before being launched.\n'
const failed: Expected = ['EXITED_WITH_FAILURE', [WHY, 'cleanUp', 'release'], 7]
const toKilling: Expected = ['KILLING', ['cleanUp', WHY], -105]

/** Hadoop's rows for the states and events that are implemented; a state that is named alone ignores the event. */
const expected: { readonly [S in ContainerTableState]: { readonly [E in EventName]?: Expected | 'ignored' } } = {
  NEW: {
    INIT_CONTAINER: ['SCHEDULED', ['initialize', 'schedule']],
    KILL_CONTAINER: ['DONE', [WHY, BEFORE, 'finish killed'], -105],
  },
  LOCALIZING: {
    RESOURCE_LOCALIZED: ['SCHEDULED', ['localized', 'schedule']],
    RESOURCE_FAILED: ['LOCALIZATION_FAILED', [WHY, 'release']],
    KILL_CONTAINER: ['KILLING', ['release', WHY, BEFORE], -105],
  },
  LOCALIZATION_FAILED: {
    CONTAINER_RESOURCES_CLEANEDUP: ['DONE', ['finish localization failed']],
    KILL_CONTAINER: 'ignored',
    RESOURCE_LOCALIZED: 'ignored',
    RESOURCE_FAILED: 'ignored',
  },
  SCHEDULED: {
    CONTAINER_LAUNCHED: ['RUNNING', []],
    CONTAINER_EXITED_WITH_FAILURE: failed,
    KILL_CONTAINER: toKilling,
  },
  RUNNING: {
    CONTAINER_EXITED_WITH_SUCCESS: ['EXITED_WITH_SUCCESS', ['cleanUp', 'release'], 0],
    // The text comes twice, as Hadoop writes it.
    CONTAINER_EXITED_WITH_FAILURE: ['EXITED_WITH_FAILURE', [WHY, WHY, 'cleanUp', 'release'], 7],
    CONTAINER_KILLED_ON_REQUEST: [
      'EXITED_WITH_FAILURE',
      [WHY, 'cleanUp', 'release', 'diag Killed by external signal\n'],
      143,
    ],
    KILL_CONTAINER: toKilling,
  },
  EXITED_WITH_SUCCESS: {
    CONTAINER_RESOURCES_CLEANEDUP: ['DONE', ['finish succeeded']],
    KILL_CONTAINER: 'ignored',
    CONTAINER_KILLED_ON_REQUEST: 'ignored',
  },
  EXITED_WITH_FAILURE: {
    CONTAINER_RESOURCES_CLEANEDUP: ['DONE', ['finish failed']],
    KILL_CONTAINER: 'ignored',
    CONTAINER_KILLED_ON_REQUEST: 'ignored',
  },
  KILLING: {
    CONTAINER_KILLED_ON_REQUEST: ['CONTAINER_CLEANEDUP_AFTER_KILL', [WHY, 'release'], 143],
    CONTAINER_EXITED_WITH_SUCCESS: ['EXITED_WITH_SUCCESS', ['release'], 0],
    CONTAINER_EXITED_WITH_FAILURE: ['EXITED_WITH_FAILURE', [WHY, 'release'], 7],
    CONTAINER_RESOURCES_CLEANEDUP: ['DONE', ['finish killed']],
    RESOURCE_LOCALIZED: ['KILLING', ['localized']],
    RESOURCE_FAILED: 'ignored',
    KILL_CONTAINER: 'ignored',
    CONTAINER_LAUNCHED: 'ignored',
  },
  CONTAINER_CLEANEDUP_AFTER_KILL: {
    CONTAINER_RESOURCES_CLEANEDUP: ['DONE', ['finish killed']],
    KILL_CONTAINER: 'ignored',
    RESOURCE_FAILED: 'ignored',
    CONTAINER_EXITED_WITH_SUCCESS: 'ignored',
    CONTAINER_EXITED_WITH_FAILURE: 'ignored',
    CONTAINER_KILLED_ON_REQUEST: 'ignored',
  },
  DONE: {
    KILL_CONTAINER: 'ignored',
    INIT_CONTAINER: 'ignored',
    RESOURCE_FAILED: 'ignored',
    CONTAINER_EXITED_WITH_SUCCESS: 'ignored',
    CONTAINER_EXITED_WITH_FAILURE: 'ignored',
    CONTAINER_KILLED_ON_REQUEST: 'ignored',
  },
}

interface Answers {
  readonly initialize?: 'LOCALIZING' | 'SCHEDULED' | 'LOCALIZATION_FAILED'
  readonly pending?: number
  readonly exitStatus?: number
}

/** Sends one event to a machine in a state of our choice. */
function send(state: ContainerTableState, event: EventName, answers: Answers = {}) {
  const asked: string[] = []
  let unexpected = false
  const subject: ContainerSubject = {
    exitStatus: answers.exitStatus ?? -1000,
    addDiagnostics: (text) => asked.push(`diag ${text}`),
    initialize: () => {
      asked.push('initialize')
      return answers.initialize ?? 'SCHEDULED'
    },
    recordLocalized: () => {
      asked.push('localized')
      return answers.pending ?? 0
    },
    schedule: () => asked.push('schedule'),
    cleanUp: () => asked.push('cleanUp'),
    release: () => asked.push('release'),
    finish: (outcome) => asked.push(`finish ${outcome}`),
  }
  const machine = new StateMachine<ContainerSubject, ContainerPayloads, ContainerEdges>(
    containerTransitions,
    state,
    subject,
    { subject: 'Container c', log: silentLog, onUnexpected: () => (unexpected = true) },
  )
  machine.send({ type: event, payload: payloads[event] } as ContainerEvent)
  return { next: machine.state, asked, exitStatus: subject.exitStatus, unexpected }
}

for (const state of states)
  for (const event of events)
    test(`${event} in ${state}`, () => {
      const seen = send(state, event)
      const row = event === 'UPDATE_DIAGNOSTICS_MSG' ? ([state, ['diag note\n']] as const) : expected[state][event]
      const [next, asked, exitStatus] = row === undefined || row === 'ignored' ? ([state, []] as const) : row
      assert.deepEqual(seen, { next, asked, exitStatus: exitStatus ?? -1000, unexpected: row === undefined })
    })

test('a container with resources is localized before it is scheduled', () => {
  assert.deepEqual(send('NEW', 'INIT_CONTAINER', { initialize: 'LOCALIZING' }).next, 'LOCALIZING')
  const pending = send('LOCALIZING', 'RESOURCE_LOCALIZED', { pending: 1 })
  assert.deepEqual([pending.next, pending.asked], ['LOCALIZING', ['localized']])
})

test('a container with a resource that is none gives back what it has and fails', () => {
  const seen = send('NEW', 'INIT_CONTAINER', { initialize: 'LOCALIZATION_FAILED' })
  assert.deepEqual([seen.next, seen.asked], ['LOCALIZATION_FAILED', ['initialize', 'release']])
})

test('the reason of a kill outranks the code of the killed process', () => {
  assert.equal(send('KILLING', 'CONTAINER_KILLED_ON_REQUEST', { exitStatus: -105 }).exitStatus, -105)
  assert.equal(send('KILLING', 'CONTAINER_EXITED_WITH_FAILURE', { exitStatus: -105 }).exitStatus, 7)
})
