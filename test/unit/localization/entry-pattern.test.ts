import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchingNames } from '../../../src/localization/fetch/entry-pattern.ts'

const signal = new AbortController().signal

test('a pattern must match the whole name', async () => {
  const names = ['classes/A', 'lib/b', 'xlib/b', 'META-INF/']
  assert.deepEqual(await matchingNames('(?:classes/|lib/).*', names, signal), new Set(['classes/A', 'lib/b']))
})

test('a pattern that JavaScript does not know is refused by name', async () => {
  await assert.rejects(matchingNames('a++', ['a'], signal), { message: `The pattern "a++" can't be used` })
})

test('a pattern that never ends is stopped by the container’s release, while the event loop goes on', async () => {
  const release = new AbortController()
  const endless = matchingNames('(a+)+b', ['a'.repeat(60)], release.signal)
  const turns = setInterval(() => release.abort(new Error('released')), 200)
  await assert.rejects(endless, { message: 'released' })
  clearInterval(turns)
})

test('a pattern that fails while its container is released fails nothing else', async () => {
  const release = new AbortController()
  const refused = matchingNames('(', ['a'], release.signal)
  // The event loop stands still until the worker's failure is on its way: it arrives after the release.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
  release.abort(new Error('released'))
  await assert.rejects(refused, { message: 'released' })
})
