import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { commands } from '../../../src/cli/commands.ts'

const bobbin = fileURLToPath(new URL('../../../bin/bobbin.js', import.meta.url))

function say(...argv: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bobbin, ...argv], { encoding: 'utf8' })
  return { code: status, stdout, stderr }
}

test('every command is in --help and has a help of its own, asked for in either way', () => {
  const { code, stdout } = say('--help')
  assert.equal(code, 0)
  for (const { name } of commands) {
    assert.match(stdout, new RegExp(`^ {2}${name} +\\S`, 'm'))
    const own = say(name, '--help')
    assert.deepEqual(own, say('help', name))
    assert.equal(own.code, 0)
    assert.match(own.stdout, new RegExp(`^Usage: bobbin ${name} \\[options\\]`))
    assert.doesNotMatch(own.stdout, /\{\}|default: false/)
  }
})

test('an option that no command has ends with 2 and says where to read on', () => {
  for (const { name } of commands) {
    assert.deepEqual(say(name, '--frob'), {
      code: 2,
      stdout: '',
      stderr: `error: unknown option '--frob'\n('bobbin ${name} --help' tells more)\n`,
    })
  }
})

test('an unknown command ends with 2 and lists those that there are', () => {
  const { code, stdout, stderr } = say('nodemanagr')
  assert.deepEqual([code, stdout], [2, ''])
  assert.match(stderr, /^bobbin: no command called 'nodemanagr'\n[^]* {2}nodemanager /)
})
