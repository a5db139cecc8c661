import type { Configuration } from './configuration.ts'
import { ConfigError, sourceText } from './errors.ts'
import type { Problem } from './errors.ts'
import { unboundVariable } from './expansion.ts'
import { concreteName, expectedForm, keys } from './keys.ts'
import type { Key, KeyName, ValueOf } from './keys.ts'
import { parseTyped, PLACEHOLDERS } from './typed-value.ts'

/**
 * Typed values of a configuration. What is wrong is kept and not thrown, so that one start shows everything; who reads
 * calls `finish` at the end. A wrong value reads as its default, which nobody sees after `finish`.
 */
export class Settings {
  readonly configuration: Configuration
  readonly #problems: Problem[] = []
  readonly #unreadable = new Set<string>()
  readonly #warnings: string[] = []

  constructor(configuration: Configuration) {
    this.configuration = configuration
  }

  get warnings(): readonly string[] {
    return this.#warnings
  }

  /** @param part what stands for the angle brackets of the name */
  read<N extends KeyName>(name: N, part?: string): ValueOf<N> {
    // The row's type has decided what the parser returns, which the compiler can't see through the look-up.
    return this.#read(keys[name], concreteName(name, part)) as ValueOf<N>
  }

  /** True when a file or the command line says something about it. */
  isSet(name: KeyName, part?: string): boolean {
    return this.configuration.sourceOf(concreteName(name, part)) !== undefined
  }

  /**
   * Keeps the start from going on. Of a value that could not even be read nothing more is said.
   * @param reason what is wrong with the value and what would be right
   */
  fail(name: KeyName, reason: string, part?: string): void {
    const key = concreteName(name, part)
    if (this.#unreadable.has(key)) return
    this.#problems.push({ key, value: this.#text(key), source: this.configuration.sourceOf(key), reason })
  }

  /** Said once, however often. */
  warn(text: string): void {
    if (!this.#warnings.includes(text)) this.#warnings.push(text)
  }

  /** @throws ConfigError with everything that was found */
  finish(): void {
    const seen = new Set<string>()
    const problems = this.#problems.filter(({ key, reason }) => {
      const id = `${key}\n${reason}`
      return !seen.has(id) && seen.add(id)
    })
    if (problems.length > 0) throw new ConfigError(problems)
  }

  #read(key: Key, name: string): unknown {
    const text = this.#text(name)
    // An empty boolean is the default, as in Java.
    if (text !== undefined && !(key.type === 'boolean' && text.trim() === '')) {
      const parsed = parseTyped(key, text)
      if (parsed !== undefined) return parsed
      this.#reject(name, key, text)
    }
    if (key.default?.startsWith('=') === true) return this.read(key.default.slice(1) as KeyName)
    if (key.default === undefined) return isList(key) ? [] : undefined
    return parseTyped(key, this.#expandDefault(name, key.default)) ?? PLACEHOLDERS[key.type]
  }

  #reject(name: string, key: Key, text: string): void {
    const source = this.configuration.sourceOf(name)
    if (key.type === 'boolean') {
      const place = source === undefined ? '' : ` (${sourceText(source)})`
      this.warn(`Invalid value for boolean: ${text.trim()}, choose default value: ${key.default} for ${name}${place}`)
      return
    }
    this.#unreadable.add(name)
    const variable = unboundVariable(text)
    const hint = variable === undefined ? '' : `; nothing says what ${variable} is`
    this.#problems.push({ key: name, value: text, source, reason: `expected ${expectedForm(key)}${hint}` })
  }

  #text(name: string): string | undefined {
    try {
      return this.configuration.get(name)
    } catch (thrown) {
      if (!(thrown instanceof ConfigError)) throw thrown
      this.#problems.push(...thrown.problems)
      return undefined
    }
  }

  #expandDefault(name: string, text: string): string {
    try {
      return this.configuration.expand(name, text)
    } catch (thrown) {
      if (!(thrown instanceof ConfigError)) throw thrown
      return text // #text has kept the problem: the value was this default.
    }
  }
}

function isList({ type }: Key): boolean {
  return type === 'list' || type === 'plain-list' || type === 'paths'
}
