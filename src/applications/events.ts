import type { EventOf } from '../base/state-machine.ts'
import type { ContainerId } from '../protocol/ids.ts'
import type { ApplicationContainer } from './transitions.ts'

/** Names of Hadoop's ApplicationEventType with what each carries. */
export type ApplicationPayloads = {
  readonly INIT_APPLICATION: undefined
  readonly INIT_CONTAINER: { readonly container: ApplicationContainer }
  /** Milliseconds: when log handling began. */
  readonly APPLICATION_LOG_HANDLING_INITED: { readonly time: number }
  readonly APPLICATION_LOG_HANDLING_FAILED: undefined
  readonly APPLICATION_INITED: undefined
  readonly APPLICATION_CONTAINER_FINISHED: { readonly id: ContainerId }
  readonly FINISH_APPLICATION: { readonly reason: string }
  readonly APPLICATION_RESOURCES_CLEANEDUP: undefined
  readonly APPLICATION_LOG_HANDLING_FINISHED: undefined
}

export type ApplicationEvent = EventOf<ApplicationPayloads>
