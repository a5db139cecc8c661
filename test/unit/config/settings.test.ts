import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '../../../src/config/errors.ts'
import type { KeyName } from '../../../src/config/keys.ts'
import { Settings } from '../../../src/config/settings.ts'
import { parseAcl, parseEnvironment, parseLocalPath, parseOctal, parsePattern } from '../../../src/config/values.ts'
import { configured, problemsOf } from './support.ts'

/** What one key reads as, and what is said about it. */
function reading(name: KeyName, value: string): { value: unknown; warnings: readonly string[]; message: string } {
  const settings = new Settings(configured({ [name]: value }))
  const result = settings.read(name)
  try {
    settings.finish()
  } catch (thrown) {
    assert.ok(thrown instanceof ConfigError)
    return { value: result, warnings: settings.warnings, message: thrown.message }
  }
  return { value: result, warnings: settings.warnings, message: '' }
}

const read: readonly (readonly [KeyName, string, unknown])[] = [
  ['yarn.nodemanager.resource.memory-mb', ' 0x2000\n', 8192],
  ['yarn.nodemanager.vmem-pmem-ratio', ' 2.5f ', 2.5],
  ['yarn.nodemanager.pmem-check-enabled', ' FALSE ', false],
  ['yarn.nodemanager.pmem-check-enabled', '  ', true],
  ['yarn.am.liveness-monitor.expiry-interval-ms', '15m', 900_000],
  ['yarn.am.liveness-monitor.expiry-interval-ms', '12000', 12_000],
  ['yarn.nodemanager.log.delete.threshold', '2g', 2 * 2 ** 30],
  ['yarn.nodemanager.aux-services', ' a ,\n  b ', ['a', 'b']],
  ['yarn.nodemanager.default-container-executor.log-dirs.permissions', '0750', 0o750],
  ['yarn.resourcemanager.address', 'rm', { host: 'rm', port: 8032 }],
  ['yarn.resourcemanager.address', 'rm:1', { host: 'rm', port: 1 }],
  ['yarn.admin.acl', 'yarn,admin ops', { isEveryone: false, users: ['yarn', 'admin'], groups: ['ops'] }],
  ['yarn.nodemanager.local-dirs', 'file:///a, /b/ ,file:/c', ['/a', '/b', '/c']],
  ['yarn.nodemanager.container.stderr.pattern', ' *err* ', ' *err* '],
  ['hadoop.security.authentication', 'KERBEROS', 'kerberos'],
  ['hadoop.rpc.protection', 'Privacy,integrity', ['privacy', 'integrity']],
  ['yarn.http.policy', 'https_only', 'HTTPS_ONLY'],
]

