/** Replacements in one value before it is given up. Java: Configuration.MAX_SUBST. */
const MAX_REPLACEMENTS = 20

/** Where a variable's value comes from, in the order in which they are asked. */
export interface Variables {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** `user.name`, `java.io.tmpdir` and the like, and every -D. */
  readonly systemProperties: Readonly<Record<string, string | undefined>>
  /** A key's value with its own variables unexpanded. */
  raw(key: string): string | undefined
}

/** A value needs more than 20 replacements; most often two keys that refer to each other. */
export class ExpansionError extends Error {
  override readonly name = 'ExpansionError'
}

/** A name holds no blank, `$` or `}`, so the leftmost match is the innermost of nested ones. */
const VARIABLE = /\$\{([^} $]+)\}/

/**
 * Replaces each `${name}`. The first variable without a value ends the work: the rest of the text stays as it is.
 * A variable whose value contains that same variable gives back the text as it was.
 * Source: Configuration.substituteVars.
 * @throws ExpansionError past 20 replacements
 */
export function expandVariables(text: string, variables: Variables): string {
  let expanded = text
  for (let count = 0; count < MAX_REPLACEMENTS; count++) {
    const match = VARIABLE.exec(expanded)
    if (match === null) return expanded
    const [variable, name = ''] = match
    const value = variableValue(name, variables)
    if (value === undefined) return expanded
    if (value.includes(variable)) return text
    expanded = expanded.slice(0, match.index) + value + expanded.slice(match.index + variable.length)
  }
  throw new ExpansionError(`Variable substitution depth too large: ${MAX_REPLACEMENTS} ${text}`)
}

/** The first variable that is left in an expanded text: one that has no value. */
export function unboundVariable(expanded: string): string | undefined {
  return VARIABLE.exec(expanded)?.[0]
}

function variableValue(name: string, variables: Variables): string | undefined {
  const value =
    name.startsWith('env.') && name.length > 4
      ? environmentValue(name.slice(4), variables.environment)
      : own(variables.systemProperties, name)
  return value ?? variables.raw(name)
}

/** `V`, `V:-default` (for unset or empty) or `V-default` (for unset). */
function environmentValue(text: string, environment: Variables['environment']): string | undefined {
  const operator = /:-|-/.exec(text)
  if (operator === null) return own(environment, text)
  const value = own(environment, text.slice(0, operator.index))
  const fallback = text.slice(operator.index + operator[0].length)
  return operator[0] === ':-' ? value || fallback : (value ?? fallback)
}

function own(record: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}
