import type { Logger as PinoLogger } from 'pino'

/** The part of pino that the code uses. A test may pass `silentLog`. */
export type Log = Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'> & {
  child(bindings: Record<string, unknown>): Log
  isLevelEnabled(level: string): boolean
}

const nothing = (): void => {}

/** Drops everything; for tests and for tools that print their own results. */
export const silentLog: Log = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  fatal: nothing,
  child: () => silentLog,
  isLevelEnabled: () => false,
}
