import type { ContainerView } from '../../src/containers/container-view.ts'
import { applicationOfContainer, type ContainerId } from '../../src/protocol/ids.ts'

/** A container that runs, as others see it; tests lay over it what matters to them. */
export function runningContainer(id: ContainerId, more: Partial<ContainerView> = {}): ContainerView {
  return {
    id,
    applicationId: applicationOfContainer(id),
    user: 'hadoop',
    state: 'RUNNING',
    exitStatus: -1000,
    diagnostics: '',
    resource: { memoryMb: 1024, vcores: 1 },
    priority: 0,
    creationTime: 1_700_000_000_000,
    nodeLabelExpression: '',
    executionType: 'GUARANTEED',
    version: 0,
    allocationRequestId: -1,
    allocationTags: [],
    pid: undefined,
    host: undefined,
    ips: [],
    ...more,
  }
}
