/**
 * Whether containers run on JDK 17 or later, for `<ADD_OPENS>`. Hadoop asks its own JVM; we have none, and look at the JDK
 * that the container would find.
 */
import { readFile, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { systemCode } from '../../base/errors.ts'

/** A container's world, as far as it says where Java is. */
export interface JavaPlace {
  /** JAVA_HOME and PATH of the container, then of the daemon; a value that the shell must expand first does not help. */
  readonly javaHomes: readonly (string | undefined)[]
  readonly searchPaths: readonly (string | undefined)[]
}

/** Finds the major version of the JDK and remembers it for each place. */
export class JdkVersions {
  readonly #byPlace = new Map<string, Promise<number | undefined>>()

  /**
   * @returns undefined when no JDK is found, as with one that the container brings along. It then gets no options: an
   *   older JVM refuses to start with them, while JDK 17 runs without them but for some reflection.
   */
  majorVersion(place: JavaPlace): Promise<number | undefined> {
    const key = JSON.stringify(place)
    const known = this.#byPlace.get(key)
    if (known !== undefined) return known
    const version = find(place)
    // A few kinds of containers run on a node; should each bring another JAVA_HOME, none is worth keeping for long.
    if (this.#byPlace.size >= 100) this.#byPlace.clear()
    this.#byPlace.set(key, version)
    return version
  }
}

async function find({ javaHomes, searchPaths }: JavaPlace): Promise<number | undefined> {
  for (const home of javaHomes) {
    const version = home === undefined || !isAbsolute(home) ? undefined : await versionOf(home)
    if (version !== undefined) return version
  }
  for (const directory of searchPaths.flatMap((path) => path?.split(':') ?? [])) {
    const java = isAbsolute(directory) ? await resolved(join(directory, 'java')) : undefined
    // HOME/bin/java, and HOME/jre/bin/java of JDK 8.
    if (java !== undefined) {
      const home = dirname(dirname(java))
      return (await versionOf(home)) ?? (await versionOf(dirname(home)))
    }
  }
  return undefined
}

/** From the line `JAVA_VERSION="17.0.12"` of the JDK's `release` file; 8 is written `1.8.0_392`. */
async function versionOf(home: string): Promise<number | undefined> {
  try {
    const release = await readFile(join(home, 'release'), 'utf8')
    const version = /^JAVA_VERSION="(?:1\.)?(\d+)/m.exec(release)?.[1]
    return version === undefined ? undefined : Number(version)
  } catch (thrown) {
    if (isAbsence(thrown)) return undefined
    throw thrown
  }
}

async function resolved(path: string): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch (thrown) {
    if (isAbsence(thrown)) return undefined
    throw thrown
  }
}

/** The place is the container's word: whatever is wrong with it, there is no JDK for us to see. */
function isAbsence(thrown: unknown): boolean {
  return systemCode(thrown) !== undefined
}
