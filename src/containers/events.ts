import type { EventOf } from '../base/state-machine.ts'
import type { LocalResource } from '../localization/localization.ts'

/** How a process, or the attempt to start one, ended. */
export interface ExitReport {
  readonly exitStatus: number
  readonly diagnostics: string
}

/** Names of Hadoop's ContainerEventType with what each carries. */
export type ContainerPayloads = {
  readonly INIT_CONTAINER: undefined
  readonly RESOURCE_LOCALIZED: { readonly resource: LocalResource; readonly path: string; readonly sizeBytes: number }
  readonly RESOURCE_FAILED: { readonly diagnostics: string }
  readonly KILL_CONTAINER: ExitReport
  readonly CONTAINER_LAUNCHED: undefined
  readonly CONTAINER_EXITED_WITH_SUCCESS: undefined
  readonly CONTAINER_EXITED_WITH_FAILURE: ExitReport
  readonly CONTAINER_KILLED_ON_REQUEST: ExitReport
  readonly CONTAINER_RESOURCES_CLEANEDUP: undefined
  readonly UPDATE_DIAGNOSTICS_MSG: { readonly text: string }
}

export type ContainerEvent = EventOf<ContainerPayloads>
