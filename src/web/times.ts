const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const two = (value: number): string => String(value).padStart(2, '0')

/** `Tue Dec 01 10:47:01 +0000 2026` in the daemon's time zone. Source: Times.format, `EEE MMM dd HH:mm:ss Z yyyy`. */
export function timeText(epochMs: number): string {
  const date = new Date(epochMs)
  const offset = -date.getTimezoneOffset()
  const zone = `${offset < 0 ? '-' : '+'}${two(Math.trunc(Math.abs(offset) / 60))}${two(Math.abs(offset) % 60)}`
  const day = `${DAYS[date.getDay()]} ${MONTHS[date.getMonth()]} ${two(date.getDate())}`
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  return `${day} ${time} ${zone} ${date.getFullYear()}`
}
