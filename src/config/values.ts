import { isIPv4, isIPv6 } from 'node:net'
import type { Address } from './node-manager-config.ts'

/** Hadoop's access control list. */
export interface AccessControlList {
  readonly isEveryone: boolean
  readonly users: readonly string[]
  readonly groups: readonly string[]
}

export interface IntegerRange {
  readonly first: number
  readonly last: number
}

export interface EnvironmentVariable {
  readonly name: string
  readonly value: string
}

const INT_MAX = 2n ** 31n - 1n
const LONG_MAX = 2n ** 63n - 1n

/** A Java int: decimal or 0x, with a sign. Undefined when it is none, as for all the parsers here. */
export function parseInt32(text: string): number | undefined {
  return parseInteger(text, INT_MAX)
}

/** A Java long. Beyond 2^53 the nearest number: such values only stand for "no limit". */
export function parseInt64(text: string): number | undefined {
  return parseInteger(text, LONG_MAX)
}

function parseInteger(text: string, max: bigint): number | undefined {
  const match = /^(-?)(?:0[xX]([+-]?[0-9a-fA-F]+)|(\d+))$|^\+(\d+)$/.exec(javaTrim(text))
  if (match === null) return undefined
  const [, minus = '', hex, decimal, plus] = match
  // Java puts the minus sign before the digits that follow 0x, so that two signs are an error.
  if (hex !== undefined && minus !== '' && /^[+-]/.test(hex)) return undefined
  const digits = (hex ?? decimal ?? plus ?? '').replace(/^[+-]/, '')
  const magnitude = BigInt(hex === undefined ? digits : `0x${digits}`)
  const value = minus === '-' || hex?.startsWith('-') === true ? -magnitude : magnitude
  return value > max || value < -max - 1n ? undefined : Number(value)
}

/** A Java float or double: also `1e3`, `.5`, `90f`, NaN, Infinity. */
export function parseFloatingPoint(text: string): number | undefined {
  const trimmed = javaTrim(text)
  const match = /^([+-]?)(?:(NaN)|(Infinity)|((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)[fFdD]?)$/.exec(trimmed)
  if (match === null) return undefined
  const [, sign, isNaN, isInfinite, digits] = match
  const magnitude = isNaN !== undefined ? Number.NaN : isInfinite !== undefined ? Infinity : Number(digits)
  return sign === '-' ? -magnitude : magnitude
}

/** `true` or `false` in any case. */
export function parseBoolean(text: string): boolean | undefined {
  const lower = javaTrim(text).toLowerCase()
  return lower === 'true' ? true : lower === 'false' ? false : undefined
}

const NANOSECONDS = {
  ns: 1n,
  us: 1000n,
  ms: 10n ** 6n,
  s: 10n ** 9n,
  m: 60n * 10n ** 9n,
  h: 3600n * 10n ** 9n,
  d: 86400n * 10n ** 9n,
}

export type DurationUnit = keyof typeof NANOSECONDS

/** A whole number with an optional unit, in `unit`; what does not fill a whole unit is cut off, as Java does. */
export function parseDuration(text: string, unit: DurationUnit): number | undefined {
  const match = /^([+-]?\d+)(ns|us|ms|[smhd])?$/.exec(javaTrim(text).toLowerCase())
  if (match === null) return undefined
  const [, digits = '', suffix = unit] = match
  const count = BigInt(digits.replace(/^\+/, ''))
  if (count > LONG_MAX || count < -LONG_MAX - 1n) return undefined
  return Number((count * NANOSECONDS[suffix as DurationUnit]) / NANOSECONDS[unit])
}

/** A whole number of bytes with an optional k, m, g, t, p or e. Java: getLongBytes. */
export function parseBytes(text: string): number | undefined {
  const match = /^([+-]?\d+)([kmgtpe]?)$/i.exec(javaTrim(text))
  if (match === null) return undefined
  const [, digits = '', prefix = ''] = match
  const power = prefix === '' ? 0 : 'kmgtpe'.indexOf(prefix.toLowerCase()) + 1
  const bytes = BigInt(digits.replace(/^\+/, '')) * 1024n ** BigInt(power)
  return bytes > LONG_MAX || bytes < -LONG_MAX - 1n ? undefined : Number(bytes)
}

const STORAGE_UNITS = ['bytes', 'kilobytes', 'megabytes', 'gigabytes', 'terabytes', 'petabytes', 'exabytes']

/** A number with a unit that must be there: `1.5g`, `100 mb`, `2 gigabytes`; in bytes. Java: getStorageSize. */
export function parseStorageSize(text: string): number | undefined {
  const match = /^([+-]?[\d.]+(?:e[+-]?\d+)?)\s*(?:([kmgtpe])b?|([a-z]+bytes)|(?:b|bytes))$/.exec(
    javaTrim(text).toLowerCase(),
  )
  if (match === null) return undefined
  const [, digits = '', letter, word] = match
  const power =
    letter !== undefined ? 'kmgtpe'.indexOf(letter) + 1 : word === undefined ? 0 : STORAGE_UNITS.indexOf(word)
  const count = parseFloatingPoint(digits)
  return count === undefined || power < 0 ? undefined : count * 1024 ** power
}

/**
 * Split at commas and line ends, each item trimmed. An empty item between two commas stays, one at the end does not; a
 * comma with line ends around it is one separator. Java: getTrimmedStrings.
 */
export function parseList(text: string): readonly string[] {
  const trimmed = javaTrim(text)
  if (trimmed === '') return []
  const items = trimmed.split(',').flatMap(splitLines)
  while (items.at(-1) === '') items.pop()
  return items
}

function splitLines(piece: string): readonly string[] {
  const trimmed = javaTrim(piece)
  if (!trimmed.includes('\n')) return [trimmed]
  return trimmed
    .split('\n')
    .map(javaTrim)
    .filter((line) => line !== '')
}

/** Split at commas; items as they are, empty ones dropped. Java: getStrings. */
export function parsePlainList(text: string): readonly string[] {
  return text.split(',').filter((item) => item !== '')
}

/** A file mode in octal digits. */
export function parseOctal(text: string): number | undefined {
  const trimmed = javaTrim(text)
  return /^[0-7]{1,4}$/.test(trimmed) ? Number.parseInt(trimmed, 8) : undefined
}

/**
 * `host:port`, `host` or `scheme://host:port/path`; an IPv6 host stands in brackets and comes back without them.
 * @param defaultPort undefined: the port must be written
 */
export function parseAddress(text: string, defaultPort: number | undefined): Address | undefined {
  const match = /^([A-Za-z][A-Za-z0-9+.-]*:\/\/)?(\[[^\]/]*\]|[^:/[\]]+)(?::(\d{0,10}))?(\/.*)?$/.exec(javaTrim(text))
  if (match === null) return undefined
  const [, scheme, written = '', digits = '', path] = match
  const host = written.startsWith('[') ? written.slice(1, -1) : written
  if (path !== undefined && scheme === undefined) return undefined
  if (written.startsWith('[') ? !isIPv6(host) : !isHostName(host)) return undefined
  const port = digits === '' ? defaultPort : Number(digits)
  return port === undefined || port > 65535 ? undefined : { host, port }
}

