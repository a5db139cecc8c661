import type { hadoop } from '../protocol/messages.ts'
import type { ApplicationId, ContainerId } from '../protocol/ids.ts'

/** What a started container leaves in the store. Source: NMStateStoreService.storeContainer. */
export interface StoredContainerStart {
  readonly containerId: ContainerId
  readonly version: number
  readonly startTime: number
  /** The StartContainerRequestProto as it arrived: bytes that are stored stay bytes. */
  readonly request: Uint8Array
}

/**
 * The state that outlives the process. Each call resolves when the record is durable; a caller awaits it before it
 * answers a master or starts an effect that must be recoverable. Rejects when the write failed.
 * Source: org.apache.hadoop.yarn.server.nodemanager.recovery.NMStateStoreService.
 */
export interface NodeStateStore {
  storeApplication(id: ApplicationId, record: hadoop.yarn.ContainerManagerApplicationProto.$Properties): Promise<void>
  removeApplication(id: ApplicationId): Promise<void>
  storeContainer(start: StoredContainerStart): Promise<void>
  storeContainerQueued(id: ContainerId): Promise<void>
  storeContainerLaunched(id: ContainerId): Promise<void>
  storeContainerKilled(id: ContainerId): Promise<void>
  storeContainerDiagnostics(id: ContainerId, diagnostics: string): Promise<void>
  storeContainerCompleted(id: ContainerId, exitCode: number): Promise<void>
  removeContainer(id: ContainerId): Promise<void>
}
