import type { ApplicationView } from '../applications/application-view.ts'
import type { ContainerView } from '../containers/container-view.ts'
import type { ApplicationId, ContainerId, NodeId } from '../protocol/ids.ts'
import type { hadoop } from '../protocol/messages.ts'

export type { Utilization } from '../monitor/utilization.ts'

/**
 * What the NodeStatusUpdater reads of the containers and applications, and the ResourceManager's orders to them.
 * The calls return at once; an order for an unknown id is logged and ignored.
 */
export interface ManagedContainers {
  readonly containers: Iterable<ContainerView>
  readonly applications: Iterable<ApplicationView>
  findContainer(id: ContainerId): ContainerView | undefined
  findApplication(id: ApplicationId): ApplicationView | undefined
  /**
   * Takes a container out of the table: it is done, and its completion has been acknowledged or nobody waits for it.
   * Its record in the store is removed later, when it is no longer "recently stopped".
   */
  forgetContainer(id: ContainerId): void
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
}

export interface Registration extends MasterKeyUpdates {
  readonly nodeId: NodeId
  readonly rmIdentifier: number
}

export interface MasterKeyUpdates {
  readonly containerToken: hadoop.yarn.MasterKeyProto.$Properties | undefined
  readonly nmToken: hadoop.yarn.MasterKeyProto.$Properties | undefined
}

/** Told of the tokens that the ResourceManager keeps fresh for the applications. Source: NMContext.setSystemCredentials. */
export interface SystemCredentialsListener {
  /** The complete list, each an HDTS stream (credentials file format); it replaces the one before. */
  systemCredentials(streamsByApplication: ReadonlyMap<ApplicationId, Buffer>): void
}

export interface NodeHealthView {
  readonly isHealthy: boolean
  /** Empty when healthy. */
  readonly report: string
  /** Milliseconds. */
  readonly lastReportTime: number
}

/** Why the daemon has to end, as the ResourceManager or its absence says. */
export interface ShutdownReason {
  /**
   * ordered: SHUTDOWN in a heartbeat, the node is decommissioned: its applications are cleaned up even when a
   * supervised one would leave them running;
   * unreachable: no ResourceManager was reached within the configured wait;
   * refused: the registration that follows a RESYNC has failed.
   */
  readonly kind: 'ordered' | 'unreachable' | 'refused'
  readonly message: string
}
