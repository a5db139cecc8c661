import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'

const bobbin = fileURLToPath(new URL('../../../bin/bobbin.js', import.meta.url))

/** A folder with a blank in its path, in which quickstart makes its own. */
async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bobbin quickstart '))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

function quickstart(t: TestContext, TMPDIR: string) {
  const child = spawn(process.execPath, [bobbin, 'quickstart'], { env: { ...process.env, TMPDIR } })
  t.after(() => child.kill('SIGKILL'))
  let output = ''
  const listeners: (() => void)[] = []
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
    for (const listener of listeners) listener()
  })
  const ended = new Promise<{ code: number | null; output: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, output }))
  })
  const shows = (text: string) =>
    new Promise<void>((resolve) => {
      listeners.push(() => {
        if (output.includes(text)) resolve()
      })
    })
  return { child, ended, shows }
}

test('quickstart, also twice at a time, shows an application that succeeds and leaves nothing', async (t) => {
  const folder = await temporaryFolder(t)
  const runs = await Promise.all([quickstart(t, folder).ended, quickstart(t, folder).ended])
  for (const { code, output } of runs) {
    assert.equal(code, 0, output)
    assert.equal(output.match(/_00000[123] {2}RUNNING {2}64 MB/g)?.length, 3, output)
    assert.equal(output.match(/\| \[container_\w+_00000[123]\] done/g)?.length, 3, output)
    assert.equal(output.match(/ended with exit status 0/g)?.length, 3, output)
    assert.match(output, /ended: SUCCEEDED/)
    assert.match(output, /nothing is left behind/)
  }
  assert.deepEqual(await readdir(folder), [])
})

test('Ctrl-C stops a quickstart in order: 130, and nothing is left', async (t) => {
  const folder = await temporaryFolder(t)
  const { child, ended, shows } = quickstart(t, folder)
  await shows('hello from')
  child.kill('SIGINT')
  const { code, output } = await ended
  assert.equal(code, 130, output)
  assert.match(output, /Interrupted: ended by SIGINT[^]*nothing is left behind/)
  assert.deepEqual(await readdir(folder), [])
})

test('a quickstart whose output nobody reads any more is stopped, and nothing is left', async (t) => {
  const folder = await temporaryFolder(t)
  const { child, ended, shows } = quickstart(t, folder)
  await shows('Running an application')
  child.stdout.destroy()
  const { code, output } = await ended
  assert.equal(code, 125, output)
  assert.deepEqual(await readdir(folder), [])
})
