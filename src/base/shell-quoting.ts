/** Text as bash reads it: for paths and names that are to be taken as they are. */

/** Inside double quotes these four act; everything else, newlines too, stands for itself. */
const ACTIVE = /[\\"$`]/g
const PLAIN = /^[\w@%+=:,./-]+$/

/** `"text"` with whatever would act in it escaped. */
export function doubleQuoted(text: string): string {
  return `"${text.replace(ACTIVE, '\\$&')}"`
}

/** The text alone where it needs no quotes, as Hadoop writes it; quoted otherwise. */
export function bareOrQuoted(text: string): string {
  return PLAIN.test(text) && !text.startsWith('-') ? text : doubleQuoted(text)
}
