import type { ApplicationView } from '../applications/application-view.ts'
import type { ContainerView } from '../containers/container-view.ts'
import type { ApplicationId, ContainerId, NodeId } from '../protocol/ids.ts'
import type { hadoop } from '../protocol/messages.ts'
import type { Resource } from '../protocol/resource.ts'

/** What the NodeStatusUpdater reads of the containers and applications, and the ResourceManager's orders to them. */
export interface ManagedContainers {
  readonly containers: Iterable<ContainerView>
  readonly applications: Iterable<ApplicationView>
  findContainer(id: ContainerId): ContainerView | undefined
  findApplication(id: ApplicationId): ApplicationView | undefined
  /** Takes a container out of the table and out of the store: it is done, and its completion has been acknowledged. */
  forgetContainer(id: ContainerId): void
  /** Unknown ids are logged and ignored. */
  killContainer(id: ContainerId, exitStatus: number, diagnostics: string): void
  finishApplication(id: ApplicationId, reason: string): void
  signalContainer(id: ContainerId, command: hadoop.yarn.SignalContainerCommandProto): void
}

/** The life of the registration, told to those who check tokens. */
export interface RegistrationListener {
  /** From here until `registered` or `unregistered` start calls wait: the answer may overtake an ApplicationMaster's call. */
  registering(): void
  registered(registration: Registration): void
  /** RESYNC or a failed registration: every start is refused until the next one. */
  unregistered(): void
  masterKeys(keys: MasterKeyUpdates): void
  /** The ResourceManager has set another size for the node. */
  resourceChanged(resource: Resource): void
}

export interface Registration extends MasterKeyUpdates {
  readonly nodeId: NodeId
  readonly rmIdentifier: number
}

export interface MasterKeyUpdates {
  readonly containerToken: hadoop.yarn.MasterKeyProto.$Properties | undefined
  readonly nmToken: hadoop.yarn.MasterKeyProto.$Properties | undefined
}

export interface NodeHealthView {
  readonly isHealthy: boolean
  /** Empty when healthy. */
  readonly report: string
  /** Milliseconds. */
  readonly lastReportTime: number
}

/** MB and vcores in use. */
export interface Utilization {
  readonly pmemMb: number
  readonly vmemMb: number
  readonly vcores: number
}
