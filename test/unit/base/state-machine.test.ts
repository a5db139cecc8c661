import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import { StateMachine, type Table, type Transition } from '../../../src/base/state-machine.ts'

interface Door {
  readonly notes: string[]
}
type Events = { push: { force: number }; lock: undefined }
type Edges = { SHUT: { push: 'OPEN' | 'SHUT'; lock: 'LOCKED' }; OPEN: { push: 'OPEN' }; LOCKED: { lock: 'SHUT' } }

const table: Table<Door, Events, Edges> = {
  SHUT: {
    push: (door, { force }) => {
      door.notes.push(`pushed ${force}`)
      return force > 1 ? 'OPEN' : 'SHUT'
    },
    lock: () => 'LOCKED',
  },
  OPEN: { push: () => 'OPEN' },
  LOCKED: { lock: () => 'SHUT' },
}

function door() {
  const context: Door = { notes: [] }
  const transitions: Transition[] = []
  const unexpected: string[] = []
  const machine = new StateMachine<Door, Events, Edges>(table, 'SHUT', context, {
    subject: 'Door 1',
    log: silentLog,
    onTransition: (transition) => transitions.push(transition),
    onUnexpected: (state, event) => unexpected.push(`${state} ${event}`),
  })
  return { context, machine, transitions, unexpected }
}

test('an event runs its handler and changes the state; a self loop is no transition', () => {
  const { machine, context, transitions } = door()
  machine.send({ type: 'push', payload: { force: 1 } })
  assert.equal(machine.state, 'SHUT')
  machine.send({ type: 'push', payload: { force: 2 } })
  assert.equal(machine.state, 'OPEN')
  assert.deepEqual(context.notes, ['pushed 1', 'pushed 2'])
  assert.deepEqual(transitions, [{ from: 'SHUT', to: 'OPEN', event: 'push' }])
})

test('an event without a row is told, and changes nothing', () => {
  const { machine, unexpected } = door()
  machine.send({ type: 'lock' })
  machine.send({ type: 'push', payload: { force: 9 } })
  assert.equal(machine.state, 'LOCKED')
  assert.deepEqual(unexpected, ['LOCKED push'])
})

test('an event that is sent while another is handled waits its turn', () => {
  const { machine, transitions } = door()
  const loud: Table<Door, Events, Edges> = {
    ...table,
    SHUT: {
      ...table.SHUT,
      lock: () => {
        nested.send({ type: 'lock' })
        return 'LOCKED'
      },
    },
  }
  const nested = new StateMachine<Door, Events, Edges>(
    loud,
    'SHUT',
    { notes: [] },
    {
      subject: 'Door 2',
      log: silentLog,
      onTransition: (transition) => transitions.push(transition),
    },
  )
  nested.send({ type: 'lock' })
  assert.equal(nested.state, 'SHUT')
  assert.deepEqual(
    transitions.map(({ to }) => to),
    ['LOCKED', 'SHUT'],
  )
  assert.equal(machine.state, 'SHUT')
})

test('a handler that throws leaves the machine able to take the next event', () => {
  const { machine } = door()
  const faulty: Table<Door, Events, Edges> = {
    ...table,
    SHUT: {
      ...table.SHUT,
      push: () => {
        throw new Error('hinge')
      },
    },
  }
  const broken = new StateMachine<Door, Events, Edges>(
    faulty,
    'SHUT',
    { notes: [] },
    { subject: 'Door 3', log: silentLog },
  )
  assert.throws(() => broken.send({ type: 'push', payload: { force: 1 } }), /hinge/)
  broken.send({ type: 'lock' })
  assert.equal(broken.state, 'LOCKED')
  assert.equal(machine.state, 'SHUT')
})