/** Labels of letters, digits and hyphens. The last of several begins with a letter, unless it is an IPv4 address. */
function isHostName(host: string): boolean {
  if (isIPv4(host)) return true
  const labels = host.replace(/\.$/, '').split('.')
  // An underscore is against the standard that Java holds to, and usual in the host names of container networks.
  if (!labels.every((label) => /^[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?$/.test(label))) return false
  return labels.length === 1 || /^[A-Za-z_]/.test(labels.at(-1) ?? '')
}

/** `user1,user2 group1,group2`; `*` is everybody, a blank alone nobody. Java: AccessControlList. */
export function parseAcl(text: string): AccessControlList {
  const blank = text.indexOf(' ')
  const parts = blank === -1 ? [text] : [text.slice(0, blank), text.slice(blank + 1)]
  if (parts.some((part) => javaTrim(part) === '*')) return { isEveryone: true, users: [], groups: [] }
  const [users = [], groups = []] = parts.map((part) => parseList(part).filter((name) => name !== ''))
  return { isEveryone: false, users, groups }
}

/** `1,3-5,7-`: an open end is 0 or the largest int. */
export function parseRanges(text: string): readonly IntegerRange[] | undefined {
  const ranges: IntegerRange[] = []
  for (const item of text.split(',').filter((part) => part !== '')) {
    const bounds = javaTrim(item).split('-')
    if (bounds.length > 2) return undefined
    const [from = '', to = from] = bounds
    const first = rangeBound(from, 0)
    const last = bounds.length === 1 ? first : rangeBound(to, Number(INT_MAX))
    if (first === undefined || last === undefined || first > last) return undefined
    ranges.push({ first, last })
  }
  return ranges
}

function rangeBound(text: string, open: number): number | undefined {
  const trimmed = javaTrim(text)
  if (trimmed === '') return open
  return /^\+?\d+$/.test(trimmed) ? parseInt32(trimmed) : undefined
}

/** A regular expression that means the same in Java and here for all that configurations use. */
export function parsePattern(text: string): RegExp | undefined {
  try {
    return new RegExp(text)
  } catch {
    return undefined // The caller says which key and value are wrong.
  }
}

/** `A=1,B=$C`: what does not look like a variable is passed over, and of two with one name the last counts. Java: Apps. */
export function parseEnvironment(text: string): readonly EnvironmentVariable[] {
  const values = new Map<string, string>()
  for (const [, name = '', value = ''] of text.matchAll(/(?:^|(?<=,))([A-Za-z_][A-Za-z0-9_]*)=([^,]*)/g))
    values.set(name, value)
  return [...values].map(([name, value]) => ({ name, value }))
}

/** An absolute path of this machine, plain or as a `file:` URI without a host. */
export function parseLocalPath(text: string): string | undefined {
  const trimmed = javaTrim(text)
  const path = /^file:/i.test(trimmed) ? trimmed.slice(5).replace(/^\/\/(?:localhost)?(?=\/)/i, '') : trimmed
  if (!path.startsWith('/') || path.includes('\0')) return undefined
  if (path !== trimmed && path.startsWith('//')) return undefined
  const squeezed = path.replace(/\/{2,}/g, '/')
  return squeezed.length > 1 ? squeezed.replace(/\/$/, '') : squeezed
}

/** Java's String.trim: everything up to U+0020 at both ends, and nothing else. */
export function javaTrim(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && text.charCodeAt(start) <= 32) start++
  while (end > start && text.charCodeAt(end - 1) <= 32) end--
  return text.slice(start, end)
}
