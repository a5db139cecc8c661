import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { resolve } from 'node:path'
import { messageOf, systemCode } from '../base/errors.ts'
import { makeDirectories } from './make-directories.ts'

/** Why a dir is out of use. `full`: it may still be read and emptied; `error`: it may not be touched. */
export interface DirFault {
  readonly kind: 'full' | 'error'
  /** Hadoop's words, without the name of the dir's list. */
  readonly message: string
}

/** Source: DirectoryCollection.createNonExistentDirs. */
const DIR_MODE = 0o755

/**
 * One list of dirs and the verdict on each. A dir that returns goes to the end of the good ones.
 * Source: org.apache.hadoop.yarn.server.nodemanager.DirectoryCollection.
 */
export class DirectoryCollection {
  /** `local` or `log`, as it stands in the report. */
  readonly kind: 'local' | 'log'
  readonly #configured: readonly string[]
  #good: readonly string[]
  readonly #faults = new Map<string, DirFault>()

  constructor(kind: 'local' | 'log', configured: readonly string[]) {
    this.kind = kind
    // Without a slash at the end, as others compare and join them.
    this.#configured = [...new Set(configured.map((dir) => resolve(dir)))]
    this.#good = this.#configured
  }

  get good(): readonly string[] {
    return this.#good
  }

  get full(): readonly string[] {
    return this.#dirsWith('full')
  }

  get failed(): readonly string[] {
    return this.#dirsWith('error')
  }

  get total(): number {
    return this.#configured.length
  }

  /** Takes a new verdict on each dir; a dir that has no entry is good. */
  update(faults: ReadonlyMap<string, DirFault>): void {
    const wasGood = new Set(this.#good)
    const returned = [...this.failed, ...this.full]
    this.#faults.clear()
    for (const dir of this.#configured) {
      const fault = faults.get(dir)
      if (fault !== undefined) this.#faults.set(dir, fault)
    }
    this.#good = [...wasGood, ...returned].filter((dir) => !this.#faults.has(dir))
  }

  /** Makes what is missing and checks what is there. @returns the faults, for `update`. */
  async prepare(): Promise<Map<string, DirFault>> {
    const faults = new Map<string, DirFault>()
    for (const dir of this.#configured) {
      const message = await prepareDir(dir)
      if (message !== undefined) faults.set(dir, { kind: 'error', message })
    }
    return faults
  }

  /** `[ dir : message , dir : message ]` as Hadoop prints it, with a blank on either side. */
  describe(kind: DirFault['kind']): string {
    const entries = this.#dirsWith(kind).map((dir) => `${dir} : ${this.#faults.get(dir)?.message}`)
    return ` [ ${entries.join(' , ')} ] `
  }

  #dirsWith(kind: DirFault['kind']): readonly string[] {
    return this.#configured.filter((dir) => this.#faults.get(dir)?.kind === kind)
  }
}

/** Source: DiskChecker.checkDir. */
async function prepareDir(dir: string): Promise<string | undefined> {
  try {
    await makeDirectories(dir, DIR_MODE)
  } catch (thrown) {
    if (systemCode(thrown) === 'EEXIST') return `Not a directory: ${dir}`
    return `Cannot create directory : ${dir}, error ${messageOf(thrown)}`
  }
  for (const [mode, word] of [
    [constants.R_OK, 'readable'],
    [constants.W_OK, 'writable'],
    [constants.X_OK, 'executable'],
  ] as const) {
    try {
      await access(dir, mode)
    } catch {
      // The kind of access that is refused is the whole of the message.
      return `Directory is not ${word}: ${dir}`
    }
  }
  return undefined
}
