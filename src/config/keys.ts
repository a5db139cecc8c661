/**
 * The only list of configuration keys. A name may hold one part in angle brackets, which stands for anything:
 * `yarn.nodemanager.admin-env.<name>`. Types and checks of values, docs/configuration.md and the warning about
 * unknown keys all come from here.
 */
import { bobbinKeys } from './keys/bobbin.ts'
import { commonKeys } from './keys/common.ts'
import { nodeManagerKeys } from './keys/node-manager.ts'
import type { Key, ValueType, ValueTypes } from './keys/row.ts'
import { yarnKeys } from './keys/yarn.ts'

export { deprecatedKeys } from './keys/deprecated.ts'
export type { Key, ValueType, ValueTypes } from './keys/row.ts'

export const keys = { ...nodeManagerKeys, ...yarnKeys, ...commonKeys, ...bobbinKeys } as const

export type KeyName = keyof typeof keys

/** What a key reads as; also undefined for one without a default, but for lists, which are then empty. */
export type ValueOf<N extends KeyName> =
  (typeof keys)[N] extends Key<infer T, infer D>
    ? ValueTypes[T] | (D extends string ? never : T extends 'list' | 'plain-list' | 'paths' ? never : undefined)
    : never

const rows: Readonly<Record<string, Key>> = keys
const patterns = Object.entries(rows)
  .filter(([name]) => name.includes('<'))
  .map(([name, key]) => {
    const [prefix = '', suffix = ''] = name.split(/<[^>]+>/)
    return { name, key, prefix, suffix }
  })
  // Of two that fit, the more definite one: the order of the table does not matter.
  .sort((a, b) => b.prefix.length + b.suffix.length - a.prefix.length - a.suffix.length)

/** The row of a concrete key; undefined for one that is in no row. */
export function findKey(name: string): Key | undefined {
  if (Object.hasOwn(rows, name) && !name.includes('<')) return rows[name]
  return patterns.find(
    ({ prefix, suffix }) =>
      name.length > prefix.length + suffix.length && name.startsWith(prefix) && name.endsWith(suffix),
  )?.key
}

/** Names of the rows that stand for one key alone. */
export function plainKeyNames(): readonly string[] {
  return Object.keys(rows).filter((name) => !name.includes('<'))
}

/** The row's name with `part` for what stands in angle brackets. */
export function concreteName(name: KeyName, part: string | undefined): string {
  return part === undefined ? name : name.replace(/<[^>]+>/, () => part)
}

/** The key whose name needs the fewest changes to become `name`; undefined when none is near. */
export function nearestKey(name: string): string | undefined {
  // A third of the letters may differ, and never so many that a short name fits everything.
  let best = Math.max(2, Math.floor((name.length - name.indexOf('.')) / 3))
  let nearest: string | undefined
  for (const candidate of Object.keys(rows)) {
    const distance = editDistance(name, candidate, best)
    if (distance >= best) continue
    best = distance
    nearest = candidate
  }
  return nearest
}

/** Levenshtein's distance, or `limit` when it is not below. */
function editDistance(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) >= limit) return limit
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let i = 0; i < from.length; i++) {
    const next = [i + 1]
    let least = i + 1
    for (let j = 0; j < to.length; j++) {
      const changed = (row[j] ?? limit) + (from[i] === to[j] ? 0 : 1)
      const cost = Math.min(changed, (row[j + 1] ?? limit) + 1, (next[j] ?? limit) + 1)
      next.push(cost)
      least = Math.min(least, cost)
    }
    if (least >= limit) return limit
    row = next
  }
  return Math.min(limit, row[to.length] ?? limit)
}

/** What a value of a row has to look like, for an error. */
export function expectedForm({ type, unit, oneOf, min, max, defaultPort }: Key): string {
  const base = oneOf === undefined ? FORMS[type] : `${type === 'list' ? 'a list of' : 'one of'} ${oneOf.join(', ')}`
  const bounds = [min === undefined ? '' : `at least ${min}`, max === undefined ? '' : `at most ${max}`]
  const port = type === 'address' && defaultPort !== undefined ? `the port may be left out (${defaultPort})` : ''
  return [base, unit === undefined ? '' : `in ${unit}`, ...bounds, port].filter((part) => part !== '').join(', ')
}

const FORMS: Readonly<Record<ValueType, string>> = {
  string: 'a text',
  text: 'a text',
  int: 'a whole number up to 2147483647 without unit, decimal or 0x',
  long: 'a whole number without unit, decimal or 0x',
  float: 'a number',
  boolean: 'true or false',
  duration: 'a whole number with an optional unit ns, us, ms, s, m, h or d',
  bytes: 'a whole number with an optional k, m, g, t, p or e',
  'storage-size': 'a number with a unit b, kb, mb, gb, tb, pb or eb',
  list: 'a list with commas',
  'plain-list': 'a list with commas',
  octal: 'octal digits such as 710',
  address: 'host:port with a port up to 65535',
  acl: 'user1,user2 group1,group2, or *',
  class: 'the name of a class',
  ranges: 'ranges such as 1,3-5,7-',
  pattern: 'a regular expression',
  environment: 'NAME=value,NAME=value',
  path: 'an absolute path of this machine, plain or as file: URI',
  paths: 'absolute paths of this machine, plain or as file: URIs, with commas',
}
