import { deprecatedKeys, findKey, plainKeyNames } from './keys.ts'
import { ConfigError } from './errors.ts'
import type { Source } from './errors.ts'
import { expandVariables, ExpansionError } from './expansion.ts'
import type { Variables } from './expansion.ts'
import type { Property } from './resources.ts'

/** A key as it is set, for those who show the whole configuration. */
export interface Entry {
  readonly name: string
  /** Variables unexpanded. */
  readonly rawValue: string
  readonly isFinal: boolean
  /** Undefined for the default of the table. */
  readonly source: Source | undefined
}

export interface ConfigurationOptions {
  readonly properties: readonly Property[]
  /** `-D name=value` of the command line: stronger than any file, and read by `${name}` before any key. */
  readonly defines: Readonly<Record<string, string>>
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly systemProperties: Readonly<Record<string, string | undefined>>
}

interface Setting {
  readonly value: string
  readonly source: Source
  /** See Property. */
  readonly resource: string
}

const COMMAND_LINE = 'command line'

/**
 * What the files, the command line and the table of keys say, as texts. A later property overrides an earlier one
 * unless the earlier is final; an empty value overrides nothing; a deprecated name stands for its new one.
 * Typed values: see Settings. Source: org.apache.hadoop.conf.Configuration.
 */
export class Configuration {
  readonly #settings = new Map<string, Setting>()
  readonly #finalNames = new Set<string>()
  readonly #warnings: string[] = []
  readonly #notices: string[] = []
  readonly #variables: Variables

  constructor({ properties, defines, environment, systemProperties }: ConfigurationOptions) {
    for (const property of properties) this.#load(property)
    for (const [name, value] of Object.entries(defines)) {
      this.#settings.set(this.#currentName(name.trim()), {
        value,
        source: { file: COMMAND_LINE, line: 0 },
        resource: COMMAND_LINE,
      })
    }
    this.#variables = {
      environment,
      systemProperties: { ...systemProperties, ...defines },
      raw: (name) => this.getRaw(name),
    }
  }

  /** Attempts to override a final key. */
  get warnings(): readonly string[] {
    return this.#warnings
  }

  /** Deprecated names in use. */
  get notices(): readonly string[] {
    return this.#notices
  }

  /**
   * The value with its variables expanded, not trimmed; undefined for a key that is not set and has no default.
   * @throws ConfigError when two values refer to each other
   */
  get(name: string): string | undefined {
    const raw = this.getRaw(name)
    return raw === undefined ? undefined : this.expand(name, raw)
  }

  /** A text with variables as this configuration expands them; `name` is for the error. @throws ConfigError */
  expand(name: string, text: string): string {
    try {
      return expandVariables(text, this.#variables)
    } catch (thrown) {
      if (!(thrown instanceof ExpansionError)) throw thrown
      throw new ConfigError([{ key: name, value: text, source: this.sourceOf(name), reason: thrown.message }])
    }
  }

  getRaw(name: string): string | undefined {
    const setting = this.#settings.get(currentName(name))
    if (setting !== undefined) return setting.value
    const value = findKey(currentName(name))?.default
    return value?.startsWith('=') === true ? undefined : value
  }

  /** Where the key was set; undefined for one that has its default. */
  sourceOf(name: string): Source | undefined {
    return this.#settings.get(currentName(name))?.source
  }

  /** Base name of the site file that set it; `command line`; undefined for a default. */
  resourceOf(name: string): string | undefined {
    return this.#settings.get(currentName(name))?.resource
  }

  isFinal(name: string): boolean {
    return this.#finalNames.has(currentName(name))
  }

  /** Names that are set, in the order of their last setting. */
  setNames(): readonly string[] {
    return [...this.#settings.keys()]
  }

  /** Every key that has a value, set or by default, sorted by name: what /conf shows. */
  entries(): readonly Entry[] {
    const names = new Set([...plainKeyNames(), ...this.#settings.keys()])
    return [...names].sort().flatMap((name) => {
      const rawValue = this.getRaw(name)
      if (rawValue === undefined) return []
      return [{ name, rawValue, isFinal: this.isFinal(name), source: this.sourceOf(name) }]
    })
  }

  /** Name without the prefix, value expanded, of every set key that begins with it. Java: getPropsWithPrefix. */
  withPrefix(prefix: string): ReadonlyMap<string, string> {
    const found = new Map<string, string>()
    for (const name of this.#settings.keys()) {
      const value = name.startsWith(prefix) && name.length > prefix.length ? this.get(name) : undefined
      if (value !== undefined) found.set(name.slice(prefix.length), value)
    }
    return found
  }

  #load({ name: written, value, isFinal, source, resource }: Property): void {
    const name = this.#currentName(written)
    if (value !== undefined) this.#set(name, { value, source, resource })
    if (isFinal) this.#finalNames.add(name)
  }

  #set(name: string, setting: Setting): void {
    if (!this.#finalNames.has(name)) {
      this.#settings.delete(name)
      this.#settings.set(name, setting)
      return
    }
    const current = this.#settings.get(name)
    if (current === undefined || current.value === setting.value) return
    // Java's text; operators search for it.
    const { file, line } = setting.source
    this.#warnings.push(`${file}:an attempt to override final parameter: ${name};  Ignoring. (line ${line})`)
  }

  #currentName(written: string): string {
    const name = currentName(written)
    if (name !== written) {
      const notice = `${written} is deprecated. Instead, use ${name}`
      if (!this.#notices.includes(notice)) this.#notices.push(notice)
    }
    return name
  }
}

function currentName(name: string): string {
  return (Object.hasOwn(deprecatedKeys, name) ? deprecatedKeys[name] : undefined) ?? name
}
