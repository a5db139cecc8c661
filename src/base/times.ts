/** Times as Hadoop writes them, all in the process's own time zone. */

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
/** A day less than Date's range, for the zone. */
const MAX_EPOCH_MS = 8.64e15 - 86_400_000

/** `Tue Dec 01 10:47:01 +0000 2026`. Source: Times.format, `EEE MMM dd HH:mm:ss Z yyyy`. */
export function javaDate(epochMs: number): string {
  const date = new Date(epochMs)
  const { day, time } = localParts(epochMs)
  return `${DAYS[date.getDay()]} ${MONTHS[date.getMonth()]} ${day.slice(-2)} ${time.slice(0, 8)} ${offset(date)} ${date.getFullYear()}`
}

/** `2026-12-01T10:45:30.123+0000`; a time that no calendar reaches as it came. Source: Times.formatISO8601. */
export function iso8601(epochMs: number): string {
  if (!(Math.abs(epochMs) < MAX_EPOCH_MS)) return String(epochMs)
  const { day, time } = localParts(epochMs)
  return `${day}T${time}${offset(new Date(epochMs))}`
}

/** `2026-12-01 10:45:30.123`. Source: the layout of Hadoop's logs, which has a comma for the point. */
export function dayAndTime(epochMs: number): string {
  const { day, time } = localParts(epochMs)
  return `${day} ${time}`
}

function localParts(epochMs: number): { readonly day: string; readonly time: string } {
  const shifted = new Date(epochMs - new Date(epochMs).getTimezoneOffset() * 60_000)
  const [day = '', time = ''] = shifted.toISOString().slice(0, -1).split('T')
  return { day, time }
}

function offset(date: Date): string {
  const minutes = -date.getTimezoneOffset()
  const two = (value: number): string => String(Math.trunc(value)).padStart(2, '0')
  return `${minutes < 0 ? '-' : '+'}${two(Math.abs(minutes) / 60)}${two(Math.abs(minutes) % 60)}`
}
