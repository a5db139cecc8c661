import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkSetKeys } from '../../../src/config/check.ts'
import { configurationDocs } from '../../../src/config/docs.ts'
import { deprecatedKeys, findKey, keys, nearestKey } from '../../../src/config/keys.ts'
import type { Key } from '../../../src/config/keys.ts'
import { Settings } from '../../../src/config/settings.ts'
import { projectRoot } from '../../helpers/fixtures.ts'
import { configured } from './support.ts'

const rows: [string, Key][] = Object.entries(keys)

test('every default is a value of its own row', () => {
  const settings = new Settings(configured({}))
  for (const [name, key] of rows) if (key.default !== undefined) settings.read(name as keyof typeof keys)
  settings.finish()
  assert.deepEqual(settings.warnings, [])
})

test('a default that is another key’s value names a key of the table', () => {
  for (const [name, { default: value }] of rows) {
    if (value?.startsWith('=') === true) assert.ok(Object.hasOwn(keys, value.slice(1)), name)
  }
})

test('every row says what the key means, in one sentence', () => {
  for (const [name, { meaning }] of rows) assert.match(meaning, /^\S.*[.)]$/, name)
})

test('no name is in two parts of the table and none is deprecated', async () => {
  const parts = await Promise.all([
    import('../../../src/config/keys/node-manager.ts').then((part) => part.nodeManagerKeys),
    import('../../../src/config/keys/yarn.ts').then((part) => part.yarnKeys),
    import('../../../src/config/keys/common.ts').then((part) => part.commonKeys),
    import('../../../src/config/keys/bobbin.ts').then((part) => part.bobbinKeys),
  ])
  const names = parts.flatMap((part) => Object.keys(part))
  assert.equal(new Set(names).size, names.length)
  assert.deepEqual(
    names.filter((name) => Object.hasOwn(deprecatedKeys, name)),
    [],
  )
})

test('a name with a part that varies is found, and the more definite row wins', () => {
  assert.equal(findKey('yarn.nodemanager.admin-env.LD_LIBRARY_PATH'), keys['yarn.nodemanager.admin-env.<name>'])
  assert.equal(findKey('yarn.nodemanager.resource-type.yarn.io/gpu'), keys['yarn.nodemanager.resource-type.<type>'])
  assert.equal(findKey('yarn.nodemanager.health-checker.gpu.path'), keys['yarn.nodemanager.health-checker.<name>.path'])
  assert.equal(
    findKey('yarn.nodemanager.aux-services.spark_shuffle.classpath'),
    keys['yarn.nodemanager.aux-services.<name>.classpath'],
  )
  assert.equal(findKey('yarn.nodemanager.admin-env.'), undefined)
  assert.equal(findKey('yarn.nodemanager.admin-env.<name>'), keys['yarn.nodemanager.admin-env.<name>'])
  assert.equal(findKey('toString'), undefined)
})

test('a slip of the pen finds the key that was meant, and a name of nothing finds none', () => {
  assert.equal(nearestKey('yarn.nodemanager.resource.memory.mb'), 'yarn.nodemanager.resource.memory-mb')
  assert.equal(nearestKey('yarn.nodemanager.local-dir'), 'yarn.nodemanager.local-dirs')
  assert.equal(nearestKey('yarn.nodemanager.vmem-check.enabled'), 'yarn.nodemanager.vmem-check-enabled')
  assert.equal(nearestKey('bobbin.hadoop.version'), 'bobbin.hadoop-version')
  assert.equal(nearestKey('yarn.nodemanager.foo'), undefined)
  assert.equal(nearestKey('yarn.nodemanager.something-quite-different-altogether'), undefined)
})

test('an unknown key of the node or of Bobbin is warned about with its place, one of others is not', () => {
  const warnings = checkSetKeys(
    configured({
      'yarn.nodemanager.local-dir': '/a',
      'bobbin.foo': '1',
      'yarn.unheard-of': '1',
      'my.own': '1',
      'yarn.nodemanager.local-dirs': '/a',
    }),
  )
  assert.deepEqual(warnings, [
    'yarn-site.xml:2: unknown key yarn.nodemanager.local-dir: it is ignored; did you mean yarn.nodemanager.local-dirs?',
    'yarn-site.xml:3: unknown key bobbin.foo: it is ignored',
  ])
})

test('a wrong value of a key that is only known is warned about', () => {
  assert.deepEqual(checkSetKeys(configured({ 'yarn.nodemanager.runtime.linux.docker.stop.grace-period': '10s' })), [
    'yarn-site.xml:2: yarn.nodemanager.runtime.linux.docker.stop.grace-period = "10s": expected a whole number up to ' +
      '2147483647 without unit, decimal or 0x, in s (this version does not use the key)',
  ])
})

test('a value in a file that Hadoop’s defaults would override there is pointed out', () => {
  assert.deepEqual(checkSetKeys(configured({ 'mapreduce.shuffle.port': '13563' })), [
    "yarn-site.xml:2: mapreduce.shuffle.port in yarn-site.xml: Hadoop's own daemons would use the default '13562'; write it in mapred-site.xml",
  ])
})

test('docs/configuration.md is what the table says', async () => {
  const file = await readFile(join(projectRoot(), 'docs/configuration.md'), 'utf8')
  // Not assert.equal, whose message would be the whole page.
  assert.ok(file === configurationDocs(), 'the page is old: npm run docs')
})

test('the page has every key once', () => {
  const page = configurationDocs()
  for (const [name] of rows) assert.equal(page.split(`\n| \`${name}\` |`).length, 2, name)
})
