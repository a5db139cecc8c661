import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseArguments, type RunOptions } from '../../../../src/cli/run/options.ts'

interface Parsed {
  readonly options: RunOptions | undefined
  readonly exitCode: number | undefined
  readonly out: string
  readonly err: string
}

function parse(argv: readonly string[], env: NodeJS.ProcessEnv = { HADOOP_USER_NAME: 'alice' }): Parsed {
  let out = ''
  let err = ''
  const parsed = parseArguments(argv, env, { writeOut: (text) => (out += text), writeErr: (text) => (err += text) })
  return parsed.kind === 'run'
    ? { options: parsed.options, exitCode: undefined, out, err }
    : { options: undefined, exitCode: parsed.exitCode, out, err }
}

test('only a command: one container of the smallest usual size', () => {
  assert.deepEqual(parse(['--', 'sh', '-c', 'echo hello; exit 3']).options, {
    command: ['sh', '-c', 'echo hello; exit 3'],
    containers: 1,
    resource: { memoryMb: 1024, vcores: 1 },
    files: [],
    environment: new Map(),
    name: 'sh',
    queue: 'default',
    user: 'alice',
    timeoutMs: undefined,
  })
})

test('every option is taken', () => {
  const argv = [
    '--containers',
    '4',
    '--memory',
    '2048',
    '--vcores',
    '2',
    '--file',
    'a/x.py',
    '--file',
    'y',
    '--name',
    'n',
  ]
  const more = ['--queue', 'q', '--user', 'bob', '--env', 'A=1=2', '--env', 'B=', '--timeout', '60', '--', '/bin/true']
  assert.deepEqual(parse([...argv, ...more]).options, {
    command: ['/bin/true'],
    containers: 4,
    resource: { memoryMb: 2048, vcores: 2 },
    files: ['a/x.py', 'y'],
    environment: new Map([
      ['A', '1=2'],
      ['B', ''],
    ]),
    name: 'n',
    queue: 'q',
    user: 'bob',
    timeoutMs: 60_000,
  })
})

test("options behind the command are the command's, with or without --", () => {
  assert.deepEqual(parse(['-n', '2', 'ls', '-n', '--help', '--', 'x']).options?.command, [
    'ls',
    '-n',
    '--help',
    '--',
    'x',
  ])
  assert.deepEqual(parse(['-n', '2', '--', 'ls', '--memory', '--']).options?.command, ['ls', '--memory', '--'])
})

test('one parse leaves nothing for the next', () => {
  assert.deepEqual(parse(['-f', 'a', '-e', 'A=1', '--', 'x']).options?.files, ['a'])
  assert.deepEqual(parse(['-f', 'a', '--', 'x']).options?.files, ['a'])
  assert.equal(parse(['-e', 'B=1', '--', 'x']).options?.environment.size, 1)
})

for (const [argv, message] of [
  [[], /missing required argument 'command'/],
  [['--containers', '0', '--', 'x'], /--containers.*'0' is invalid.*whole number from 1 to 10000/],
  [['--memory', '1g', '--', 'x'], /--memory.*'1g' is invalid/],
  [['--vcores', '1.5', '--', 'x'], /--vcores.*'1.5' is invalid/],
  [['--env', '2X=1', '--', 'x'], /--env.*NAME=VALUE/],
  [['--env', 'X', '--', 'x'], /--env.*NAME=VALUE/],
  [['--file', 'a/x', '--file', 'b/x', '--', 'x'], /same name in the work directory as 'a\/x'/],
  [['--nonsense', '--', 'x'], /unknown option '--nonsense'/],
] as const) {
  test(`bobbin run ${argv.join(' ')}: exit code 2 and a message`, () => {
    const { exitCode, err } = parse(argv)
    assert.equal(exitCode, 2)
    assert.match(err, message)
  })
}

test('--help is written to stdout and ends with 0', () => {
  const { exitCode, out, err } = parse(['--help'])
  assert.equal(exitCode, 0)
  assert.equal(err, '')
  for (const word of ['--containers', '--memory', '--env', 'Exit code:', 'Examples:', '121'])
    assert.ok(out.includes(word))
  assert.ok(Math.max(...out.split('\n').map((line) => line.length)) <= 120)
})
