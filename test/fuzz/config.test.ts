import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { ConfigFileError } from '../../src/config/errors.ts'
import { expandVariables, ExpansionError } from '../../src/config/expansion.ts'
import { findKey, keys, nearestKey } from '../../src/config/keys.ts'
import type { Key, KeyName } from '../../src/config/keys.ts'
import { decodeXml } from '../../src/config/resources.ts'
import { parseTyped } from '../../src/config/typed-value.ts'
import {
  parseAcl,
  parseAddress,
  parseBytes,
  parseDuration,
  parseEnvironment,
  parseFloatingPoint,
  parseInt32,
  parseInt64,
  parseList,
  parseOctal,
  parseRanges,
  parseStorageSize,
} from '../../src/config/values.ts'
import { parseConfigurationXml } from '../../src/config/xml.ts'

const RUNS = { numRuns: 2000 }

function lettersOf(letters: string): fc.Arbitrary<string> {
  return fc.constantFrom(...letters.split(''))
}

/** Anything but a refusal of the file would end the daemon without a word. */
function parseOrRefuse(text: string): void {
  try {
    parseConfigurationXml(text, 'f')
  } catch (thrown) {
    assert.ok(thrown instanceof ConfigFileError, String(thrown))
  }
}

const PIECES = [
  '<configuration>',
  '</configuration>',
  '<property>',
  '</property>',
  '<name>',
  '</name>',
  '<value>',
  '</value>',
  '<final>',
  'true',
  '</final>',
  '<xi:include href="a"/>',
  '<include href="a">',
  '</include>',
  '<fallback>',
  '</fallback>',
  '<!--',
  '-->',
  '<![CDATA[',
  ']]>',
  '<!DOCTYPE a>',
  '&amp;',
  '&#0;',
  '&x;',
  '<?xml version="1.0"?>',
  '<?p',
  '?>',
  '<property name="a" value="b"/>',
  '\u0000',
  '\uFEFF',
  '\r\n',
  '"',
  "'",
  'text',
]

test('any text is read or refused as a file', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), parseOrRefuse), RUNS)
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((pieces) => pieces.join('')),
      parseOrRefuse,
    ),
    RUNS,
  )
})

test('any bytes are decoded or refused as a file', () => {
  const prolog = fc.constantFrom('', '<?xml version="1.0" encoding="', '<?xml encoding="utf-16"?>', '\uFEFF')
  fc.assert(
    fc.property(prolog, fc.uint8Array({ maxLength: 100 }), (head, tail) => {
      try {
        decodeXml(Buffer.concat([Buffer.from(head), tail]), 'f')
      } catch (thrown) {
        assert.ok(thrown instanceof ConfigFileError, String(thrown))
      }
    }),
    RUNS,
  )
})

test('names and values that are written to a file are read from it', () => {
  const text = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
    .filter((value) => /^[^\p{C}]+$/u.test(value))
  const escape = (value: string) => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text, fc.boolean()), { maxLength: 10 }), (properties) => {
      const rows = properties.map(([name, value, isFinal]) => {
        return `<property><name>${escape(name)}</name><value>${escape(value)}</value><final>${isFinal}</final></property>`
      })
      const items = parseConfigurationXml(`<configuration>${rows.join('\n')}</configuration>`, 'f')
      assert.deepEqual(
        items.map((item) => (item.kind === 'property' ? [item.name, item.value, item.isFinal] : item)),
        properties.map(([name, value, isFinal]) => [name.replace(/^ +| +$/g, ''), value, isFinal]),
      )
    }),
    { numRuns: 500 },
  )
})

test('expansion of any values ends, with a text or with the refusal', () => {
  const piece = fc.constantFrom(
    '${a}',
    '${b}',
    '${c}',
    '${',
    '}',
    '$',
    '{',
    'a',
    'b',
    ' ',
    '${env.X:-',
    '${env.X-',
    '${env.',
    ':-',
    '-',
    '\n',
  )
  const value = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(value, value, value, value, (text, a, b, c) => {
      const raw = (key: string) => ({ a, b, c })[key as 'a' | 'b' | 'c']
      try {
        expandVariables(text, { environment: { X: '' }, systemProperties: {}, raw })
      } catch (thrown) {
        assert.ok(thrown instanceof ExpansionError, String(thrown))
      }
    }),
    RUNS,
  )
})

