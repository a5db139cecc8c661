/** What a container's command sees, through a real bash. The expected values were seen on Apache Hadoop 3.4.2. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, readFile, readlink, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { nodeFor } from './harness.ts'

/** What bash has where its environment names none. */
const defaultPath = execFileSync('/bin/bash', ['--norc', '-c', 'echo -n $PATH'], { env: {}, encoding: 'utf8' })

const SHOW = 'env -0 1><LOG_DIR>/stdout'

const values: readonly (readonly [string, string])[] = [
  ['a b', 'a b'],
  ['two\nlines', 'two\nlines'],
  ["a'b", "a'b"],
  ['a\\b', 'a\\b'],
  ['grüße — 日本', 'grüße — 日本'],
  ['$HOME/x', '/home//x'],
  ['$(echo y)', 'y'],
  ['`echo y`', 'y'],
  ['a\\"b', 'a"b'],
  ['$OTHER/x', 'other/x'],
  ['{{OTHER}}/x', 'other/x'],
  ['a<CPS>b', 'a:b'],
  ['$(echo "two words")', 'two words'],
  ['${NONE:-"x y"}', 'x y'],
  ['"$OTHER"/x', 'other/x'],
  ['{"a":1}', '{a:1}'],
  ['', ''],
  // What would not be one word of the script is taken as it is.
  ['a"b c"d', 'a"b c"d'],
  ['x" y', 'x" y'],
  ['"; touch ran; "', '"; touch ran; "'],
  ['x"y', 'x"y'],
  ['x\\', 'x\\'],
  ['`echo', '`echo'],
  ['$(echo', '$(echo'],
  ["${NONE:-it's}", "${NONE:-it's}"],
  ['$OTHER "$(echo y)" `\n\\', '$OTHER "$(echo y)" `\n\\'],
]

test('values reach the command as Hadoop’s do', async (t) => {
  const node = await nodeFor(t)
  const environment = Object.fromEntries(values.map(([value], index) => [`V${index}`, value]))
  const container = await node.run({ command: [SHOW], environment: { ...environment, OTHER: 'other' } })
  assert.equal(container.exitStatus, 0, container.diagnostics)
  const seen = await environmentOf(join(node.containerLogDir(container), 'stdout'))
  for (const [index, [value, expected]] of values.entries()) assert.equal(seen.get(`V${index}`), expected, value)
})

async function environmentOf(path: string): Promise<Map<string, string>> {
  const entries = (await readFile(path, 'utf8')).split('\0').filter((entry) => entry !== '')
  return new Map(entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]))
}

test('the node’s own variables are there and outrank the container’s', async (t) => {
  const node = await nodeFor(t, { localDirCount: 2 })
  const container = await node.run({ command: [SHOW], environment: { CONTAINER_ID: 'mine', PATH: '$PATH:/mine' } })
  const seen = await environmentOf(join(node.containerLogDir(container), 'stdout'))
  const workDir = node.workDir(container)
  const [first, second] = node.localDirs
  const expected = {
    HADOOP_TOKEN_FILE_LOCATION: `${workDir}/container_tokens`,
    CONTAINER_ID: container.id,
    NM_PORT: '45454',
    NM_HOST: 'node.example',
    NM_HTTP_PORT: '8042',
    LOCAL_DIRS: [first, second].map((dir) => `${dir}/usercache/alice/appcache/${container.applicationId}`).join(','),
    LOCAL_USER_DIRS: `${first}/usercache/alice/,${second}/usercache/alice/`,
    LOG_DIRS: node.containerLogDir(container),
    USER: 'alice',
    LOGNAME: 'alice',
    HOME: '/home/',
    PWD: workDir,
    MALLOC_ARENA_MAX: '',
    PATH: `${defaultPath}:/mine`,
  }
  for (const [name, value] of Object.entries(expected)) assert.equal(seen.get(name), value, name)
  assert.match(seen.get('JVM_PID') ?? '', /^\d+$/)
  assert.match(seen.get('LOCALIZATION_COUNTERS') ?? '', /^0,0,0,0,-\d+$/)
})

test('nothing else is there: the daemon’s own environment is not the container’s', async (t) => {
  const daemonEnvironment = { PATH: '/daemon', LANG: 'C.UTF-8', JAVA_HOME: '/jdk', SECRET: 'x' }
  const node = await nodeFor(t, { preparation: { daemonEnvironment, environmentWhitelist: ['PATH', 'LANG', 'TZ'] } })
  const container = await node.run({ command: [SHOW] })
  const seen = await environmentOf(join(node.containerLogDir(container), 'stdout'))
  assert.equal(seen.get('LANG'), 'C.UTF-8')
  // Whitelisted, but bash has set one before the script could.
  assert.equal(seen.get('PATH'), defaultPath)
  assert.deepEqual([...seen.keys()].sort(), [
    'CONTAINER_ID',
    'HADOOP_TOKEN_FILE_LOCATION',
    'HOME',
    'JVM_PID',
    'LANG',
    'LOCALIZATION_COUNTERS',
    'LOCAL_DIRS',
    'LOCAL_USER_DIRS',
    'LOGNAME',
    'LOG_DIRS',
    'MALLOC_ARENA_MAX',
    'NM_HOST',
    'NM_HTTP_PORT',
    'NM_PORT',
    'PATH',
    'PRELAUNCH_ERR',
    'PRELAUNCH_OUT',
    'PWD',
    'SHLVL',
    'USER',
    '_',
  ])
})

test('two variables that use each other are both empty', async (t) => {
  const node = await nodeFor(t)
  const container = await node.run({ command: [SHOW], environment: { A: '$B', B: '$A' } })
  const seen = await environmentOf(join(node.containerLogDir(container), 'stdout'))
  assert.deepEqual([seen.get('A'), seen.get('B')], ['', ''])
})

