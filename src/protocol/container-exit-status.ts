/** Exit statuses that are not a process's own. Source: ContainerExitStatus of hadoop-yarn-api. */
export const ContainerExitStatus = {
  SUCCESS: 0,
  /** Not known yet. */
  INVALID: -1000,
  ABORTED: -100,
  /** Too few good disks for a launch. */
  DISKS_FAILED: -101,
  PREEMPTED: -102,
  KILLED_EXCEEDED_VMEM: -103,
  KILLED_EXCEEDED_PMEM: -104,
  KILLED_BY_APPMASTER: -105,
  KILLED_BY_RESOURCEMANAGER: -106,
  KILLED_AFTER_APP_COMPLETION: -107,
  KILLED_BY_CONTAINER_SCHEDULER: -108,
  KILLED_FOR_EXCESS_LOGS: -109,
} as const
