import { join } from 'node:path'
import { BobbinError, messageOf } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Deletion } from '../deletion/deletion.ts'
import type { LocalDirs, ReadableDirs } from '../health/local-dirs.ts'
import type { ApplicationId, ContainerId } from '../protocol/ids.ts'
import { FILECACHE, makeNodeDirectories, NM_PRIVATE, USERCACHE } from './node-directories.ts'
import { isReachable } from './reachable.ts'

const APPCACHE = 'appcache'
/** Source: DefaultContainerExecutor USER_PERM, APPCACHE_PERM, FILECACHE_PERM, APPDIR_PERM. */
const USER_MODE = 0o750
const CACHE_MODE = 0o710

/** Makes directories as a user; the part of ContainerExecutor that localization needs. */
export interface DirectoryMaker {
  /** Existing is no error; the mode is set anyway. */
  makeDirectory(user: string, path: string, mode: number): Promise<void>
}

export interface ApplicationDirectoriesOptions {
  readonly localDirs: LocalDirs & ReadableDirs
  readonly executor: DirectoryMaker
  readonly deletion: Deletion
  /** `yarn.nodemanager.default-container-executor.log-dirs.permissions`, of the application's log dirs. */
  readonly logDirMode: number
  readonly log: Log
}

/** Relative to a local dir. */
export function privateCache(user: string): string {
  return join(USERCACHE, user, FILECACHE)
}

/** Relative to a local dir. */
export function applicationCache(user: string, applicationId: ApplicationId): string {
  return join(USERCACHE, user, APPCACHE, applicationId, FILECACHE)
}

/** The directories of users, applications and containers: made, and given to the deletion service in the end. */
export class ApplicationDirectories {
  readonly #options: ApplicationDirectoriesOptions

  constructor(options: ApplicationDirectoriesOptions) {
    this.#options = options
  }

  /**
   * Makes an application's directories on every local and log dir that is in use.
   * @throws BobbinError ERR_BAD_USER, or ERR_NO_LOCAL_DIR when they can be made on none
   */
  async make(user: string, applicationId: ApplicationId): Promise<void> {
    const { localDirs, executor, logDirMode } = this.#options
    if (user === '' || user === '.' || user === '..' || /[/\0]/.test(user))
      throw new BobbinError('ERR_BAD_USER', `the user ${JSON.stringify(user)} can't be the name of a directory`)
    await this.#onSomeOf(
      localDirs.localDirs,
      `app directories in any of the configured local directories for app ${applicationId}`,
      (dir) => this.makeOn(dir, user, applicationId),
    )
    await this.#onSomeOf(
      localDirs.logDirs,
      `app-log directories in any of the configured local directories for app ${applicationId}`,
      (dir) => executor.makeDirectory(user, join(dir, applicationId), logDirMode),
    )
  }

  /** Makes them on one local dir, which may have come back into use since the start. */
  async makeOn(localDir: string, user: string, applicationId: ApplicationId): Promise<void> {
    const { executor } = this.#options
    if (!(await isReachable(join(localDir, USERCACHE)))) await makeNodeDirectories(localDir)
    const userDir = join(localDir, USERCACHE, user)
    const applicationDir = join(userDir, APPCACHE, applicationId)
    await executor.makeDirectory(user, userDir, USER_MODE)
    await executor.makeDirectory(user, join(userDir, FILECACHE), CACHE_MODE)
    await executor.makeDirectory(user, join(userDir, APPCACHE), CACHE_MODE)
    await executor.makeDirectory(user, applicationDir, CACHE_MODE)
    await executor.makeDirectory(user, join(applicationDir, FILECACHE), CACHE_MODE)
  }

  /** The work dirs and the private files of a container. */
  async retireContainer(user: string, applicationId: ApplicationId, containerId: ContainerId): Promise<void> {
    await this.#retire(user, join(USERCACHE, user, APPCACHE, applicationId, containerId))
    await this.#retire(undefined, join(NM_PRIVATE, applicationId, containerId))
  }

  /** Not the log dirs: they wait for log handling. */
  async retireApplication(user: string, applicationId: ApplicationId): Promise<void> {
    await this.#retire(user, join(USERCACHE, user, APPCACHE, applicationId))
    await this.#retire(undefined, join(NM_PRIVATE, applicationId))
  }

  async #retire(owner: string | undefined, relative: string): Promise<void> {
    const { localDirs, deletion } = this.#options
    const paths = localDirs.readableLocalDirs.map((dir) => join(dir, relative))
    const existing = await Promise.all(paths.map(isReachable))
    deletion.schedule(
      owner,
      paths.filter((_path, index) => existing[index]),
    )
  }

  /** Source of the words: DefaultContainerExecutor. */
  async #onSomeOf(dirs: readonly string[], what: string, make: (dir: string) => Promise<void>): Promise<void> {
    const failures: string[] = []
    for (const dir of dirs) {
      try {
        await make(dir)
      } catch (thrown) {
        failures.push(messageOf(thrown))
        this.#options.log.warn({ err: thrown, dir }, `Unable to create directories under ${dir}: ${messageOf(thrown)}`)
      }
    }
    if (failures.length < dirs.length) return
    throw new BobbinError('ERR_NO_LOCAL_DIR', `Not able to initialize ${what}: ${failures.join('; ')}`)
  }
}
