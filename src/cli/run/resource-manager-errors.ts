import { messageOf } from '../../base/errors.ts'
import { RemoteError } from '../../protocol/remote-error.ts'
import { RunExitCode, RunError } from './exit-codes.ts'

/** Awaits a call to the ResourceManager; its failures become a RunError that names the call. */
export async function atResourceManager<T>(method: string, call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (thrown) {
    throw resourceManagerError(method, thrown)
  }
}

/** A RunError stays what it is: the run was aborted with it. */
export function resourceManagerError(method: string, thrown: unknown): RunError {
  if (thrown instanceof RunError) return thrown
  if (thrown instanceof RemoteError) {
    const text = `the ResourceManager refused ${method}: ${thrown.message.trim()}`
    return new RunError(RunExitCode.REFUSED, text, thrown)
  }
  const text = `the ResourceManager can not be reached (${method}): ${messageOf(thrown)}`
  return new RunError(RunExitCode.RESOURCE_MANAGER_UNREACHABLE, text, thrown)
}

export function isRemote(thrown: unknown, ...classNames: readonly string[]): thrown is RemoteError {
  return thrown instanceof RemoteError && classNames.includes(thrown.className)
}
