import { BobbinError } from '../base/errors.ts'

/** Where a value was written. */
export interface Source {
  /** Path of the file as it was opened, or `command line`. */
  readonly file: string
  /** Of the opening tag of the property; 0 where there are no lines. */
  readonly line: number
}

/** One thing that keeps the configuration from being used. */
export interface Problem {
  readonly key: string
  /** What was written, variables expanded; undefined for a key that is missing or left at its default. */
  readonly value: string | undefined
  readonly source: Source | undefined
  /** What is wrong and what would be right. */
  readonly reason: string
}

/** The configuration can't be used. The message has one line for each problem. */
export class ConfigError extends BobbinError {
  override readonly name = 'ConfigError'
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super('CONFIG', problems.map(problemText).join('\n'))
    this.problems = problems
  }
}

/** A file that can't be read as a Hadoop configuration: `file:line:column: reason`. */
export class ConfigFileError extends BobbinError {
  override readonly name = 'ConfigFileError'
  readonly file: string

  constructor(file: string, position: { readonly line: number; readonly column: number } | undefined, reason: string) {
    const place = position === undefined ? file : `${file}:${position.line}:${position.column}`
    super('CONFIG_FILE', `${place}: ${reason}`)
    this.file = file
  }
}

export function sourceText(source: Source): string {
  return source.line === 0 ? source.file : `${source.file}:${source.line}`
}

function problemText({ key, value, source, reason }: Problem): string {
  const place = source === undefined ? '' : `${sourceText(source)}: `
  return value === undefined ? `${place}${key}: ${reason}` : `${place}${key} = ${JSON.stringify(value)}: ${reason}`
}
