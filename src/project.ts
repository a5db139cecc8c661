/** Where this program lies, compiled or joined: both are two folders below the project's own. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

interface Manifest {
  readonly version: string
}

const root = new URL('../../', import.meta.url)

// Read while the program starts, before anything is served: package.json is the only place that holds the version.
const manifest = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as Manifest

/** Of Bobbin itself, not the Hadoop version that it announces. */
export const version: string = manifest.version

/** What the project brings for a cluster of one machine. */
export const ownConfig: string = fileURLToPath(new URL('config', root))
