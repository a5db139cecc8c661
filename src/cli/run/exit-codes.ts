/** What `bobbin run` ends with, and what YARN's own exit statuses mean. */
import { BobbinError } from '../../base/errors.ts'
import { ContainerExitStatus } from '../../protocol/container-exit-status.ts'

/** Bobbin's own exit codes; 1 to 255 may also be the command's. From 121 on so that a command's usual codes stay clear. */
export const RunExitCode = {
  SUCCESS: 0,
  /** A container failed, and there were several or YARN ended it. */
  FAILURE: 1,
  USAGE: 2,
  RESOURCE_MANAGER_UNREACHABLE: 121,
  /** The ResourceManager refused the application, or failed it. */
  REFUSED: 122,
  /** Someone else killed the application. */
  KILLED: 123,
  /** As timeout(1). */
  TIMED_OUT: 124,
  /** A node or the output could not be reached, or anything else went wrong; as `docker run`. */
  ERROR: 125,
  HUNG_UP: 129,
  INTERRUPTED: 130,
  TERMINATED: 143,
} as const
export type RunExitCode = (typeof RunExitCode)[keyof typeof RunExitCode]

/** Why a run could not be carried through, and the exit code that says so. */
export class RunError extends BobbinError {
  readonly exitCode: RunExitCode
  constructor(exitCode: RunExitCode, message: string, cause?: unknown) {
    super('ERR_RUN', message, cause)
    this.exitCode = exitCode
  }
}

const {
  ABORTED,
  DISKS_FAILED,
  INVALID,
  PREEMPTED,
  KILLED_AFTER_APP_COMPLETION,
  KILLED_BY_APPMASTER,
  KILLED_BY_CONTAINER_SCHEDULER,
  KILLED_BY_RESOURCEMANAGER,
  KILLED_EXCEEDED_PMEM,
  KILLED_EXCEEDED_VMEM,
  KILLED_FOR_EXCESS_LOGS,
} = ContainerExitStatus

const meanings: ReadonlyMap<number, string> = new Map([
  [INVALID, 'no exit status was reported'],
  [ABORTED, 'released, lost with its node or expired'],
  [DISKS_FAILED, "the node's disks failed"],
  [PREEMPTED, 'preempted'],
  [KILLED_EXCEEDED_VMEM, 'killed: over its virtual memory'],
  [KILLED_EXCEEDED_PMEM, 'killed: over its memory'],
  [KILLED_BY_APPMASTER, 'killed by the ApplicationMaster'],
  [KILLED_BY_RESOURCEMANAGER, 'killed by the ResourceManager'],
  [KILLED_AFTER_APP_COMPLETION, 'killed: the application was over'],
  [KILLED_BY_CONTAINER_SCHEDULER, "killed by the node's container scheduler"],
  [KILLED_FOR_EXCESS_LOGS, 'killed: too much log output'],
])

/** Whether the container ended without fault of the command, so that another one is asked for. */
export function isReplaceable(exitStatus: number): boolean {
  return exitStatus === ABORTED || exitStatus === DISKS_FAILED || exitStatus === PREEMPTED
}

/** `3`, or `-104 (killed: over its memory)`. */
export function exitStatusText(exitStatus: number): string {
  const meaning = meanings.get(exitStatus)
  return meaning === undefined ? String(exitStatus) : `${exitStatus} (${meaning})`
}

/** 0 when all succeeded; a single container's own code; else 1, also for a status that only YARN knows (below 0). */
export function exitCodeOf(exitStatuses: readonly number[]): number {
  const failed = exitStatuses.filter((status) => status !== 0)
  if (failed.length === 0) return RunExitCode.SUCCESS
  const [only] = exitStatuses
  if (exitStatuses.length === 1 && only !== undefined && only > 0 && only <= 255) return only
  return RunExitCode.FAILURE
}
