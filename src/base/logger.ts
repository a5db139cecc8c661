import { pino, type DestinationStream, type LevelWithSilent } from 'pino'
import type { Log } from './log.ts'
import { dayAndTime } from './times.ts'

export interface LoggerOptions {
  readonly level: LevelWithSilent
  /** json: pino's lines. text: one readable line each, in the form of Hadoop's log4j layout. */
  readonly format: 'json' | 'text'
  /** A file descriptor: 2 for standard error. */
  readonly fd: number
}

/** What is kept of a log that can't be written; later lines are lost. */
const MAX_UNWRITTEN_CHARACTERS = 1_048_576

/**
 * The daemon's log. Written synchronously, a line at a time: nothing is lost when the process is killed, and no worker
 * thread or buffer costs memory.
 */
export function createLogger(options: LoggerOptions): Log {
  const destination = pino.destination({ fd: options.fd, sync: true, maxLength: MAX_UNWRITTEN_CHARACTERS })
  // A log that can't be written, on a full disk for one, ends no container. There is nobody else to tell; each further
  // line tries again, and what waits is written once there is room.
  destination.on('error', () => {})
  const stream: DestinationStream =
    options.format === 'json' ? destination : { write: (line) => void destination.write(asText(line)) }
  const settings = { level: options.level, base: null, timestamp: pino.stdTimeFunctions.isoTime }
  return pino(settings, stream)
}

interface Line {
  readonly level: number
  readonly time: string
  readonly msg?: string
  readonly err?: { readonly stack?: string }
  readonly [key: string]: unknown
}

const OWN_KEYS = new Set(['level', 'time', 'msg', 'err', 'component'])

/** `2026-12-01 10:46:06,535 INFO NodeStatusUpdater: text {"key":1}`, local time; a stack trace on the lines after. */
export function asText(json: string): string {
  const line = JSON.parse(json) as Line
  const time = dayAndTime(Date.parse(line.time)).replace('.', ',')
  const level = (pino.levels.labels[line.level] ?? String(line.level)).toUpperCase()
  const component = typeof line['component'] === 'string' ? line['component'] : 'bobbin'
  const rest = Object.fromEntries(Object.entries(line).filter(([key]) => !OWN_KEYS.has(key)))
  const details = Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`
  const stack = line.err?.stack === undefined ? '' : `\n${line.err.stack}`
  return `${time} ${level} ${component}: ${line.msg ?? ''}${details}${stack}\n`
}
