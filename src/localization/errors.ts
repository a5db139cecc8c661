import { BobbinError } from '../base/errors.ts'

/** The Java classes that diagnostics name; masters and people read them. */
export type JavaExceptionClass =
  | 'java.io.IOException'
  | 'java.io.FileNotFoundException'
  | 'org.apache.hadoop.fs.UnsupportedFileSystemException'
  | 'org.apache.hadoop.yarn.exceptions.YarnException'

/** A resource could not be localized; the message is what the container's owner reads. */
export class LocalizationError extends BobbinError {
  override readonly name: string = 'LocalizationError'
  readonly javaClass: JavaExceptionClass

  constructor(message: string, cause?: unknown, javaClass: JavaExceptionClass = 'java.io.IOException') {
    super('ERR_LOCALIZATION', message, cause)
    this.javaClass = javaClass
  }
}

interface Link {
  readonly javaClass: JavaExceptionClass
  readonly message: string
}

/** The error and its causes, outermost first. */
function chainOf(thrown: unknown): readonly Link[] {
  const chain: Link[] = []
  for (let error = thrown; error instanceof Error; error = error.cause)
    chain.push({
      javaClass: error instanceof LocalizationError ? error.javaClass : 'java.io.IOException',
      message: error.message,
    })
  return chain
}

/** `class: message`, then a line for each cause: Throwable.toString, with the causes that Hadoop hides from its reader. */
export function asThrowable(thrown: unknown): string {
  return chainOf(thrown)
    .map(({ javaClass, message }) => `${javaClass}: ${message}`)
    .join('\nCaused by: ')
}

/** As a Java localizer reports its failures, without a stack. Source: SerializedException.toString. */
export function asSerializedException(thrown: unknown): string {
  return chainOf(thrown)
    .map(({ javaClass, message }) => `${message}\n${javaClass}: ${message}\n`)
    .join('Caused by: ')
}
