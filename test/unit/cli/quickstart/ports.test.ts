import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { BobbinError } from '../../../../src/base/errors.ts'
import { anyPorts, choosePorts, isPortTaken, LOOPBACK } from '../../../../src/cli/quickstart/ports.ts'

async function takenPort(t: TestContext): Promise<number> {
  const server = createServer().listen(0, LOOPBACK)
  t.after(() => server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

test('a usual port is kept where it is free and replaced where it is taken', async (t) => {
  const taken = await takenPort(t)
  const [free] = await anyPorts([{ key: 'free', usual: 0 }])
  const chosen = await choosePorts([
    { key: 'taken', usual: taken },
    { key: 'free', usual: free?.port ?? 0 },
  ])
  assert.deepEqual(
    chosen.map(({ key, usual, port }) => [key, usual, port === usual]),
    [
      ['taken', taken, false],
      ['free', free?.port, true],
    ],
  )
})

test('all ports differ', async () => {
  const wanted = ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => ({ key, usual: 8030 }))
  const chosen = await anyPorts(wanted)
  assert.equal(new Set(chosen.map(({ port }) => port)).size, wanted.length)
})

test('a start that failed for a taken port is known by its cause', () => {
  const taken = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' })
  assert.equal(isPortTaken(new BobbinError('ERR_WEB_ADDRESS', 'cannot serve HTTP', taken)), true)
  assert.equal(isPortTaken(new BobbinError('ERR_WEB_ADDRESS', 'cannot serve HTTP')), false)
})
