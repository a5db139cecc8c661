import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Slots } from '../../../src/localization/slots.ts'
import { settle } from '../../helpers/fake-clock.ts'

test('so many run at a time, the others in order, and who leaves the queue gives no slot away', async () => {
  const slots = new Slots(1)
  const never = new AbortController().signal
  const left = new AbortController()
  const order: string[] = []
  let finish: () => void = () => {}
  const first = slots.run(never, () => new Promise<void>((resolve) => (finish = resolve)))
  const second = slots.run(left.signal, async () => void order.push('second'))
  const third = slots.run(never, async () => void order.push('third'))
  await settle()
  left.abort(new Error('left'))
  await assert.rejects(second, { message: 'left' })
  assert.equal(order.length, 0)
  finish()
  await Promise.all([first, third])
  assert.deepEqual(order, ['third'])
  await assert.rejects(
    slots.run(AbortSignal.abort(new Error('late')), async () => {}),
    { message: 'late' },
  )
  await assert.rejects(
    slots.run(never, async () => Promise.reject(new Error('failed'))),
    { message: 'failed' },
  )
  await slots.run(never, async () => void order.push('fourth'))
  assert.deepEqual(order, ['third', 'fourth'])
})
