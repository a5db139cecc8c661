import type { Key, ValueType, ValueTypes } from './keys.ts'
import type { DurationUnit } from './values.ts'
import {
  javaTrim,
  parseAcl,
  parseAddress,
  parseBoolean,
  parseBytes,
  parseDuration,
  parseEnvironment,
  parseFloatingPoint,
  parseInt32,
  parseInt64,
  parseList,
  parseLocalPath,
  parseOctal,
  parsePattern,
  parsePlainList,
  parseRanges,
  parseStorageSize,
} from './values.ts'

/** The value that a text is for a row of the table; undefined when it is none. */
export function parseTyped(key: Key, text: string): ValueTypes[ValueType] | undefined {
  const value = PARSERS[key.type](text, key)
  return value !== undefined && isAllowed(key, value) ? value : undefined
}

type Parsers = { readonly [T in ValueType]: (text: string, key: Key) => ValueTypes[T] | undefined }

const PARSERS: Parsers = {
  string: (text, key) => oneOfExactly(key, javaTrim(text)),
  class: (text, key) => oneOfExactly(key, javaTrim(text)),
  text: (text) => text,
  int: parseInt32,
  long: parseInt64,
  float: parseFloatingPoint,
  boolean: parseBoolean,
  duration: (text, key) => parseDuration(text, durationUnit(key)),
  bytes: parseBytes,
  'storage-size': parseStorageSize,
  list: listOf,
  'plain-list': parsePlainList,
  octal: parseOctal,
  address: (text, key) => parseAddress(text, key.defaultPort),
  acl: parseAcl,
  ranges: parseRanges,
  pattern: parsePattern,
  environment: parseEnvironment,
  path: parseLocalPath,
  paths: pathsOf,
}

/**
 * Stands in for a wrong value whose default is wrong too, as when both come from one broken variable: reading goes on,
 * so that every problem is found, and nobody sees it after that.
 */
export const PLACEHOLDERS: ValueTypes = {
  string: '',
  class: '',
  text: '',
  int: 0,
  long: 0,
  float: 0,
  boolean: false,
  duration: 0,
  bytes: 0,
  'storage-size': 0,
  list: [],
  'plain-list': [],
  octal: 0,
  address: { host: '', port: 0 },
  acl: { isEveryone: false, users: [], groups: [] },
  ranges: [],
  pattern: /(?:)/,
  environment: [],
  path: '',
  paths: [],
}

/** The spelling of the table, whatever the case of the text: Hadoop compares such words without case. */
function oneOfExactly({ oneOf }: Key, text: string): string | undefined {
  return oneOf === undefined ? text : oneOf.find((word) => word.toLowerCase() === text.toLowerCase())
}

function listOf(text: string, key: Key): readonly string[] | undefined {
  const items = parseList(text)
  if (key.oneOf === undefined) return items
  const words = items.map((item) => oneOfExactly(key, item)).filter((word) => word !== undefined)
  return words.length === items.length ? words : undefined
}

function pathsOf(text: string): readonly string[] | undefined {
  const items = parseList(text)
  const paths = items.map(parseLocalPath).filter((path) => path !== undefined)
  return paths.length === items.length ? paths : undefined
}

function durationUnit({ unit }: Key): DurationUnit {
  return unit === 's' ? 's' : unit === 'min' ? 'm' : 'ms'
}

function isAllowed({ min, max }: Key, value: unknown): boolean {
  if (typeof value !== 'number') return true
  return (min === undefined || value >= min) && (max === undefined || value <= max)
}
