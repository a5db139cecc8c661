/** A day less than Date's range, for the zone. */
const MAX_EPOCH_MS = 8.64e15 - 86_400_000

/** `2026-12-01T10:45:30.123+0000` in the local zone. Source: Times.formatISO8601. */
export function formatIso8601(epochMs: number): string {
  // A timestamp that no calendar reaches is shown as it came.
  if (!(Math.abs(epochMs) < MAX_EPOCH_MS)) return String(epochMs)
  const date = new Date(epochMs)
  const offsetMinutes = -date.getTimezoneOffset()
  const local = new Date(epochMs + offsetMinutes * 60_000).toISOString().slice(0, -1)
  const sign = offsetMinutes < 0 ? '-' : '+'
  const [hours, minutes] = [Math.trunc(Math.abs(offsetMinutes) / 60), Math.abs(offsetMinutes) % 60]
  return `${local}${sign}${String(hours).padStart(2, '0')}${String(minutes).padStart(2, '0')}`
}
