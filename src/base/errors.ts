/**
 * An error with a stable code. Message: what failed, on what, with which value, and what to do.
 * Each folder lists its own codes in its errors.ts where it has more than one.
 */
export class BobbinError extends Error {
  override readonly name: string = 'BobbinError'
  readonly code: string
  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}

/** A broken invariant: the process ends and is restarted, for a half-broken daemon is worse than a restarted one. */
export class Bug extends Error {
  override readonly name: string = 'Bug'
}

/** The text of anything thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** The `code` of a Node.js system error (`ENOENT`), or undefined. */
export function systemCode(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown)) return undefined
  return typeof thrown.code === 'string' ? thrown.code : undefined
}

/** Turns anything thrown into an Error, so that it can be rethrown, logged and kept as a cause. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}
