import type { ApplicationView } from '../applications/application-view.ts'
import type { ContainerView } from '../containers/container-view.ts'
import type { ApplicationId, ContainerId, NodeId } from '../protocol/ids.ts'
import type { Resource } from '../protocol/resource.ts'

/** The node as it is now. */
export interface NodeView {
  readonly nodeId: NodeId
  /** What is offered to containers, as configured or as the ResourceManager has set it. */
  readonly resource: Resource
  readonly health: { readonly isHealthy: boolean; readonly report: string; readonly lastReportTime: number }
  readonly vmemPmemRatio: number
  readonly isPmemCheckEnabled: boolean
  readonly isVmemCheckEnabled: boolean
  /** The Hadoop version that is announced to the ResourceManager. */
  readonly hadoopVersion: string
  /** Of Bobbin itself. */
  readonly productVersion: string
  /** Of the process, milliseconds since the epoch. */
  readonly startTime: number
}

/** What the web shows of containers and applications. */
export interface ContainerViews {
  readonly containers: Iterable<ContainerView>
  readonly applications: Iterable<ApplicationView>
  findContainer(id: ContainerId): ContainerView | undefined
  findApplication(id: ApplicationId): ApplicationView | undefined
}

export interface WebViews {
  node(): NodeView
  readonly containers: ContainerViews
  /** Every log dir that may hold files, full ones too; those of a container are `<dir>/<application>/<container>`. */
  readonly logs: { readonly logDirs: readonly string[] }
}
