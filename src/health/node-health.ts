/** One part of the verdict: the disks. */
export interface DisksVerdict {
  areDisksHealthy(): boolean
  /** Not empty as soon as one dir is bad, also while enough are left. */
  report(): string
  /** Milliseconds. */
  readonly lastCheckTime: number
}

/**
 * Whether the node is fit for work, as each heartbeat and the REST pages tell it; computed when it is asked for.
 * Source: org.apache.hadoop.yarn.server.nodemanager.health.NodeHealthCheckerService.
 */
export class NodeHealth {
  readonly #disks: DisksVerdict

  constructor(disks: DisksVerdict) {
    this.#disks = disks
  }

  get isHealthy(): boolean {
    return this.#disks.areDisksHealthy()
  }

  get report(): string {
    return this.#disks.report()
  }

  /** Milliseconds; 0 before the first check. */
  get lastReportTime(): number {
    return this.#disks.lastCheckTime
  }
}
