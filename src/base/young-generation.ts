import { setFlagsFromString } from 'node:v8'

/**
 * V8 doubles its young generation whenever much of it survives, as everything does while a program loads, and keeps
 * the size: 8 MB that an idle daemon never needs. V8 reads this flag each time it grows; 2 is its default.
 */
export function holdYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Once the program is up: whatever survives now is load, for which a larger young generation saves time. */
export function releaseYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=2')
}
