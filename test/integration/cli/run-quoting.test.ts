import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { constantFrom, sample, string } from 'fast-check'
import { RunError } from '../../../src/cli/run/exit-codes.ts'
import { environmentValue, launchCommand } from '../../../src/cli/run/command-quoting.ts'

interface Launched {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** What ContainerLaunch.expandEnvironment replaces, in its order, in commands and values. */
function expand(text: string, logDir: string): string {
  return text
    .replaceAll('<LOG_DIR>', logDir)
    .replaceAll('<CPS>', ':')
    .replaceAll('<ADD_OPENS>', '--add-opens=java.base/java.lang=ALL-UNNAMED')
    .replaceAll('{{', '$')
    .replaceAll('}}', '')
}

/** Runs the command from a script that is made as a NodeManager makes launch_container.sh. */
async function launch(t: TestContext, argv: readonly string[], environment: Record<string, string> = {}) {
  const logDir = await mkdtemp(join(tmpdir(), 'bobbin launch-'))
  t.after(() => rm(logDir, { recursive: true }))
  const script = join(logDir, 'launch_container.sh')
  const exports = Object.entries(environment).map(
    ([name, value]) => `export ${name}="${expand(environmentValue(value), logDir)}"`,
  )
  const command = `exec /bin/bash -c "${expand(launchCommand(argv), logDir)}"`
  await writeFile(script, ['#!/bin/bash', '', 'set -o pipefail -e', ...exports, command, ''].join('\n'))
  return await new Promise<Launched>((resolve, reject) => {
    const child = execFile('/bin/bash', [script], { cwd: logDir, env: { PATH: process.env['PATH'] } }, () => {
      Promise.all([readFile(join(logDir, 'stdout'), 'utf8'), readFile(join(logDir, 'stderr'), 'utf8')])
        .then(([stdout, stderr]) => resolve({ exitCode: child.exitCode ?? -1, stdout, stderr }))
        .catch(reject)
    })
  })
}

const nasty = [
  ...['', ' ', 'a b', "'", '"', "'\"'", '$HOME', '${HOME}', '$(id)', '`id`', '\\', '\\\\', '\\n', 'a\\', '\\$x', '\\"'],
  ...[
    '!',
    '!!',
    '*',
    '?',
    '~',
    '#x',
    ';',
    '&&',
    '|',
    '>',
    '<',
    '<<',
    '(',
    '[a-z]*',
    '-n',
    '--',
    '=',
    'A=b',
    '\t',
    '\n',
  ],
  ...['line\nbreak\n', '{{X}}', '{{', '}}', '{{{', '}}}}', '{"a":{"b":1}}', '<LOG_DIR>', '<LOG_DIR>/x', '<CPS>'],
  ...['<ADD_OPENS>', "'{{'", "}'}", "{'{", "<'LOG_DIR>", 'é漢😀', '\u0001\u007f', "$'x'", '$"x"', '%s', '\r'],
]

test('every argument reaches the program as it was given', async (t) => {
  const { stdout, stderr, exitCode } = await launch(t, ['printf', String.raw`%s\0`, ...nasty])
  assert.deepEqual(stdout.split('\0').slice(0, -1), nasty)
  assert.deepEqual({ stderr, exitCode }, { stderr: '', exitCode: 0 })
})

test('random arguments reach the program as they were given', async (t) => {
  const noisy = string({ unit: constantFrom(...Array.from('$`"\\\'!{}<>LOG_DIR CPS \n;&|*?~#()[]-=')), maxLength: 12 })
  const words = [...sample(noisy, 400), ...sample(string({ unit: 'grapheme' }), 100)].filter(
    (word) => !word.includes('\0'),
  )
  const { stdout } = await launch(t, ['printf', String.raw`%s\0`, ...words])
  assert.deepEqual(stdout.split('\0').slice(0, -1), words)
})

test('every variable has the value that it was given', async (t) => {
  const environment = Object.fromEntries(nasty.map((value, index) => [`VALUE_${index}`, value]))
  const { stdout } = await launch(t, ['env', '-0'], environment)
  const seen = new Map(stdout.split('\0').map((line) => [line.split('=', 1)[0], line.slice(line.indexOf('=') + 1)]))
  assert.deepEqual(
    Object.keys(environment).map((name) => seen.get(name)),
    nasty,
  )
})

test("the program takes the shell's place: its exit code and its process", async (t) => {
  const { exitCode, stdout } = await launch(t, ['sh', '-c', 'ps -o comm= -p $PPID; exit 3'])
  assert.equal(exitCode, 3)
  assert.doesNotMatch(stdout, /bash/)
})

test("a builtin's name runs the program of that name", async (t) => {
  const { stdout } = await launch(t, ['echo', '--version'])
  assert.notEqual(stdout, '--version\n')
})

test('a program that is not there is an exit code of 127 and a line in stderr', async (t) => {
  const { exitCode, stderr } = await launch(t, ['no-such-program', 'x'])
  assert.equal(exitCode, 127)
  assert.match(stderr, /no-such-program: not found/)
})

test('a command that no node could start is refused at once', () => {
  assert.throws(() => launchCommand(['echo', 'x'.repeat(131_072)]), RunError)
  assert.ok(launchCommand(['echo', 'x'.repeat(130_000)]).length > 130_000)
})
