/** Sub-directories of one level: the digits of base 36. */
const DIRECTORIES_PER_LEVEL = 36

interface CacheDirectory {
  readonly relative: string
  entries: number
}

/**
 * Spreads the entries of one cache over directories, so that none holds more than the limit: files go to the base
 * until it is full, then to `0` … `z`, `0/0` and so on. Only names are dealt with here; nothing is made on the disk.
 * Source: LocalCacheDirectoryManager.
 */
export class CacheDirectories {
  readonly #limit: number
  readonly #known = new Map<string, CacheDirectory>()
  /** Those with room, in the order in which they are filled. */
  #vacant: CacheDirectory[] = []
  #last = 0

  /** @param maxFilesPerDirectory sub-directories counted in: at least 37 */
  constructor(maxFilesPerDirectory: number) {
    this.#limit = maxFilesPerDirectory - DIRECTORIES_PER_LEVEL
    this.#add(0)
  }

  /** Counts one more entry. @returns the directory for it, relative to the base; empty for the base itself */
  take(): string {
    const directory = this.#vacant[0] ?? this.#add(++this.#last)
    directory.entries++
    if (directory.entries >= this.#limit) this.#vacant.shift()
    return directory.relative
  }

  /** Counts one entry less; a directory that was full is filled again after the others. */
  giveBack(relative: string): void {
    const directory = this.#known.get(relative)
    if (directory === undefined) return
    const wasFull = directory.entries >= this.#limit
    directory.entries--
    if (wasFull) this.#vacant.push(directory)
  }

  #add(number: number): CacheDirectory {
    const directory = { relative: relativePathOf(number), entries: 0 }
    this.#known.set(directory.relative, directory)
    this.#vacant.push(directory)
    return directory
  }
}

/** Directory 0 is the base; the others are numbered in base 36, the first of several digits lowered by one. */
export function relativePathOf(number: number): string {
  if (number === 0) return ''
  const digits = (number - 1).toString(DIRECTORIES_PER_LEVEL).split('')
  const [first = '', ...rest] = digits
  if (rest.length === 0) return first
  // Else `0/…` would never be used.
  return [(Number.parseInt(first, DIRECTORIES_PER_LEVEL) - 1).toString(DIRECTORIES_PER_LEVEL), ...rest].join('/')
}