for (const [name, value, expected] of read) {
  test(`${name} = ${JSON.stringify(value)} reads as ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(reading(name, value), { value: expected, warnings: [], message: '' })
  })
}

const refused: readonly (readonly [KeyName, string, string])[] = [
  ['yarn.nodemanager.resource.memory-mb', '8g', 'expected a whole number without unit, decimal or 0x, in MB'],
  [
    'yarn.nodemanager.resource.cpu-vcores',
    '8.0',
    'expected a whole number up to 2147483647 without unit, decimal or 0x',
  ],
  [
    'yarn.nodemanager.resource.cpu-vcores',
    '99999999999',
    'expected a whole number up to 2147483647 without unit, decimal or 0x',
  ],
  [
    'yarn.nodemanager.sleep-delay-before-sigkill.ms',
    '250ms',
    'expected a whole number without unit, decimal or 0x, in ms, at least 0',
  ],
  ['yarn.nodemanager.vmem-pmem-ratio', 'two', 'expected a number, at least 0'],
  [
    'yarn.am.liveness-monitor.expiry-interval-ms',
    '15 m',
    'expected a whole number with an optional unit ns, us, ms, s, m, h or d, in ms, at least 1',
  ],
  ['yarn.nodemanager.address', 'host:port', 'expected host:port with a port up to 65535, the port may be left out (0)'],
  [
    'yarn.nodemanager.address',
    'host:65536',
    'expected host:port with a port up to 65535, the port may be left out (0)',
  ],
  ['yarn.nodemanager.default-container-executor.log-dirs.permissions', '798', 'expected octal digits such as 710'],
  [
    'yarn.nodemanager.local-dirs',
    '/a,b',
    'expected absolute paths of this machine, plain or as file: URIs, with commas',
  ],
  [
    'yarn.nodemanager.local-dirs',
    'hdfs://nn/a',
    'expected absolute paths of this machine, plain or as file: URIs, with commas',
  ],
  ['hadoop.security.authentication', 'none', 'expected one of simple, kerberos'],
  ['hadoop.rpc.protection', 'privacy,all', 'expected a list of authentication, integrity, privacy'],
  [
    'yarn.nodemanager.localizer.fetch.thread-count',
    '0',
    'expected a whole number up to 2147483647 without unit, decimal or 0x, at least 1',
  ],
  [
    'yarn.nodemanager.container-executor.os.sched.priority.adjustment',
    '20',
    'expected a whole number up to 2147483647 without unit, decimal or 0x, at least -20, at most 19',
  ],
]

for (const [name, value, reason] of refused) {
  test(`${name} = ${JSON.stringify(value)} is refused with place and form`, () => {
    assert.equal(reading(name, value).message, `yarn-site.xml:2: ${name} = ${JSON.stringify(value)}: ${reason}`)
  })
}

test('a class that is not known keeps from starting and the known ones are named', () => {
  const { message } = reading('yarn.nodemanager.container-executor.class', 'com.example.Mine')
  assert.match(message, /= "com\.example\.Mine": expected one of .*DefaultContainerExecutor, .*LinuxContainerExecutor$/)
})

test('a wrong boolean is warned about in the words of Hadoop, with its place, and the default is used', () => {
  assert.deepEqual(reading('yarn.nodemanager.pmem-check-enabled', 'yes'), {
    value: true,
    warnings: [
      'Invalid value for boolean: yes, choose default value: true for yarn.nodemanager.pmem-check-enabled (yarn-site.xml:2)',
    ],
    message: '',
  })
})

test('a variable without a value is named as the cause', () => {
  const { message } = reading('yarn.nodemanager.log-dirs', '${no.such.dir}/logs')
  assert.match(message, /with commas; nothing says what \$\{no\.such\.dir\} is$/)
})

test('all problems are told of together, each once, in the order of reading', async () => {
  const settings = new Settings(
    configured({
      'yarn.nodemanager.delete.thread-count': 'four',
      'yarn.nodemanager.vmem-pmem-ratio': 'x',
      'yarn.acl.enable': 'maybe',
    }),
  )
  const names = ['yarn.nodemanager.delete.thread-count', 'yarn.nodemanager.vmem-pmem-ratio', 'yarn.acl.enable'] as const
  for (const name of [...names, ...names]) settings.read(name)
  const problems = await problemsOf(() => settings.finish())
  assert.deepEqual(
    problems.map(({ key, value, source }) => [key, value, source?.line]),
    [
      ['yarn.nodemanager.delete.thread-count', 'four', 2],
      ['yarn.nodemanager.vmem-pmem-ratio', 'x', 3],
    ],
  )
  assert.equal(settings.warnings.length, 1)
})

test('a wrong value of the command line names the command line', () => {
  const settings = new Settings(configured({}, { defines: { 'yarn.nodemanager.delete.thread-count': 'x' } }))
  settings.read('yarn.nodemanager.delete.thread-count')
  assert.throws(() => settings.finish(), /^ConfigError: command line: yarn\.nodemanager\.delete\.thread-count = "x"/)
})

test('a default that a broken variable spoils is told of, and reading goes on with something of the right kind', async () => {
  const settings = new Settings(configured({ 'yarn.nodemanager.hostname': 'bad host', 'hadoop.tmp.dir': 'relative' }))
  assert.deepEqual(settings.read('yarn.nodemanager.address'), { host: '', port: 0 })
  assert.deepEqual(settings.read('yarn.nodemanager.local-dirs'), [])
  const problems = await problemsOf(() => settings.finish())
  assert.deepEqual(
    problems.map(({ key, value }) => [key, value]),
    [
      ['yarn.nodemanager.address', 'bad host:0'],
      ['yarn.nodemanager.local-dirs', 'relative/nm-local-dir'],
    ],
  )
})

test('keys that refer to each other are one of the problems', async () => {
  const settings = new Settings(configured({ 'hadoop.tmp.dir': '${x}', x: '${hadoop.tmp.dir}' }))
  settings.read('yarn.nodemanager.recovery.dir')
  const problems = await problemsOf(() => settings.finish())
  assert.match(problems[0]?.reason ?? '', /Variable substitution depth too large: 20/)
})

test('a key that follows another has that one’s value unless it is set itself', () => {
  const follows = 'yarn.nodemanager.container-monitor.interval-ms'
  const leader = 'yarn.nodemanager.resource-monitor.interval-ms'
  assert.equal(new Settings(configured({})).read(follows), 3000)
  assert.equal(new Settings(configured({ [leader]: '500' })).read(follows), 500)
  assert.equal(new Settings(configured({ [leader]: '500', [follows]: '100' })).read(follows), 100)
})

test('an unset list is empty and another unset key without default is undefined', () => {
  const settings = new Settings(configured({}))
  assert.deepEqual(settings.read('yarn.nodemanager.aux-services'), [])
  assert.equal(settings.read('yarn.nodemanager.container-executor.os.sched.priority.adjustment'), undefined)
  assert.equal(settings.isSet('yarn.nodemanager.aux-services'), false)
})

test('a key with a part that varies is read by that part', () => {
  const settings = new Settings(configured({ 'yarn.resourcemanager.address.rm1': 'a:1' }))
  assert.deepEqual(settings.read('yarn.resourcemanager.address.<rm-id>', 'rm1'), { host: 'a', port: 1 })
  assert.equal(settings.read('yarn.resourcemanager.address.<rm-id>', 'rm2'), undefined)
})

test('an access list: everybody, nobody, users alone, groups alone', () => {
  const nobody = { isEveryone: false, users: [], groups: [] }
  assert.deepEqual(parseAcl('*'), { ...nobody, isEveryone: true })
  assert.deepEqual(parseAcl(' * '), { ...nobody, isEveryone: true })
  assert.deepEqual(parseAcl(' '), nobody)
  assert.deepEqual(parseAcl(''), nobody)
  assert.deepEqual(parseAcl('a,b'), { ...nobody, users: ['a', 'b'] })
  assert.deepEqual(parseAcl(' g1,g2'), { ...nobody, groups: ['g1', 'g2'] })
})

test('an environment list passes over what is no variable, and the last of a name counts', () => {
  assert.deepEqual(parseEnvironment('A=1,B=$X/y,,9=z,A=2,C='), [
    { name: 'A', value: '2' },
    { name: 'B', value: '$X/y' },
    { name: 'C', value: '' },
  ])
})

test('a local path is absolute and has no needless slashes', () => {
  assert.equal(parseLocalPath('file:///a//b/'), '/a/b')
  assert.equal(parseLocalPath('file://localhost/a'), '/a')
  assert.equal(parseLocalPath('/'), '/')
  for (const text of ['a', './a', 'file:a', 'file://host/a', 's3://b/a', '', '/a\0b'])
    assert.equal(parseLocalPath(text), undefined, text)
})

test('a mode has one to four octal digits', () => {
  assert.equal(parseOctal('1777'), 0o1777)
  for (const text of ['8', '77777', 'rwx', '-7', '']) assert.equal(parseOctal(text), undefined, text)
})

test('the user name pattern of Hadoop works as a pattern here, and a broken one is none', () => {
  const pattern = parsePattern('^[_.A-Za-z0-9][-@_.A-Za-z0-9]{0,255}?[$]?$')
  assert.equal(pattern?.test('a-user$'), true)
  assert.equal(pattern?.test('a user'), false)
  assert.equal(parsePattern('('), undefined)
})
