/** What other services ask of the deletion service. Source: DeletionService, FileDeletionTask. */
export interface Deletion {
  /**
   * Removes files or trees after `yarn.nodemanager.delete.debug-delay-sec`. Returns at once; failures are logged and
   * tried again. Never follows a link out of the path.
   * @param user whose files they are; undefined for the daemon's own
   */
  schedule(user: string | undefined, paths: readonly string[]): void
}

/** Paths of one owner. */
export interface Removal {
  readonly user: string | undefined
  readonly paths: readonly string[]
}

/** Source: DeletionTask's successors. */
export interface OrderedDeletion extends Deletion {
  /** As `schedule`; `last` is begun when it is over for all of `first`, whether they went or not. */
  scheduleInOrder(first: readonly Removal[], last: Removal): void
}
