import { asError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Tasks } from '../base/tasks.ts'
import type { Localization, LocalResource } from '../localization/localization.ts'
import type { ContainerId } from '../protocol/ids.ts'
import type { NodeStateStore } from '../recovery/store.ts'
import type { Container } from './container.ts'
import type { ContainerEffects } from './effects.ts'
import type { ContainerLauncher } from './launch/launcher.ts'
import type { ContainerOutcome } from './transitions.ts'

export interface NodeEffectsOptions {
  readonly localization: Pick<Localization, 'localize' | 'release'>
  readonly launcher: Pick<ContainerLauncher, 'launch' | 'cleanUp' | 'settled'>
  readonly store: Pick<NodeStateStore, 'storeContainerQueued' | 'storeContainerDiagnostics'>
  readonly tasks: Tasks
  readonly log: Log
  /** The container is DONE, whatever it went through. Called once for each; returns at once. */
  readonly onContainerDone: (container: Container) => void
}

/** Words of Hadoop's audit log. Source: NMAuditLogger.AuditConstants. */
const AUDIT: { readonly [O in ContainerOutcome]: string } = {
  succeeded: 'OPERATION=Container Finished - Succeeded\tTARGET=ContainerImpl\tRESULT=SUCCESS',
  killed: 'OPERATION=Container Finished - Killed\tTARGET=ContainerImpl\tRESULT=SUCCESS',
  failed:
    'OPERATION=Container Finished - Failed\tTARGET=ContainerImpl\tRESULT=FAILURE\tDESCRIPTION=Container failed with state: EXITED_WITH_FAILURE',
  'localization failed':
    'OPERATION=Container Finished - Failed\tTARGET=ContainerImpl\tRESULT=FAILURE\tDESCRIPTION=Container failed with state: LOCALIZATION_FAILED',
}

/** Carries out what the containers of this node ask for. */
export class NodeEffects implements ContainerEffects {
  readonly #options: NodeEffectsOptions
  /** Containers whose diagnostics are being written; `stale` when they have changed meanwhile. */
  readonly #writing = new Map<ContainerId, { isStale: boolean }>()

  constructor(options: NodeEffectsOptions) {
    this.#options = options
  }

  localize(container: Container, resources: readonly LocalResource[]): void {
    const { id, applicationId, user, spec } = container
    this.#options.localization.localize({
      containerId: id,
      applicationId,
      user,
      resources,
      credentials: spec.credentials,
      listener: {
        resourceLocalized: (resource, path, sizeBytes) =>
          container.send({ type: 'RESOURCE_LOCALIZED', payload: { resource, path, sizeBytes } }),
        resourceFailed: (_resource, diagnostics) =>
          container.send({ type: 'RESOURCE_FAILED', payload: { diagnostics } }),
      },
    })
  }

  /** Nothing is held back for lack of room: the ResourceManager has counted it. */
  schedule(container: Container): void {
    this.#options.tasks.run(`start of ${container.id}`, async () => {
      try {
        await this.#options.store.storeContainerQueued(container.id)
      } catch (thrown) {
        this.#options.log.warn(
          { err: asError(thrown) },
          `Could not store container ${container.id} state. It is queued`,
        )
      }
      // Killed meanwhile: the clean-up has found no launch and said so.
      if (container.state !== 'SCHEDULED') return
      this.#options.log.info(`Starting container [${container.id}]`)
      this.#options.launcher.launch(container)
    })
  }

  cleanUp(container: Container): void {
    this.#options.launcher.cleanUp(container)
  }

  /** After the clean-up, so that nothing runs any more when a container is reported complete and its files go. */
  release(container: Container): void {
    const { launcher, localization, tasks, log } = this.#options
    const { id, applicationId, user } = container
    tasks.run(`release of ${id}`, async () => {
      await launcher.settled(id)
      await localization
        .release(user, applicationId, id)
        .catch((thrown: unknown) => log.error({ err: asError(thrown) }, `Resources of ${id} could not be given back`))
      container.send({ type: 'CONTAINER_RESOURCES_CLEANEDUP' })
    })
  }

  /** Only the newest text matters: while one is written others wait in a slot of one. */
  diagnosticsChanged(container: Container): void {
    const writing = this.#writing.get(container.id)
    if (writing !== undefined) writing.isStale = true
    else this.#options.tasks.run(`diagnostics of ${container.id}`, () => this.#writeDiagnostics(container))
  }

  finished(container: Container, outcome: ContainerOutcome): void {
    const { id, applicationId, user } = container
    this.#options.log.info(`USER=${user}\t${AUDIT[outcome]}\tAPPID=${applicationId}\tCONTAINERID=${id}`)
    this.#options.onContainerDone(container)
  }

  async #writeDiagnostics(container: Container): Promise<void> {
    const slot = { isStale: true }
    this.#writing.set(container.id, slot)
    try {
      while (slot.isStale) {
        slot.isStale = false
        await this.#options.store.storeContainerDiagnostics(container.id, container.diagnostics)
      }
    } finally {
      this.#writing.delete(container.id)
    }
  }
}
