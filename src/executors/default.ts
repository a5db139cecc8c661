import { access, chmod, constants, mkdir, open, rm, type FileHandle } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { BobbinError, systemCode } from '../base/errors.ts'
import { bareOrQuoted, doubleQuoted } from '../base/shell-quoting.ts'
import { runDetached } from '../base/spawn.ts'
import type { ContainerId } from '../protocol/ids.ts'
import type { ContainerExecutor, LaunchOutcome, LaunchRequest, SignalRequest } from './executor.ts'
import { ExitCode } from './exit-code.ts'
import { inheritedDescriptors } from './inherited-descriptors.ts'
import { MarkedProcesses } from './marked-processes.ts'
import { signalGroup } from './process-group.ts'
import { readTail } from './read-tail.ts'
import { replaceByCopy, replaceFile } from './replace-file.ts'
import { removeTree } from './tree-removal.ts'

export interface DefaultExecutorOptions {
  /** `yarn.nodemanager.container-executor.os.sched.priority.adjustment`; undefined when not set. */
  readonly niceAdjustment: number | undefined
  /** `yarn.nodemanager.default-container-executor.log-dirs.permissions`, as a mode. */
  readonly logDirMode: number
  /** The daemon's PATH: where its tools are looked for. */
  readonly searchPath: string
}

/** `usercache/U`, and what lies below it. Source: launch rules of ContainerExecutor and ContainerLocalizer. */
const USER_DIR_MODE = 0o750
const CONTAINER_DIR_MODE = 0o710
const SCRIPT_MODE = 0o700
/** What is kept of the start scripts' own output. */
const OUTPUT_LIMIT = 16_384

/**
 * Runs every container as the daemon's own user. The process, its pid file and its exit-code file do without the daemon,
 * which may die and find them again. Source: DefaultContainerExecutor.
 */
export class DefaultContainerExecutor implements ContainerExecutor {
  readonly name = 'DefaultContainerExecutor'
  readonly #options: DefaultExecutorOptions
  readonly #marked = new MarkedProcesses()
  #nice = 'nice'
  #inherited: readonly number[] = []

  constructor(options: DefaultExecutorOptions) {
    this.#options = options
  }

  async init(): Promise<void> {
    const { niceAdjustment, searchPath } = this.#options
    await requireTool('bash', '/bin')
    // Without a session of its own a container could not be signalled as a whole.
    await requireTool('setsid', searchPath)
    this.#inherited = await inheritedDescriptors()
    if (niceAdjustment !== undefined) this.#nice = await requireTool('nice', searchPath)
  }

  async launch(request: LaunchRequest): Promise<LaunchOutcome> {
    await this.#makeDirectories(request)
    const starter = await writeFiles(request, this.#inherited)
    const stdout = await openUnnamed(`${request.pidFile}.out`)
    try {
      const stderr = await openUnnamed(`${request.pidFile}.err`)
      try {
        return await this.#run(request, starter, stdout, stderr)
      } finally {
        await stderr.close()
      }
    } finally {
      await stdout.close()
    }
  }

  signal({ containerId, pid, signal }: SignalRequest): Promise<boolean> {
    return signalGroup(containerId, pid, signal)
  }

  endStrays(containerId: ContainerId, before: readonly number[]): Promise<readonly number[]> {
    return this.#marked.end(containerId, before)
  }

  async makeDirectory(_user: string, path: string, mode: number): Promise<void> {
    try {
      await mkdir(path, { mode })
    } catch (thrown) {
      if (systemCode(thrown) !== 'EEXIST') throw thrown
    }
    // Not what the umask leaves of it.
    await chmod(path, mode)
  }

  remove(_user: string | undefined, path: string): Promise<void> {
    return removeTree(path)
  }

  async #run(request: LaunchRequest, starter: string, stdout: FileHandle, stderr: FileHandle): Promise<LaunchOutcome> {
    const { niceAdjustment } = this.#options
    const bash = ['/bin/bash', starter]
    const [file = '', ...args] =
      niceAdjustment === undefined ? bash : [this.#nice, '-n', String(niceAdjustment), ...bash]
    const exitCode = await runDetached({
      file,
      args,
      cwd: request.workDir,
      // Nothing of the daemon's own. The container's id marks its processes: before a signal, and after a restart.
      environment: { ...request.environment, CONTAINER_ID: request.containerId },
      stdout: stdout.fd,
      stderr: stderr.fd,
      cancel: request.cancel,
    })
    return {
      kind: 'exited',
      exitCode: exitCode ?? ExitCode.TERMINATED,
      stdout: await readTail(stdout, OUTPUT_LIMIT),
      stderr: await readTail(stderr, OUTPUT_LIMIT),
    }
  }

  async #makeDirectories(request: LaunchRequest): Promise<void> {
    const { applicationId, containerId, user, localDirs, logDirs, workDir } = request
    const { logDirMode } = this.#options
    for (const localDir of localDirs)
      await this.#makePath(user, localDir, [
        ['usercache', 0o755],
        [user, USER_DIR_MODE],
        ['appcache', CONTAINER_DIR_MODE],
        [applicationId, CONTAINER_DIR_MODE],
        [containerId, CONTAINER_DIR_MODE],
      ])
    for (const logDir of logDirs)
      await this.#makePath(user, logDir, [
        [applicationId, logDirMode],
        [containerId, logDirMode],
      ])
    await this.makeDirectory(user, join(workDir, 'tmp'), CONTAINER_DIR_MODE)
  }

  /** The last one gets its mode; those above it only when they are missing, for they are others' to set. */
  async #makePath(user: string, base: string, names: readonly (readonly [string, number])[]): Promise<void> {
    const last = names.length - 1
    let path = base
    for (const [index, [name, mode]] of names.entries()) {
      path = join(path, name)
      if (index === last || !(await exists(path))) await this.makeDirectory(user, path, mode)
    }
  }
}

