import { readFileSync } from 'node:fs'

interface Manifest {
  readonly version: string
}

// Read while the program starts, before anything is served: package.json is the only place that holds the version.
const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Manifest

/** Of Bobbin itself, not the Hadoop version that it announces. */
export const version: string = manifest.version
