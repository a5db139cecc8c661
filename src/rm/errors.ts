/** What the ResourceManager answers to wrong calls. Clients and masters match on the classes; users read the texts. */
import type { ApplicationAttemptId, ApplicationId, ContainerId } from '../protocol/ids.ts'
import { JavaClass, RemoteError } from '../protocol/remote-error.ts'
import { resourceText, type Resource } from '../protocol/resource.ts'

export function applicationNotFound(id: ApplicationId): RemoteError {
  return new RemoteError(
    JavaClass.APPLICATION_NOT_FOUND,
    `Application with id '${id}' doesn't exist in RM. Please check that the job submission was successful.`,
  )
}

export function attemptNotFound(id: ApplicationAttemptId): RemoteError {
  return new RemoteError(
    JavaClass.APPLICATION_ATTEMPT_NOT_FOUND,
    `ApplicationAttempt with id '${id}' doesn't exist in RM.`,
  )
}

export function containerNotFound(id: ContainerId): RemoteError {
  return new RemoteError(JavaClass.CONTAINER_NOT_FOUND, `Container with id '${id}' doesn't exist in RM.`)
}

export function labelsNotEnabled(): RemoteError {
  return new RemoteError(
    JavaClass.INVALID_LABEL_REQUEST,
    'Invalid resource request, node label not enabled but request contains label expression',
  )
}

export function noResourcesRequested(): RemoteError {
  return new RemoteError(JavaClass.INVALID_RESOURCE_REQUEST, 'Invalid resource request, no resources requested')
}

export interface AllocationLimits {
  /** What one container may have now: the configured maximum, lowered to the largest node. */
  readonly maximum: Resource
  readonly configuredMaximum: Resource
}

/**
 * Refuses an ask that no node could ever serve.
 * @throws RemoteError InvalidResourceRequestException
 */
export function checkAsk(ask: Resource, { maximum, configuredMaximum }: AllocationLimits): void {
  const types = [
    ['memory-mb', ask.memoryMb, maximum.memoryMb],
    ['vcores', ask.vcores, maximum.vcores],
  ] as const
  for (const [type, wanted, most] of types) {
    if (wanted < 0)
      throw new RemoteError(
        JavaClass.INVALID_RESOURCE_REQUEST,
        'Invalid resource request! Cannot allocate containers as requested resource is less than 0! ' +
          `Requested resource type=[${type}], Requested resource=${resourceText(ask)}`,
      )
    if (wanted > most)
      throw new RemoteError(
        JavaClass.INVALID_RESOURCE_REQUEST,
        'Invalid resource request! Cannot allocate containers as requested resource is greater than maximum allowed ' +
          `allocation. Requested resource type=[${type}], Requested resource=${resourceText(ask)}, ` +
          `maximum allowed allocation=${resourceText(maximum)}, please note that maximum allowed allocation is ` +
          'calculated by scheduler based on maximum resource of registered NodeManagers, which might be less than ' +
          `configured maximum allocation=${resourceText(configuredMaximum)}`,
      )
  }
  const other = Object.entries(ask.others ?? {}).find(([, { value }]) => value > 0)
  if (other !== undefined)
    throw new RemoteError(
      JavaClass.INVALID_RESOURCE_REQUEST,
      `Invalid resource request! Requested resource type=[${other[0]}] is not one that the embedded ResourceManager ` +
        `schedules (memory-mb and vcores), Requested resource=${resourceText(ask)}`,
    )
}
