import type { LocalResource } from '../localization/localization.ts'
import type { Container } from './container.ts'
import type { ContainerOutcome } from './transitions.ts'

/**
 * What a container asks of the rest of the node. Each call returns at once; work that ends in an event sends it to the
 * container later, never before the call has returned.
 */
export interface ContainerEffects {
  /** Ends in one RESOURCE_LOCALIZED or RESOURCE_FAILED for each resource. */
  localize(container: Container, resources: readonly LocalResource[]): void
  /** Ends in CONTAINER_LAUNCHED and an exit event, or in an exit event alone. */
  schedule(container: Container): void
  /** Ends whatever runs; the exit event comes from the launch, or from here when there is no launch. */
  cleanUp(container: Container): void
  /** Waits for a clean-up that is under way, then ends in CONTAINER_RESOURCES_CLEANEDUP. */
  release(container: Container): void
  diagnosticsChanged(container: Container): void
  /** The container is DONE. Called once. */
  finished(container: Container, outcome: ContainerOutcome): void
}
