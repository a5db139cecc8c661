import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const bobbin = fileURLToPath(new URL('../../../bin/bobbin.js', import.meta.url))

test('a node that is still looking for its ResourceManager stops in order, also when the signal comes twice', async (t) => {
  const work = await mkdtemp(join(tmpdir(), 'bobbin-signals-'))
  t.after(() => rm(work, { recursive: true, force: true }))
  const settings = [
    `hadoop.tmp.dir=${work}`,
    `yarn.nodemanager.log-dirs=${work}/logs`,
    'yarn.nodemanager.address=127.0.0.1:0',
    'yarn.nodemanager.webapp.address=127.0.0.1:0',
    'yarn.resourcemanager.hostname=127.0.0.1',
    'yarn.resourcemanager.resource-tracker.address=127.0.0.1:1',
    'ipc.client.connect.max.retries=0',
  ].flatMap((setting) => ['-D', setting])
  const arguments_ = [bobbin, 'nodemanager', '--config', work, '--log-format', 'json', ...settings]
  const node = spawn(process.execPath, arguments_, { stdio: ['ignore', 'ignore', 'pipe'] })
  t.after(() => node.kill('SIGKILL'))
  let log = ''
  node.stderr.on('data', (chunk: Buffer) => {
    const isTrying = /trying again/.test(log)
    log += chunk.toString()
    if (isTrying || !/trying again/.test(log)) return
    node.kill('SIGTERM')
    node.kill('SIGTERM')
  })
  const code = await new Promise((resolve) => node.once('close', resolve))
  assert.equal(code, 143, log)
  assert.match(log, /RECEIVED SIGNAL 15: SIGTERM/)
  assert.match(log, /SHUTDOWN_MSG: Shutting down NodeManager/)
})
