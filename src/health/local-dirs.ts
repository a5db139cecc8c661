/**
 * The local and log directories of the node. Source: LocalDirsHandlerService, LocalDirAllocator; rules of choice in dir-allocator.ts.
 */
export interface LocalDirs {
  /** Local dirs that are in use now, in configured order. */
  readonly localDirs: readonly string[]
  /** Log dirs that are in use now, in configured order. */
  readonly logDirs: readonly string[]
  /**
   * A path for a new file: `relative` under one of the local dirs.
   * @param sizeBytes unknown (undefined): drawn with a chance proportional to the free space; known: round robin over
   *   the dirs that have more than that free
   * @throws BobbinError ERR_NO_LOCAL_DIR with Hadoop's words
   */
  localPathForWrite(relative: string, sizeBytes?: number): Promise<string>
  logPathForWrite(relative: string): Promise<string>
  /** The first local dir, good or full, that contains `relative`. */
  findLocal(relative: string): Promise<string | undefined>
  /** False when too few dirs are left for a launch; `report` then says why. */
  areDisksHealthy(): boolean
  report(): string
}

/** The dirs whose files may still be read and removed: the good ones, then the full ones. */
export interface ReadableDirs {
  readonly readableLocalDirs: readonly string[]
  readonly readableLogDirs: readonly string[]
}
