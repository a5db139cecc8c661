import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Configuration } from '../../../src/config/configuration.ts'
import { ConfigError, ConfigFileError } from '../../../src/config/errors.ts'
import {
  parseAddress,
  parseBoolean,
  parseBytes,
  parseDuration,
  parseFloatingPoint,
  parseInt32,
  parseInt64,
  parseList,
  parsePlainList,
  parseRanges,
  parseStorageSize,
} from '../../../src/config/values.ts'
import { fixture } from '../../helpers/fixtures.ts'
import { readFolder, withFolder } from './support.ts'

interface Failure {
  readonly error: string
}

interface FileCase {
  readonly name: string
  /** Bytes as Latin-1. */
  readonly inputs: Readonly<Record<string, string>>
  readonly expected: Readonly<Record<string, string | null | Failure>> | Failure
}

interface ValueCase {
  readonly text: string
  readonly int: number | Failure
  readonly long: string | Failure
  readonly double: string | Failure
  readonly boolean: string
  readonly durationMs: number | Failure
  readonly durationS: number | Failure
  readonly bytes: string | Failure
  readonly storage: string | Failure
  readonly list: readonly string[]
  readonly plainList: readonly string[] | null
  readonly address: string | Failure
  readonly ranges: string | Failure
}

interface Captured {
  readonly files: readonly FileCase[]
  readonly values: readonly ValueCase[]
}

const captured = fixture<Captured>('configuration/hadoop-3.4.2.json')

/** Where Bobbin means to differ. */
const OTHER_HERE: Readonly<Record<string, string>> = {
  doctype: 'Hadoop reads a DOCTYPE with entities of its own; here it is refused',
  'include-nested': 'Hadoop looks for an include of an included file beside the outermost file',
}

const surroundings = { environment: { VEC_SET: 's', VEC_EMPTY: '' } }

function isFailure(expected: unknown): expected is Failure {
  return typeof expected === 'object' && expected !== null && typeof Object(expected).error === 'string'
}

function readAll(configuration: Configuration, names: readonly string[]): Record<string, string | undefined> {
  return Object.fromEntries(names.map((name) => [name, configuration.get(name)]))
}

for (const { name, inputs, expected } of captured.files.filter((item) => !Object.hasOwn(OTHER_HERE, item.name))) {
  const files = Object.fromEntries(Object.entries(inputs).map(([path, bytes]) => [path, Buffer.from(bytes, 'latin1')]))

  if (isFailure(expected)) {
    test(`files: ${name} is refused as by Hadoop`, async () => {
      await withFolder(files, (folder) => assert.rejects(readFolder(folder), ConfigFileError))
    })
    continue
  }

  test(`files: ${name} reads as in Hadoop`, async () => {
    await withFolder(files, async (folder) => {
      const configuration = await readFolder(folder, surroundings)
      assert.deepEqual([...configuration.setNames()].sort(), Object.keys(expected).sort())
      const [broken, sound] = partition(Object.keys(expected), (key) => isFailure(expected[key]))
      // A name that was written with blanks is kept so, and Hadoop's look-up trims what it is asked for.
      const trimmed = sound.filter((key) => key === key.trim())
      assert.deepEqual(readAll(configuration, trimmed), Object.fromEntries(trimmed.map((key) => [key, expected[key]])))
      for (const key of broken) assert.throws(() => configuration.get(key), ConfigError)
    })
  })
}

function partition<T>(items: readonly T[], fits: (item: T) => boolean): [T[], T[]] {
  return [items.filter(fits), items.filter((item) => !fits(item))]
}

function everyValue(what: string, check: (value: ValueCase) => void): void {
  test(`values: ${captured.values.length} texts read as ${what} as in Hadoop`, () => {
    assert.ok(captured.values.length > 90)
    captured.values.forEach(check)
  })
}

/** Ours against Hadoop's, where a failure there is `undefined` here. */
function same(text: string, ours: unknown, theirs: unknown): void {
  assert.deepEqual(ours, isFailure(theirs) ? undefined : theirs, JSON.stringify(text))
}

everyValue('int', ({ text, int }) => same(text, parseInt32(text), int))
everyValue('long', ({ text, long }) => same(text, parseInt64(text), isFailure(long) ? long : Number(long)))
everyValue('a number', ({ text, double }) =>
  same(text, parseFloatingPoint(text), isFailure(double) ? double : Number(double)),
)
everyValue('boolean', ({ text, boolean }) => same(text, String(parseBoolean(text) ?? 'default'), boolean))
everyValue('duration', ({ text, durationMs, durationS }) => {
  same(text, parseDuration(text, 'ms'), durationMs)
  same(text, parseDuration(text, 's'), durationS)
})
everyValue('bytes', ({ text, bytes }) => same(text, parseBytes(text), isFailure(bytes) ? bytes : Number(bytes)))
everyValue('a list', ({ text, list }) => same(text, parseList(text), list))
everyValue('a plain list', ({ text, plainList }) => same(text, parsePlainList(text), plainList ?? []))
everyValue('storage size', ({ text, storage }) => {
  // Hadoop gives the default for a blank text, and cuts the unit off wrongly where blanks follow it.
  if (text === text.trim() && text !== '')
    same(text, parseStorageSize(text), isFailure(storage) ? storage : Number(storage))
})
everyValue('ranges', ({ text, ranges }) => {
  const ours = parseRanges(text)?.map(({ first, last }) => `${first}-${last}`)
  same(text, ours?.join(','), ranges)
})
everyValue('an address', ({ text, address }) => {
  // A host name with an underscore works here, as on many container networks; a user before the host does not.
  if (['a_b:1', 'user@host:1'].includes(text)) return
  const ours = parseAddress(text, 8041)
  const host = ours?.host.includes(':') === true ? `[${ours.host}]` : ours?.host
  same(text, ours === undefined ? undefined : `${host} ${ours.port}`, address)
})
