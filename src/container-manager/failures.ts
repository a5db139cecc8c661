import { Bug, messageOf } from '../base/errors.ts'
import { containerIdToProto, type ContainerId } from '../protocol/ids.ts'
import type { hadoop } from '../protocol/messages.ts'
import { JavaClass, RemoteError } from '../protocol/remote-error.ts'

type ContainerException = hadoop.yarn.ContainerExceptionMapProto.$Properties

export function yarnException(message: string, cause?: unknown): RemoteError {
  return new RemoteError(JavaClass.YARN, message, cause)
}

/**
 * The failure of one container in an answer. Clients make the exception from class name and message, and print the
 * trace, which begins as Java's printStackTrace does.
 */
export function containerFailure(id: ContainerId, error: RemoteError): ContainerException {
  const { message, className } = error
  return {
    containerId: containerIdToProto(id),
    exception: { message, trace: `${className}: ${message}\n`, className },
  }
}

/** Whether only this container fails, and not the call: Java catches its YarnExceptions there. */
export function isContainerFailure(thrown: unknown): thrown is RemoteError {
  return thrown instanceof RemoteError && thrown.className.startsWith('org.apache.hadoop.yarn.exceptions.')
}

/**
 * What a call fails with: a refused token as it is, any other IOException inside a YarnException.
 * Source: ContainerManagerImpl.startContainers, RPCUtil.getRemoteException.
 */
export function callFailure(thrown: unknown): unknown {
  if (!(thrown instanceof RemoteError) || thrown.className === JavaClass.INVALID_TOKEN) return thrown
  const { className, message } = thrown
  return className === JavaClass.YARN ? thrown : yarnException(javaText(className, message), thrown)
}

/** A write to the state store that failed, as Java's store tells it. */
export function storeFailure(what: string, thrown: unknown): unknown {
  return thrown instanceof Bug ? thrown : new RemoteError(JavaClass.IO, `${what}: ${messageOf(thrown)}`, thrown)
}

/** Throwable.toString */
function javaText(className: string, message: string): string {
  return message === '' ? className : `${className}: ${message}`
}
