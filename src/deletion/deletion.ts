/** What other services ask of the deletion service. Source: DeletionService, FileDeletionTask. */
export interface Deletion {
  /**
   * Removes files or trees after `yarn.nodemanager.delete.debug-delay-sec`. Returns at once; failures are logged and
   * tried again. Never follows a link out of the path.
   * @param user whose files they are; undefined for the daemon's own
   */
  schedule(user: string | undefined, paths: readonly string[]): void
}
