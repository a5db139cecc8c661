import type { NodeStateStore } from './store.ts'

/**
 * The store of a node without recovery: nothing outlives the process, so nothing is kept, and each call has done its
 * work when it returns. Source: NMNullStateStoreService.
 */
export class MemoryNodeStateStore implements NodeStateStore {
  storeApplication(): Promise<void> {
    return done
  }
  removeApplication(): Promise<void> {
    return done
  }
  storeContainer(): Promise<void> {
    return done
  }
  storeContainerQueued(): Promise<void> {
    return done
  }
  storeContainerLaunched(): Promise<void> {
    return done
  }
  storeContainerKilled(): Promise<void> {
    return done
  }
  storeContainerDiagnostics(): Promise<void> {
    return done
  }
  storeContainerCompleted(): Promise<void> {
    return done
  }
  removeContainer(): Promise<void> {
    return done
  }
}

const done = Promise.resolve()
