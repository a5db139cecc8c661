import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '../../../src/config/errors.ts'
import { configured, readFolder, site, withFolder } from './support.ts'

test('an attempt to override a final key is warned about in the words of Hadoop, and the value stays', async () => {
  await withFolder(
    { 'core-site.xml': site({ 'a!': '1' }), 'yarn-site.xml': site({ a: '2', b: '3' }) },
    async (folder) => {
      const configuration = await readFolder(folder)
      assert.equal(configuration.get('a'), '1')
      assert.equal(configuration.isFinal('a'), true)
      assert.deepEqual(configuration.warnings, [
        `${folder}/yarn-site.xml:an attempt to override final parameter: a;  Ignoring. (line 2)`,
      ])
    },
  )
})

test('the same value for a final key is no attempt to override it', async () => {
  await withFolder({ 'core-site.xml': site({ 'a!': '1' }), 'yarn-site.xml': site({ a: '1' }) }, async (folder) => {
    assert.deepEqual((await readFolder(folder)).warnings, [])
  })
})

test('the command line is stronger than a final key of a file', () => {
  const configuration = configured({ a: '1' }, { defines: { a: '2' } })
  assert.equal(configuration.get('a'), '2')
  assert.deepEqual(configuration.sourceOf('a'), { file: 'command line', line: 0 })
})

test('a define is read by variables before keys and system properties', () => {
  const configuration = configured({ x: '${user.name}/${b}', b: 'file' }, { defines: { 'user.name': 'me', b: 'line' } })
  assert.equal(configuration.get('x'), 'me/line')
})

test('a deprecated name and its new one read the same, and its use is noted once', () => {
  const configuration = configured({ 'fs.default.name': 'hdfs://a', x: '${fs.default.name}/y', y: '${fs.defaultFS}/z' })
  assert.equal(configuration.get('fs.defaultFS'), 'hdfs://a')
  assert.equal(configuration.get('fs.default.name'), 'hdfs://a')
  assert.equal(configuration.get('x'), 'hdfs://a/y')
  assert.equal(configuration.get('y'), 'hdfs://a/z')
  assert.deepEqual(configuration.notices, ['fs.default.name is deprecated. Instead, use fs.defaultFS'])
})

test('a deprecated name on the command line sets the new one', () => {
  assert.equal(configured({}, { defines: { 'fs.default.name': 'hdfs://b' } }).get('fs.defaultFS'), 'hdfs://b')
})

test('a key that is not set has the default of the table, expanded', () => {
  const configuration = configured({ 'yarn.nodemanager.hostname': 'worker1' })
  assert.equal(configuration.get('yarn.nodemanager.address'), 'worker1:0')
  assert.equal(configuration.getRaw('yarn.nodemanager.address'), '${yarn.nodemanager.hostname}:0')
  assert.equal(configuration.sourceOf('yarn.nodemanager.address'), undefined)
  assert.equal(configuration.get('hadoop.tmp.dir'), '/tmp/hadoop-yarn')
  assert.equal(configuration.get('no.such.key'), undefined)
})

test('a default that is another key’s value is none of its own', () => {
  assert.equal(configured({}).get('yarn.nodemanager.container-monitor.interval-ms'), undefined)
})

test('keys that refer to each other fail when they are read, with key, place and expression', () => {
  const configuration = configured({ a: '${b}', b: '${a}', c: 'fine' })
  assert.equal(configuration.get('c'), 'fine')
  assert.throws(
    () => configuration.get('a'),
    (thrown) =>
      thrown instanceof ConfigError &&
      thrown.message === 'yarn-site.xml:2: a = "${b}": Variable substitution depth too large: 20 ${b}',
  )
})

test('a name of every object, such as constructor, is only a name', () => {
  const configuration = configured({ x: '${constructor}/${env.toString}/${__proto__}' })
  assert.equal(configuration.get('x'), '${constructor}/${env.toString}/${__proto__}')
  assert.equal(configuration.get('constructor'), undefined)
  assert.equal(configured({ constructor: '1', __proto__: '2' }).get('constructor'), '1')
})

test('set keys with a prefix come without it and expanded', () => {
  const configuration = configured({ 'p.a': '1', 'p.b.c': '${p.a}2', q: '3', 'p.': '4' })
  assert.deepEqual(
    [...configuration.withPrefix('p.')],
    [
      ['a', '1'],
      ['b.c', '12'],
    ],
  )
})

test('the entries are the set keys and the defaults, each with its source, and no row for many keys', () => {
  const entries = configured({ 'my.own': '${user.name}', 'yarn.acl.enable': 'true' }).entries()
  const byName = new Map(entries.map((entry) => [entry.name, entry]))
  assert.deepEqual(byName.get('my.own'), {
    name: 'my.own',
    rawValue: '${user.name}',
    isFinal: false,
    source: { file: 'yarn-site.xml', line: 2 },
  })
  assert.equal(byName.get('yarn.acl.enable')?.rawValue, 'true')
  assert.deepEqual(byName.get('yarn.nodemanager.address'), {
    name: 'yarn.nodemanager.address',
    rawValue: '${yarn.nodemanager.hostname}:0',
    isFinal: false,
    source: undefined,
  })
  assert.equal(byName.has('yarn.nodemanager.bind-host'), false)
  assert.ok(entries.every(({ name }) => !name.includes('<')))
  assert.deepEqual([...byName.keys()], [...byName.keys()].sort())
})
