/** Text as bash reads it, where it is to be taken as it is. */

/** Inside double quotes these four act; everything else, newlines too, stands for itself. */
const ACTIVE = /[\\"$`]/g
/** Linux: MAX_ARG_STRLEN. No argument and no variable with its name may be as long, its final NUL counted. */
export const ARGUMENT_LIMIT_BYTES = 131_072
const PLAIN = /^[\w@%+=:,./-]+$/

/** As it must stand between double quotes. */
export function insideDoubleQuotes(text: string): string {
  return text.replace(ACTIVE, '\\$&')
}

/** `"text"` with whatever would act in it escaped. */
export function doubleQuoted(text: string): string {
  return `"${insideDoubleQuotes(text)}"`
}

/** Whether it stands for itself between double quotes. */
export function isInert(text: string): boolean {
  return text.search(ACTIVE) === -1
}

/** The text alone where it needs no quotes, as Hadoop writes it; quoted otherwise. */
export function bareOrQuoted(text: string): string {
  return PLAIN.test(text) && !text.startsWith('-') ? text : doubleQuoted(text)
}
