import { MemoryNodeStateStore } from '../../../src/recovery/memory.ts'
import { storeContract } from './store-contract.ts'

storeContract('memory', () => Promise.resolve(new MemoryNodeStateStore()))
