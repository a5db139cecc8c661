/**
 * Reads the files of a container's log directories. Their owner may put anything there, and may replace the
 * directories themselves: no step below a log dir follows a link, and only plain files directly in the container's
 * directory are opened. Each step starts from the open directory before it, so that no rename can lead astray.
 */
import { constants } from 'node:fs'
import { lstat, open, opendir, type FileHandle } from 'node:fs/promises'
import { systemCode } from '../base/errors.ts'
import { applicationOfContainer, type ContainerId } from '../protocol/ids.ts'

export interface LogFile {
  readonly name: string
  readonly sizeBytes: number
  /** Milliseconds since the epoch. */
  readonly modifiedTime: number
}

/** Files of one container that are listed; a container that makes more shows only these. */
const MAX_LISTED = 10_000
/** Longest name that a file system takes, bytes. */
const MAX_NAME_BYTES = 255

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
/** O_NONBLOCK: opening a FIFO without a writer must not hang. */
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Errors of a path that is not there, or is not what it should be: a link, a file in place of a directory. */
const ABSENT: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM', 'ENXIO'])

/** @returns the plain files of the container in every log dir, in the order of the directories. */
export async function listLogFiles(logDirs: readonly string[], container: ContainerId): Promise<LogFile[]> {
  const files: LogFile[] = []
  for (const logDir of logDirs)
    await withContainerDir(logDir, container, async (path) => {
      for await (const { name } of await opendir(path)) {
        if (files.length >= MAX_LISTED) break
        const stats = await lstat(`${path}/${name}`).catch(absentIsUndefined)
        if (stats?.isFile() === true) files.push({ name, sizeBytes: stats.size, modifiedTime: stats.mtimeMs })
      }
    })
  return files
}

export interface OpenLogFile extends LogFile {
  /** The caller closes it. */
  readonly handle: FileHandle
}

/** @returns undefined when no log dir has a plain file of that name for the container. */
export async function openLogFile(
  logDirs: readonly string[],
  container: ContainerId,
  name: string,
): Promise<OpenLogFile | undefined> {
  if (!isFileName(name)) return undefined
  for (const logDir of logDirs) {
    const file = await withContainerDir(logDir, container, (path) => openPlainFile(path, name))
    if (file !== undefined) return file
  }
  return undefined
}

function isFileName(name: string): boolean {
  if (name === '' || name === '.' || name === '..') return false
  return !name.includes('/') && !name.includes('\0') && Buffer.byteLength(name) <= MAX_NAME_BYTES
}

async function openPlainFile(directory: string, name: string): Promise<OpenLogFile | undefined> {
  const handle = await open(`${directory}/${name}`, FILE).catch(absentIsUndefined)
  if (handle === undefined) return undefined
  try {
    const stats = await handle.stat()
    if (stats.isFile()) return { name, sizeBytes: stats.size, modifiedTime: stats.mtimeMs, handle }
  } catch (thrown) {
    await handle.close()
    throw thrown
  }
  await handle.close()
  return undefined
}

/** @param use is given a path that leads to the open directory, wherever it has been moved */
async function withContainerDir<T>(
  logDir: string,
  container: ContainerId,
  use: (path: string) => Promise<T>,
): Promise<T | undefined> {
  const opened: FileHandle[] = []
  try {
    let path = logDir
    for (const step of ['', `/${applicationOfContainer(container)}`, `/${container}`]) {
      // The log dir itself is the operator's and may be a link.
      const flags = step === '' ? constants.O_RDONLY | constants.O_DIRECTORY : DIRECTORY
      const handle = await open(`${path}${step}`, flags).catch(absentIsUndefined)
      if (handle === undefined) return undefined
      opened.push(handle)
      path = `/proc/self/fd/${handle.fd}`
    }
    return await use(path)
  } finally {
    for (const handle of opened) await handle.close()
  }
}

function absentIsUndefined(thrown: unknown): undefined {
  if (!ABSENT.has(systemCode(thrown))) throw thrown
}
