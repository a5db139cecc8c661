import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseResourceUrl } from '../../../src/localization/resource-url.ts'

test('a URL is printed as Hadoop prints its path', () => {
  for (const [url, text] of [
    [{ scheme: 'file', port: -1, file: '/user/a b.jar' }, 'file:/user/a b.jar'],
    [{ scheme: 'hdfs', host: 'nn', port: 8020, file: '/a' }, 'hdfs://nn:8020/a'],
    [{ scheme: 'hdfs', host: 'nn', file: '//a//b/' }, 'hdfs://nn/a/b'],
    [{ scheme: 's3a', userInfo: 'me', host: 'h', port: -1, file: '/a/./b/../c' }, 's3a://me@h/a/c'],
    [{ file: '/a%20b' }, '/a%20b'],
  ] as const)
    assert.equal(parseResourceUrl(url, 'file:///').text, text)
})

test('the default file system gives scheme and authority where the master gave none', () => {
  const { scheme, authority, path, name } = parseResourceUrl({ file: '/d/x.tgz' }, 'hdfs://nn:8020')
  assert.deepEqual(
    { scheme, authority, path, name },
    { scheme: 'hdfs', authority: 'nn:8020', path: '/d/x.tgz', name: 'x.tgz' },
  )
  assert.equal(parseResourceUrl({ file: '/x' }, 'file:///').scheme, 'file')
  assert.throws(() => parseResourceUrl({ file: '/x' }, 'nonsense'), {
    message: 'Invalid resource: /x has no scheme and fs.defaultFS is "nonsense"',
  })
})

test('no path leads above the root or has no name', () => {
  assert.equal(parseResourceUrl({ scheme: 'file', file: '/../../etc/x' }, '').path, '/etc/x')
  for (const file of ['', 'x', '/', '//', '/..', '/a/..', '/a\0b'])
    assert.throws(() => parseResourceUrl({ scheme: 'file', file }, ''), /Invalid resource/)
})
