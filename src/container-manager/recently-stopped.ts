import type { ContainerId } from '../protocol/ids.ts'

/** Who remembers the containers that have completed here lately: the NodeStatusUpdater. */
export interface RecentlyStopped {
  isRecentlyStopped(id: ContainerId): boolean
}
