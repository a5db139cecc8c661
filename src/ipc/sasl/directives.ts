/** The `key=value,key="value"` lists of DIGEST-MD5. Source: RFC 2831 §7.1, DigestMD5Base.parseDirectives of the JDK. */
import { SaslError } from './sasl-error.ts'

/** Values by key, in order; `realm`, `cipher` and `qop` may stand more than once. */
export type Directives = ReadonlyMap<string, readonly string[]>

/**
 * Accepts either quoting, any order, backslash escapes inside quotes and blanks around keys and values. A key without
 * a value counts as an empty one, as in the JDK.
 * @throws SaslError that a list is malformed
 */
export function parseDirectives(bytes: Uint8Array): Directives {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  const directives = new Map<string, string[]>()
  let at = 0
  while ((at = skip(text, at, SEPARATOR)) < text.length) {
    const keyEnd = until(text, at, '=')
    const key = text.slice(at, keyEnd).trim().toLowerCase()
    if (key === '' || key.includes(',')) throw malformed(`Directive key '${key}' is empty or contains a ','`)
    const value = valueAt(text, skip(text, keyEnd + 1, BLANK), key)
    const values = directives.get(key)
    if (values === undefined) directives.set(key, [value.text])
    else values.push(value.text)
    at = skip(text, value.end, BLANK)
    if (at < text.length && text[at] !== ',') throw malformed(`Expecting comma or end after directive '${key}'`)
  }
  return directives
}

const BLANK = /[^ \t\r\n]/g
const SEPARATOR = /[^ \t\r\n,]/g

function skip(text: string, from: number, other: RegExp): number {
  other.lastIndex = from
  return other.exec(text)?.index ?? text.length
}

function until(text: string, from: number, mark: string): number {
  const at = text.indexOf(mark, from)
  return at === -1 ? text.length : at
}

function valueAt(text: string, start: number, key: string): { text: string; end: number } {
  if (text[start] !== '"') {
    const end = until(text, start, ',')
    return { text: text.slice(start, end).trimEnd(), end }
  }
  let value = ''
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at]
    if (character === '"') return { text: value, end: at + 1 }
    value += character === '\\' ? (text[++at] ?? '') : character
  }
  throw malformed(`Unmatched quote found for directive '${key}'`)
}

export function quoted(value: string): string {
  return `"${value.replace(/["\\]/g, '\\$&')}"`
}

/** The items of a quoted list such as `"auth-conf, auth-int"`. */
export function listItems(values: readonly string[] | undefined): string[] {
  return (values ?? []).flatMap((value) => value.split(/[ \t,]+/)).filter((item) => item !== '')
}

function malformed(what: string): SaslError {
  return new SaslError(`DIGEST-MD5: ${what}`)
}