test('long values of one kind of character cost no more than their length', () => {
  const length = 200_000
  const rows: Key[] = Object.values(keys)
  const perType = [...new Map(rows.map((key) => [key.type, key])).values()]
  const startMs = performance.now()
  for (const unit of [
    ' ',
    ',',
    'a',
    '1',
    '.',
    '-',
    ':',
    '/',
    '\n',
    '${',
    '${env.a-',
    'a,',
    'A=',
    '[',
    'k',
    '\u00a0',
    'a.',
    ' ,',
    '_',
    '_-',
  ]) {
    const text = unit.repeat(length / unit.length)
    for (const key of perType) parseTyped(key, `${text}!`)
    try {
      expandVariables(text, { environment: {}, systemProperties: {}, raw: () => undefined })
    } catch (thrown) {
      assert.ok(thrown instanceof ExpansionError)
    }
  }
  const elapsedMs = performance.now() - startMs
  assert.ok(elapsedMs < 10_000, `${elapsedMs} ms`)
})

test('any text is a value of its row or none, for every row', () => {
  const names = Object.keys(keys) as KeyName[]
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.string({ unit: lettersOf('0123456789-+.,:/=abkmgstxX \n[]*()'), maxLength: 20 }),
  )
  fc.assert(
    fc.property(fc.constantFrom(...names), text, (name, value) => {
      const parsed = parseTyped(keys[name], value)
      if (typeof parsed === 'number' && keys[name].type !== 'float') assert.ok(!Number.isNaN(parsed))
    }),
    RUNS,
  )
})

test('any name is found or not, and a nearest one is a name of the table', () => {
  fc.assert(
    fc.property(fc.string({ unit: lettersOf('yarn.odemgsc-<>'), maxLength: 60 }), (tail) => {
      const name = `yarn.nodemanager.${tail}`
      findKey(name)
      const nearest = nearestKey(name)
      assert.ok(nearest === undefined || Object.hasOwn(keys, nearest))
    }),
    { numRuns: 300 },
  )
})

test('whole numbers come back from decimal and hexadecimal', () => {
  fc.assert(
    fc.property(fc.integer(), (value) => {
      assert.equal(parseInt32(` ${value}\n`), value)
      assert.equal(parseInt32(`${value < 0 ? '-' : ''}0x${Math.abs(value).toString(16)}`), value)
      assert.equal(parseOctal((value & 0o7777).toString(8)), value & 0o7777)
    }),
    RUNS,
  )
  fc.assert(
    fc.property(fc.maxSafeInteger(), (value) => {
      assert.equal(parseInt64(String(value)), value)
      assert.equal(parseBytes(String(value)), value)
      assert.equal(parseDuration(`${value}ms`, 'ms'), value)
    }),
    RUNS,
  )
})

test('numbers come back from their text', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true }), (value) =>
      assert.equal(parseFloatingPoint(Object.is(value, -0) ? '-0' : String(value)), value),
    ),
    RUNS,
  )
})

test('sizes and durations come back from each unit', () => {
  fc.assert(
    fc.property(fc.nat({ max: 1000 }), fc.nat({ max: 4 }), (count, power) => {
      const prefix = 'kmgtp'[power] ?? 'k'
      assert.equal(parseBytes(count + prefix), count * 1024 ** (power + 1))
      assert.equal(parseStorageSize(`${count}.5 ${prefix}B`), (count + 0.5) * 1024 ** (power + 1))
      assert.equal(parseDuration(`${count}h`, 's'), count * 3600)
    }),
  )
})

const word = fc.stringMatching(/^[a-z0-9_.-]{1,12}$/)

test('lists, access lists, environments, ranges and addresses come back from their text', () => {
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), fc.array(word, { maxLength: 8 }), (one, two) => {
      assert.deepEqual(parseList(one.join(' ,\n ')), one)
      assert.deepEqual(parseAcl(`${one.join(',')} ${two.join(',')}`), { isEveryone: false, users: one, groups: two })
      const variables = one.map((value, index) => ({ name: `V${index}`, value }))
      assert.deepEqual(parseEnvironment(variables.map(({ name, value }) => `${name}=${value}`).join(',')), variables)
    }),
  )
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(), fc.nat()).map(([a, b]) => ({ first: Math.min(a, b), last: Math.max(a, b) }))),
      (ranges) => {
        assert.deepEqual(parseRanges(ranges.map(({ first, last }) => `${first}-${last}`).join(', ')), ranges)
      },
    ),
  )
  const host = fc.oneof(fc.domain(), fc.ipV4())
  fc.assert(
    fc.property(host, fc.nat({ max: 65535 }), (name, port) => {
      assert.deepEqual(parseAddress(`${name}:${port}`, undefined), { host: name, port })
    }),
  )
  fc.assert(
    fc.property(fc.ipV6(), fc.nat({ max: 65535 }), (name, port) => {
      assert.deepEqual(parseAddress(`[${name}]:${port}`, undefined), { host: name, port })
    }),
  )
})
