import type { ApplicationId, ContainerId } from '../protocol/ids.ts'

/** Everything an executor needs to start one container; all paths are absolute. */
export interface LaunchRequest {
  readonly containerId: ContainerId
  readonly applicationId: ApplicationId
  /** The application's submitter: owner of the directories. */
  readonly user: string
  readonly workDir: string
  /** `nmPrivate/A/C/launch_container.sh`, copied into the work dir. */
  readonly scriptFile: string
  /** `nmPrivate/A/C/C.tokens`, copied into the work dir as `container_tokens`. */
  readonly tokensFile: string
  /** Other files that are copied into the work dir under their own names. */
  readonly extraFiles: readonly string[]
  /** `nmPrivate/A/C/C.pid`; the exit code goes to `<pidFile>.exitcode`. */
  readonly pidFile: string
  /** Laid over the daemon's own environment: what the container may see before its script has run. */
  readonly environment: Readonly<Record<string, string>>
  /** Every good local dir and log dir: the container's directories are made on each. */
  readonly localDirs: readonly string[]
  readonly logDirs: readonly string[]
  /** Aborted before the process is there: it is not started, and the outcome is 143. */
  readonly cancel: AbortSignal
}

/** How a launched container ended, as far as its executor can tell. */
export type LaunchOutcome = {
  readonly kind: 'exited'
  /** 128+n when ended by signal n. */
  readonly exitCode: number
  /** What the start scripts themselves printed, for the diagnostics. Bounded. */
  readonly stdout: string
  readonly stderr: string
}

export interface SignalRequest {
  readonly containerId: ContainerId
  readonly user: string
  /** Leader of the container's process group. */
  readonly pid: number
  /** 0 only asks whether the group lives. */
  readonly signal: 0 | 3 | 9 | 15
}

/** Starts, signals and cleans up processes. Source: org.apache.hadoop.yarn.server.nodemanager.ContainerExecutor. */
export interface ContainerExecutor {
  readonly name: string
  /** Checks at start that it can work at all; rejects with what is missing. */
  init(): Promise<void>
  /** Makes the container's directories, starts it, resolves when it has ended. Rejects when it could not be started. */
  launch(request: LaunchRequest): Promise<LaunchOutcome>
  /** @returns false when there is no such process group, or it is not the container's. */
  signal(request: SignalRequest): Promise<boolean>
  /**
   * Kills what has left the container's process group and still carries its id, as its start scripts do too, which write
   * its exit code: only once they are over or have been waited for. One attempt, to be repeated until nothing is left.
   * @param before what the attempt before has returned; nothing for the first
   * @returns the pids of those that are still there
   */
  endStrays(containerId: ContainerId, before: readonly number[]): Promise<readonly number[]>
  /** Makes a directory as the user (mode and owner as launch.md's table). Existing is no error; the mode is set anyway. */
  makeDirectory(user: string, path: string, mode: number): Promise<void>
  /** Removes a file or tree as the user. A missing path is no error; links are never followed. */
  remove(user: string | undefined, path: string): Promise<void>
}
