import type { ApplicationId, ContainerId } from '../protocol/ids.ts'
import type { Resource } from '../protocol/resource.ts'

/** Names of Hadoop's ContainerState (internal), as REST shows them. */
export const CONTAINER_STATES = [
  'NEW',
  'LOCALIZING',
  'LOCALIZATION_FAILED',
  'SCHEDULED',
  'RUNNING',
  'RELAUNCHING',
  'REINITIALIZING',
  'REINITIALIZING_AWAITING_KILL',
  'EXITED_WITH_SUCCESS',
  'EXITED_WITH_FAILURE',
  'KILLING',
  'CONTAINER_CLEANEDUP_AFTER_KILL',
  'CONTAINER_RESOURCES_CLEANINGUP',
  'PAUSING',
  'PAUSED',
  'RESUMING',
  'DONE',
] as const
export type ContainerStateName = (typeof CONTAINER_STATES)[number]

/** What others may read of a container. */
export interface ContainerView {
  readonly id: ContainerId
  readonly applicationId: ApplicationId
  readonly user: string
  readonly state: ContainerStateName
  /** −1000 until it is known. Source: ContainerExitStatus.INVALID. */
  readonly exitStatus: number
  readonly diagnostics: string
  readonly resource: Resource
  readonly priority: number
  /** From the container token, milliseconds. */
  readonly creationTime: number
  readonly nodeLabelExpression: string
  readonly executionType: 'GUARANTEED' | 'OPPORTUNISTIC'
  /** Update version of the token. */
  readonly version: number
  readonly allocationRequestId: number
  readonly allocationTags: readonly string[]
  /** Of the process group's leader, once it has been read from the pid file. */
  readonly pid: number | undefined
  /** Once known: names and addresses for `container_attributes` of the status. */
  readonly host: string | undefined
  readonly ips: readonly string[]
}