/** @returns the script to run */
async function writeFiles(request: LaunchRequest, inherited: readonly number[]): Promise<string> {
  const { workDir, pidFile } = request
  const script = join(workDir, 'launch_container.sh')
  const session = join(workDir, 'default_container_executor_session.sh')
  const starter = join(workDir, 'default_container_executor.sh')
  await replaceByCopy(request.scriptFile, script)
  await chmod(script, SCRIPT_MODE)
  await replaceByCopy(request.tokensFile, join(workDir, 'container_tokens'))
  for (const file of request.extraFiles) await replaceByCopy(file, join(workDir, basename(file)))
  await replaceFile(session, sessionScript(script, pidFile), SCRIPT_MODE)
  await replaceFile(starter, starterScript(session, pidFile, inherited), SCRIPT_MODE)
  await chmod(session, SCRIPT_MODE)
  await chmod(starter, SCRIPT_MODE)
  return starter
}

/**
 * Waits for the container and leaves its exit code, whether or not there is a daemon to read it.
 * @param inherited descriptors that the container is not to have
 */
function starterScript(session: string, pidFile: string, inherited: readonly number[]): string {
  const temporary = doubleQuoted(`${pidFile}.exitcode.tmp`)
  return [
    '#!/bin/bash',
    // A thread dump is for JVMs, which set a handler of their own. A program that knows nothing of it goes on.
    "trap '' QUIT",
    ...(inherited.length === 0 ? [] : [`exec ${inherited.map((number) => `${number}>&-`).join(' ')}`]),
    `/bin/bash ${doubleQuoted(session)}`,
    'rc=$?',
    `echo $rc > ${temporary}`,
    `/bin/mv -f ${temporary} ${doubleQuoted(`${pidFile}.exitcode`)}`,
    'exit $rc',
    '',
  ].join('\n')
}

/** Leaves the pid, whole or not at all, and becomes the container in a session of its own. */
function sessionScript(script: string, pidFile: string): string {
  const temporary = bareOrQuoted(`${pidFile}.tmp`)
  return [
    '#!/bin/bash',
    '',
    `echo $$ > ${temporary}`,
    `/bin/mv -f ${temporary} ${bareOrQuoted(pidFile)}`,
    `exec setsid /bin/bash ${doubleQuoted(script)}`,
  ].join('\n')
}

/** A file without a name: the scripts can write to it when the daemon is gone, and nothing is left of it. */
async function openUnnamed(path: string): Promise<FileHandle> {
  await rm(path, { force: true })
  const handle = await open(path, 'ax+', 0o600)
  await rm(path)
  return handle
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch (thrown) {
    if (systemCode(thrown) === 'ENOENT') return false
    throw thrown
  }
}

/** @returns its path */
async function requireTool(name: string, searchPath: string): Promise<string> {
  for (const directory of searchPath.split(':').filter((entry) => entry !== '')) {
    const candidate = join(directory, name)
    try {
      await access(candidate, constants.X_OK)
      return candidate
    } catch {
      // Not here: the next directory may have it, and the end of the list is an error.
    }
  }
  throw new BobbinError(
    'ERR_NO_TOOL',
    `'${name}' is not in PATH (${searchPath}): install it, containers cannot run without it`,
  )
}
