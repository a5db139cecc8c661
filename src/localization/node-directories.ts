import { chmod, mkdir, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { messageOf, systemCode } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { OrderedDeletion } from '../deletion/deletion.ts'
import type { LocalDirs, ReadableDirs } from '../health/local-dirs.ts'
import { tellOfSurvivors } from './survivors.ts'

/** Sub-directories of each local dir and their modes. Source: ResourceLocalizationService.getLocalDirsPathPermissionsMap. */
export const USERCACHE = 'usercache'
export const FILECACHE = 'filecache'
export const NM_PRIVATE = 'nmPrivate'
const NODE_DIRECTORIES = [
  { name: USERCACHE, mode: 0o755 },
  { name: FILECACHE, mode: 0o755 },
  { name: NM_PRIVATE, mode: 0o700 },
] as const

const OLD_NODE_DIRECTORY = /^(usercache|filecache|nmPrivate)_DEL_/
const APPLICATION_LOGS = /^application_\d+_\d+$/
const OLD_APPLICATION_LOGS = /^application_\d+_\d+_DEL_\d+$/

export interface NodeDirectoriesOptions {
  readonly localDirs: LocalDirs & ReadableDirs
  readonly deletion: OrderedDeletion
  readonly clock: Clock
  readonly log: Log
  /** Nothing of an earlier run is wanted: recovery is off, or the state store is new. */
  readonly isFresh: boolean
}

/**
 * Done at the start of the node: gives what earlier runs left to the deletion service, also what an earlier start had
 * renamed, and makes the three sub-directories. With a recovered store nothing is renamed or deleted.
 * Source: ResourceLocalizationService.serviceInit.
 */
export async function prepareNodeDirectories(options: NodeDirectoriesOptions): Promise<void> {
  const { localDirs, isFresh, log } = options
  if (isFresh) {
    for (const dir of localDirs.readableLocalDirs) {
      await attempt(log, dir, () => tellOfSurvivors(join(dir, NM_PRIVATE), log))
      await attempt(log, dir, () => retireLocalDir(dir, options))
    }
    for (const dir of localDirs.readableLogDirs) await attempt(log, dir, () => retireLogDir(dir, options))
  }
  for (const dir of localDirs.localDirs) await makeNodeDirectories(dir)
}

/** Makes or mends the sub-directories of one local dir. The modes don't depend on the umask. */
export async function makeNodeDirectories(localDir: string): Promise<void> {
  for (const { name, mode } of NODE_DIRECTORIES) {
    const path = join(localDir, name)
    await mkdir(path, { recursive: true, mode })
    await chmod(path, mode)
  }
}

async function retireLocalDir(dir: string, { deletion, clock, log }: NodeDirectoriesOptions): Promise<void> {
  for (const { name } of NODE_DIRECTORIES) {
    try {
      await rename(join(dir, name), join(dir, `${name}_DEL_${clock.now()}`))
    } catch (thrown) {
      if (systemCode(thrown) === 'ENOENT') continue
      log.warn({ err: thrown }, `Failed to rename the local file under ${dir}/${name}: ${messageOf(thrown)}`)
    }
  }
  for (const name of await readdir(dir)) {
    const kind = OLD_NODE_DIRECTORY.exec(name)?.[1]
    const path = join(dir, name)
    if (kind === undefined) continue
    if (kind === USERCACHE) await retireUsers(path, deletion)
    else deletion.schedule(undefined, [path])
  }
}

/** Each user's files go as that user, whose name is the directory's; the daemon may be unable to. */
async function retireUsers(usercache: string, deletion: OrderedDeletion): Promise<void> {
  const users = await readdir(usercache)
  deletion.scheduleInOrder(
    users.map((user) => ({ user, paths: [join(usercache, user)] })),
    { user: undefined, paths: [usercache] },
  )
}

async function retireLogDir(dir: string, { deletion, clock }: NodeDirectoriesOptions): Promise<void> {
  const suffix = `_DEL_${clock.now()}`
  const old: string[] = []
  for (const name of await readdir(dir)) {
    if (OLD_APPLICATION_LOGS.test(name)) old.push(join(dir, name))
    if (!APPLICATION_LOGS.test(name)) continue
    await rename(join(dir, name), join(dir, `${name}${suffix}`))
    old.push(join(dir, `${name}${suffix}`))
  }
  deletion.schedule(undefined, old)
}

async function attempt(log: Log, dir: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (thrown) {
    log.warn({ err: thrown, dir }, `failed to clean up ${dir}: ${messageOf(thrown)}`)
  }
}
