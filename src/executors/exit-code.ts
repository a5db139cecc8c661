/** Exit codes with a meaning of their own. Source: ContainerExecutor.ExitCode. */
export const ExitCode = {
  SUCCESS: 0,
  /** The launch failed before there was a process. */
  NOT_STARTED: -1,
  /** 128 + SIGKILL */
  FORCE_KILLED: 137,
  /** 128 + SIGTERM */
  TERMINATED: 143,
} as const

/** Ended by SIGKILL or SIGTERM: Hadoop takes it for a kill, whoever sent it, and never retries it. */
export function isKilledExitCode(code: number): boolean {
  return code === ExitCode.FORCE_KILLED || code === ExitCode.TERMINATED
}
