import type { ApplicationId, ContainerId } from '../protocol/ids.ts'

/** Names of Hadoop's ApplicationState of the NodeManager, as REST shows them. */
export const APPLICATION_STATES = [
  'NEW',
  'INITING',
  'RUNNING',
  'FINISHING_CONTAINERS_WAIT',
  'APPLICATION_RESOURCES_CLEANINGUP',
  'FINISHED',
] as const
export type ApplicationStateName = (typeof APPLICATION_STATES)[number]

/** What others may read of an application. */
export interface ApplicationView {
  readonly id: ApplicationId
  readonly user: string
  readonly state: ApplicationStateName
  /** Containers that belong to it and are not done. */
  readonly containerIds: readonly ContainerId[]
}
