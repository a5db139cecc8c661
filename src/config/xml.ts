import { SaxesParser } from 'saxes'
import type { SaxesTagNS } from 'saxes'
import { ConfigFileError } from './errors.ts'
import { javaTrim } from './values.ts'

/** One `<property>`, as it is written. */
export interface XmlProperty {
  readonly kind: 'property'
  readonly name: string
  /** Undefined for no `<value>` or an empty one. */
  readonly value: string | undefined
  readonly isFinal: boolean
  /** Of the opening tag. */
  readonly line: number
}

/** One `<xi:include>`. */
export interface XmlInclude {
  readonly kind: 'include'
  readonly href: string
  readonly line: number
  /** What stands in `<xi:fallback>`; undefined without one. */
  readonly fallback: readonly XmlItem[] | undefined
}

export type XmlItem = XmlProperty | XmlInclude

/** Hadoop's files need five levels. The parser looks for name spaces through all of them at each tag. */
const MAX_DEPTH = 100

/**
 * Reads the text of a Hadoop configuration file. Elements that Hadoop does not know are passed over, and so is a
 * property without a name. No DOCTYPE and so no entities but XML's own five.
 * Source: Configuration.Parser.
 * @param file names the file in errors
 * @throws ConfigFileError with line and column for anything that is not well-formed XML
 */
export function parseConfigurationXml(text: string, file: string): readonly XmlItem[] {
  const reader = new ConfigurationReader()
  const parser = new SaxesParser({ xmlns: true, position: true })
  const fail = (reason: string): never => {
    throw new ConfigFileError(file, { line: parser.line, column: parser.column }, reason)
  }
  parser.on('error', (error) => fail(`not well-formed XML: ${error.message.replace(/^\d+:\d+: /, '')}`))
  parser.on('doctype', () => fail('a DOCTYPE is not accepted: write the values out, or use xi:include'))
  let depth = 0
  parser.on('opentag', (tag) => {
    if (++depth > MAX_DEPTH) fail(`elements are nested more than ${MAX_DEPTH} deep`)
    reader.open(tag, parser.line)
  })
  parser.on('closetag', (tag) => {
    depth--
    reader.close(tag.local)
  })
  parser.on('text', (chunk) => reader.text(chunk))
  parser.on('cdata', (chunk) => reader.text(chunk))
  parser.write(text.startsWith('\uFEFF') ? text.slice(1) : text).close()
  return reader.items
}

interface OpenInclude {
  readonly href: string | undefined
  readonly line: number
  readonly outer: XmlItem[]
  fallback: XmlItem[] | undefined
}

/** Hadoop looks at local names alone and wherever they stand; nesting means something only for include and fallback. */
class ConfigurationReader {
  #items: XmlItem[] = []
  readonly #includes: OpenInclude[] = []
  #token = ''
  #isReadingToken = false
  #name: string | undefined
  #value: string | undefined
  #isFinal = false
  #line = 0

  get items(): readonly XmlItem[] {
    return this.#items
  }

  text(chunk: string): void {
    if (this.#isReadingToken) this.#token += chunk
  }

  open(tag: SaxesTagNS, line: number): void {
    switch (tag.local) {
      case 'property':
        this.#name = attribute(tag, 'name')
        this.#value = attribute(tag, 'value')
        this.#isFinal = attribute(tag, 'final') === 'true'
        this.#line = line
        break
      case 'name':
      case 'value':
      case 'final':
      case 'source':
      case 'tag':
        this.#isReadingToken = true
        this.#token = ''
        break
      case 'include':
        this.#includes.push({ href: attribute(tag, 'href'), line, outer: this.#items, fallback: undefined })
        break
      case 'fallback':
        this.#beginFallback()
        break
      default:
    }
  }

  close(local: string): void {
    switch (local) {
      case 'name':
        if (this.#token.length > 0) this.#name = javaTrim(this.#token)
        break
      case 'value':
        if (this.#token.length > 0) this.#value = this.#token
        break
      case 'final':
        this.#isFinal = this.#token === 'true'
        break
      case 'property':
        this.#endProperty()
        break
      case 'fallback':
        this.#items = this.#includes.at(-1)?.outer ?? this.#items
        break
      case 'include':
        this.#endInclude()
        break
      default:
    }
  }

  #endProperty(): void {
    if (this.#name === undefined) return
    const [name, value, isFinal, line] = [this.#name, this.#value, this.#isFinal, this.#line]
    this.#items.push({ kind: 'property', name, value, isFinal, line })
  }

  #beginFallback(): void {
    const include = this.#includes.at(-1)
    if (include === undefined) return
    include.fallback ??= []
    this.#items = include.fallback
  }

  #endInclude(): void {
    const include = this.#includes.pop()
    if (include?.href === undefined) return
    const { href, line, fallback } = include
    this.#items.push({ kind: 'include', href, line, fallback })
  }
}

function attribute(tag: SaxesTagNS, local: string): string | undefined {
  for (const candidate of Object.values(tag.attributes)) if (candidate.local === local) return candidate.value
  return undefined
}
