import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareVersions } from '../../../src/node-status/version.ts'

test('versions are ordered as Hadoop orders them', () => {
  // Checked with VersionUtil of Hadoop 3.4.2.
  const ascending: [string, string][] = [
    ['1', '2.0.0'],
    ['1.0.0', '2'],
    ['1.0.0', '2.0.0'],
    ['1.0', '2.0.0'],
    ['1.0.0', '1.0.0a'],
    ['1.0.0.0', '2.0.0'],
    ['1.0.0', '1.0.0-dev'],
    ['1.0.0', '1.0.1'],
    ['1.0.0', '1.0.2'],
    ['1.0.0', '1.1.0'],
    ['2.0.0', '10.0.0'],
    ['1.0.0', '1.0.0b'],
    ['1.0.0a2', '1.0.0a10'],
    ['1.0.0-alpha-1', '1.0.0'],
    ['1.0.0-alpha-1', '1.0.0-alpha-2'],
    ['1.0.0-alpha1', '1.0.0-alpha2'],
    ['1.0.0-alpha-1', '1.0.0-beta-1'],
    ['1.0-beta', '1.0-SNAPSHOT'],
    ['2.0.0-SNAPSHOT', '2.0.0'],
    ['3.4.2-SNAPSHOT', '3.4.2'],
    ['3.3.6', '3.4.0'],
    ['3.4.2', '3.4.2.1'],
    ['3.4.2', '3.4.2-amzn-0'],
    ['3.1.1', '3.1.1.7.1.9.0-387'],
    ['3.4.2-x', '3.4.2.1'],
    ['1.0.0a2', '1.0.0'],
    ['1.0.0-dev', '1.0.0-zev'],
  ]
  for (const [older, newer] of ascending) {
    assert.ok(compareVersions(older, newer) < 0, `${older} < ${newer}`)
    assert.ok(compareVersions(newer, older) > 0, `${newer} > ${older}`)
  }
  for (const [a, b] of [
    ['2.0.0', '2.0.0'],
    ['2.0.0a', '2.0.0a'],
    ['1', '1.0.0'],
    ['2.0.0-SNAPSHOT', '2.0.0-SNAPSHOT'],
  ] as const)
    assert.equal(compareVersions(a, b), 0, `${a} = ${b}`)
})
