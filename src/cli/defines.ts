import { InvalidArgumentError } from 'commander'

/** For commander: takes one `-D key=value` more. */
export function addDefine(text: string, before: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const equals = text.indexOf('=')
  if (equals < 1) throw new InvalidArgumentError('It must be KEY=VALUE.')
  return { ...before, [text.slice(0, equals)]: text.slice(equals + 1) }
}
