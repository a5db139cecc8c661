/**
 * How bash reads a value that stands raw inside double quotes, as Hadoop writes it: `$X`, `$(…)`, backticks and
 * backslashes act, and frameworks count on that.
 */

/** Names that a value refers to, in order. Source: UnixShellScriptBuilder.getEnvDependencies. */
export function variablesUsed(value: string): string[] {
  const names: string[] = []
  let quoted = true
  for (let i = 0; i < value.length; i++) {
    const c = value[i]
    if (c === '\\') i++
    else if (c === '"') quoted = !quoted
    else if (c === "'" && !quoted) i = endOfSingleQuotes(value, i)
    else if (c === '$') {
      const reference = /(?:\{#?)?([A-Za-z_][A-Za-z0-9_]*)/y
      reference.lastIndex = i + 1
      const name = reference.exec(value)
      if (name?.[1] !== undefined) names.push(name[1])
      if (name !== null) i += name[0].length
    }
  }
  return [...new Set(names)]
}

/** Whether `"value"` is one word for bash. If not, the rest of the script would be read as something else. */
export function isOneWord(value: string): boolean {
  return new Reader(`"${value}"`).isOneWord()
}

const ENDS_WORD = /[\s;&|<>()]/

/** Walks over bash's quoting, as far as it decides where a word ends. */
class Reader {
  readonly #text: string
  #at = 0
  #isSound = true

  constructor(text: string) {
    this.#text = text
  }

  isOneWord(): boolean {
    while (this.#at < this.#text.length) {
      if (ENDS_WORD.test(this.#text[this.#at] ?? '')) return false
      this.#element(false)
    }
    return this.#isSound
  }

  /** One character, or everything up to the end of what it opens. @param isQuoted a single quote stands for itself */
  #element(isQuoted: boolean): void {
    const c = this.#text[this.#at]
    const next = this.#text[this.#at + 1]
    if (c === '\\') this.#at += 2
    else if (c === '"') this.#until('"', true)
    else if (c === '`') this.#backticks()
    else if (c === "'" && !isQuoted) this.#singleQuotes()
    else if (c === '(' && !isQuoted) this.#until(')', false)
    else if (c === '$' && (next === '(' || next === '{')) {
      this.#at++
      if (next === '(') this.#until(')', false)
      // Here bash pairs single quotes, even where the whole stands in double quotes.
      else this.#until('}', false)
    } else this.#at++
  }

  /** Called on the opening character. */
  #until(closer: string, isQuoted: boolean): void {
    this.#at++
    while (this.#text[this.#at] !== closer) {
      if (this.#isAtEnd()) return
      this.#element(isQuoted)
    }
    this.#at++
  }

  /** What is inside is read again later: here only an unescaped backtick counts. */
  #backticks(): void {
    this.#at++
    while (this.#text[this.#at] !== '`') {
      if (this.#isAtEnd()) return
      this.#at += this.#text[this.#at] === '\\' ? 2 : 1
    }
    this.#at++
  }

  #singleQuotes(): void {
    const end = this.#text.indexOf("'", this.#at + 1)
    this.#at = end === -1 ? this.#text.length : end + 1
    if (end === -1) this.#isSound = false
  }

  /** Then something that was opened has not been closed. */
  #isAtEnd(): boolean {
    if (this.#at < this.#text.length) return false
    this.#isSound = false
    return true
  }
}

function endOfSingleQuotes(value: string, from: number): number {
  const end = value.indexOf("'", from + 1)
  return end === -1 ? value.length : end
}
