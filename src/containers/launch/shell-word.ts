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

/**
 * Why `"value"` would not be one word for bash: then the rest of the script would be read as something else.
 * @returns undefined when it is one word
 */
export function quotingFault(value: string): string | undefined {
  const reader = new Reader(`"${value}"`)
  try {
    reader.word()
  } catch (thrown) {
    if (thrown instanceof QuotingFault) return thrown.message
    throw thrown
  }
  return undefined
}

class QuotingFault extends Error {}

const ENDS_WORD = /[\s;&|<>()]/

/** Walks over bash's quoting, as far as it decides where a word ends. */
class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** The whole text is one word, or it throws. */
  word(): void {
    while (this.#at < this.#text.length) {
      const c = this.#text[this.#at] ?? ''
      if (ENDS_WORD.test(c))
        throw new QuotingFault('an unescaped double quote ends the quoting before a blank or an operator')
      this.#element(false)
    }
  }

  /** One character, or everything up to the end of what it opens. @param isQuoted a single quote stands for itself */
  #element(isQuoted: boolean): void {
    const c = this.#text[this.#at]
    const next = this.#text[this.#at + 1]
    if (c === '\\') this.#at += 2
    else if (c === '"') this.#until('"', true, 'a double quote is not closed')
    else if (c === '`') this.#backticks()
    else if (c === "'" && !isQuoted) this.#singleQuotes()
    else if (c === '(' && !isQuoted) this.#until(')', false, 'a parenthesis is not closed')
    else if (c === '$' && (next === '(' || next === '{')) {
      this.#at++
      if (next === '(') this.#until(')', false, '$( is not closed')
      // Here bash pairs single quotes, even where the whole stands in double quotes.
      else this.#until('}', false, '${ is not closed')
    } else this.#at++
  }

  /** Called on the opening character. */
  #until(closer: string, isQuoted: boolean, fault: string): void {
    this.#at++
    while (this.#text[this.#at] !== closer) {
      if (this.#at >= this.#text.length) throw new QuotingFault(fault)
      this.#element(isQuoted)
    }
    this.#at++
  }

  /** What is inside is read again later: here only an unescaped backtick counts. */
  #backticks(): void {
    this.#at++
    while (this.#text[this.#at] !== '`') {
      if (this.#at >= this.#text.length) throw new QuotingFault('a backtick is not closed')
      this.#at += this.#text[this.#at] === '\\' ? 2 : 1
    }
    this.#at++
  }

  #singleQuotes(): void {
    const end = this.#text.indexOf("'", this.#at + 1)
    if (end === -1) throw new QuotingFault('a single quote is not closed')
    this.#at = end + 1
  }
}

function endOfSingleQuotes(value: string, from: number): number {
  const end = value.indexOf("'", from + 1)
  return end === -1 ? value.length : end
}