const refused: readonly (readonly [string, Record<string, string>, number, RegExp])[] = [
  ['a name with a dash', { 'A-B': 'x' }, 1, /'A-B': not a valid identifier/],
  ['a name with a dot', { 'a.b': 'x' }, 1, /'a\.b': not a valid identifier/],
  ['an empty name', { '': 'x' }, 1, /'': not a valid identifier/],
  ['a name that is a command', { 'X=1; touch <LOG_DIR>/ran; Y': 'x' }, 1, /not a valid identifier/],
  ['a NUL', { A: 'x\0y' }, 1, /variable A: the value has a NUL byte/],
  ['131,072 bytes', { A: 'x'.repeat(131_072 - 3 + 1) }, 126, /variable A: Argument list too long: 131073 bytes/],
]

for (const [what, environment, exitStatus, text] of refused) {
  test(`an environment with ${what} is refused by name, before anything runs`, async (t) => {
    const node = await nodeFor(t)
    const container = await node.run({ command: ['touch ran'], environment })
    assert.equal(container.exitStatus, exitStatus)
    assert.match(container.diagnostics, text)
    assert.ok(!node.stored.includes(`launched ${container.id}`))
  })
}

test('the longest value that the kernel takes arrives whole', async (t) => {
  const node = await nodeFor(t)
  const value = 'x'.repeat(131_072 - 3)
  const container = await node.run({ command: ['echo \\${#A} 1><LOG_DIR>/stdout'], environment: { A: value } })
  assert.equal(container.exitStatus, 0, container.diagnostics)
  assert.equal(await readFile(join(node.containerLogDir(container), 'stdout'), 'utf8'), `${value.length}\n`)
})

const commands: readonly (readonly [string, readonly string[], number, string])[] = [
  ['nothing', [], 0, ''],
  ['what is not there', ['no-such-command'], 127, ''],
  ['its own death', ['kill -9 $$'], 137, ''],
  ['what is expanded twice', ["X=1; echo \\$X '$USER' 1><LOG_DIR>/stdout"], 0, '1 alice\n'],
  ['escaped quotes', ['echo \\"a  b\\" 1><LOG_DIR>/stdout'], 0, 'a  b\n'],
  ['bare quotes, which the script’s own end', ['echo "a  b" 1><LOG_DIR>/stdout'], 0, ''],
  ['a line break', ['echo a\necho b 1><LOG_DIR>/stdout'], 0, 'b\n'],
  ['a quote that is not closed', ['echo \\"a'], 2, ''],
  ['128 KiB', [`echo ${'x'.repeat(131_072)} | wc -c 1><LOG_DIR>/stdout`], 0, '131073\n'],
  [
    '1 MB',
    [`: ${'y'.repeat(1_000_000)}; echo $USER \\$\\$ | cut -d\\" \\" -f1 1><LOG_DIR>/stdout; exit 4`],
    4,
    'alice\n',
  ],
]

for (const [what, command, exitStatus, stdout] of commands) {
  test(`a command of ${what} does what it does with Hadoop`, async (t) => {
    const node = await nodeFor(t)
    const container = await node.run({ command })
    assert.equal(container.exitStatus, exitStatus, container.diagnostics)
    if (stdout !== '') assert.equal(await readFile(join(node.containerLogDir(container), 'stdout'), 'utf8'), stdout)
  })
}

test('links are taken as they are written, with blanks, quotes and dollars', async (t) => {
  const node = await nodeFor(t)
  const target = join(node.root, 'a $HOME "file" `x`')
  await writeFile(target, 'content')
  const names = [
    'plain',
    'a b',
    'quo"te',
    '$HOME',
    '`id`',
    "it's",
    '-n',
    'dir/in side/x',
    'back\\slash',
    'new\nline',
    'ü',
  ]
  const resources = Object.fromEntries(names.map((name) => [name, target]))
  const container = await node.run({ command: ['true'], resources })
  assert.equal(container.exitStatus, 0, container.diagnostics)
  for (const name of names) assert.equal(await readlink(join(node.workDir(container), name)), target, name)
})

test('a link named * stands for every entry of its directory', async (t) => {
  const node = await nodeFor(t)
  const folder = join(node.root, 'folder')
  await mkdir(folder)
  await writeFile(join(folder, 'a b'), '')
  await writeFile(join(folder, 'c'), '')
  const container = await node.run({ command: ['true'], resources: { 'lib/*': folder } })
  assert.equal(await readlink(join(node.workDir(container), 'a b')), join(folder, 'a b'))
  assert.equal(await readlink(join(node.workDir(container), 'c')), join(folder, 'c'))
})

for (const name of ['../x', '/x', 'a/../../x', '..', '.', '', 'a\0b']) {
  test(`a link named ${JSON.stringify(name)} is refused, for it leaves the work dir`, async (t) => {
    const node = await nodeFor(t)
    const container = await node.run({ command: ['true'], resources: { [name]: '/etc/hostname' } })
    assert.equal(container.exitStatus, -1)
    assert.match(container.diagnostics, /Link name '.*' leaves the work dir/)
  })
}

test('a link inside another link is refused, for it would land in a cache', async (t) => {
  const node = await nodeFor(t)
  const cache = join(node.root, 'cache')
  await mkdir(cache)
  const container = await node.run({ command: ['true'], resources: { lib: cache, 'lib/x': '/etc/hostname' } })
  assert.match(container.diagnostics, /Link name 'lib\/x' lies inside 'lib'/)
  await assert.rejects(stat(join(cache, 'x')))
})
