import { chmod, mkdir, mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Log } from '../../../src/base/log.ts'
import { silentLog } from '../../../src/base/log.ts'
import { systemClock } from '../../../src/base/clock.ts'
import { DefaultContainerExecutor } from '../../../src/executors/default.ts'
import { LocalDirsHandler } from '../../../src/health/local-dirs-handler.ts'
import type { LocalizationListener, LocalResource } from '../../../src/localization/localization.ts'
import {
  ResourceLocalizationService,
  type ResourceLocalizationOptions,
} from '../../../src/localization/resource-localization-service.ts'
import { applicationId, containerId, type ApplicationId, type ContainerId } from '../../../src/protocol/ids.ts'
import { hadoop } from '../../../src/protocol/messages.ts'

const { LocalResourceTypeProto: Type, LocalResourceVisibilityProto: Visibility } = hadoop.yarn

export const USER = 'alice'
export const APP: ApplicationId = applicationId(1_700_000_000_000, 1)

export function container(sequence: number): ContainerId {
  return containerId({ clusterTimestamp: 1_700_000_000_000, application: 1, attempt: 1, epoch: 0, sequence })
}

/** A deletion service that only remembers. */
export class RememberingDeletion {
  readonly scheduled: { user: string | undefined; path: string }[] = []

  schedule(user: string | undefined, paths: readonly string[]): void {
    for (const path of paths) this.scheduled.push({ user, path })
  }

  scheduleInOrder(
    first: readonly { user: string | undefined; paths: readonly string[] }[],
    last: { user: string | undefined; paths: readonly string[] },
  ): void {
    for (const { user, paths } of [...first, last]) this.schedule(user, paths)
  }
}

/** Hears of a container's resources; `settled` resolves when it has heard of so many. */
export class Hearer implements LocalizationListener {
  readonly localized: { resource: LocalResource; path: string; sizeBytes: number }[] = []
  readonly failed: { resource: LocalResource | undefined; diagnostics: string }[] = []
  #changed: () => void = () => {}

  resourceLocalized(resource: LocalResource, path: string, sizeBytes: number): void {
    this.localized.push({ resource, path, sizeBytes })
    this.#changed()
  }

  resourceFailed(resource: LocalResource | undefined, diagnostics: string): void {
    this.failed.push({ resource, diagnostics })
    this.#changed()
  }

  async settled(count = 1): Promise<void> {
    while (this.localized.length + this.failed.length < count) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve
      })
    }
  }
}

export interface TestNode {
  readonly dir: string
  readonly localDir: string
  readonly logDir: string
  readonly localDirs: LocalDirsHandler
  readonly deletion: RememberingDeletion
  readonly service: ResourceLocalizationService
  /** Lines of the log, newest last. */
  readonly lines: string[]
  /** Writes a source file that everybody may read. */
  source(name: string, data: Buffer | string): Promise<string>
  /** Asks for resources as a container and waits until all are answered. */
  localize(sequence: number, resources: readonly LocalResource[]): Promise<Hearer>
}

export interface TestNodeOptions extends Partial<ResourceLocalizationOptions> {
  readonly localDirCount?: number
}

export async function startNode(t: TestContext, options: TestNodeOptions = {}): Promise<TestNode> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'bobbin-localization-')))
  await chmod(dir, 0o755)
  t.after(() => rm(dir, { recursive: true, force: true }))
  const { localDirCount = 1, ...rest } = options
  const locals = Array.from({ length: localDirCount }, (_none, index) => join(dir, 'local', String(index)))
  const logDir = join(dir, 'logs')
  const lines: string[] = []
  const write = (...args: unknown[]): void => void lines.push(String(args.findLast((arg) => typeof arg === 'string')))
  const log: Log = { ...silentLog, info: write, warn: write, error: write }
  const localDirs = new LocalDirsHandler({
    localDirs: locals,
    logDirs: [logDir],
    minHealthyDisks: 0.25,
    clock: systemClock,
    log: silentLog,
  })
  await localDirs.start()
  const deletion = new RememberingDeletion()
  const service = new ResourceLocalizationService({
    fetchThreads: 4,
    maxFilesPerDirectory: 8192,
    defaultFileSystem: 'file:///',
    logDirMode: 0o710,
    isFresh: true,
    localDirs,
    deletion,
    executor: new DefaultContainerExecutor({
      niceAdjustment: undefined,
      logDirMode: 0o710,
      searchPath: '/usr/bin:/bin',
    }),
    clock: systemClock,
    log,
    ...rest,
  })
  await service.start()
  t.after(() => service.stop())
  await service.initApplication(USER, APP)
  return {
    dir,
    localDir: locals[0]!,
    logDir,
    localDirs,
    deletion,
    service,
    lines,
    async source(name, data) {
      const path = join(dir, 'sources', name)
      await mkdir(dirname(path), { recursive: true, mode: 0o755 })
      await writeFile(path, data)
      await chmod(path, 0o644)
      return path
    },
    async localize(sequence, resources) {
      const listener = new Hearer()
      service.localize(requestOf(sequence, resources, listener))
      await listener.settled(resources.length)
      return listener
    },
  }
}

export function requestOf(sequence: number, resources: readonly LocalResource[], listener: LocalizationListener) {
  const containerId = container(sequence)
  return { containerId, applicationId: APP, user: USER, resources, credentials: Buffer.alloc(0), listener }
}

export interface Wish {
  readonly type?: keyof typeof Type
  readonly visibility?: keyof typeof Visibility
  readonly timestamp?: number
  readonly size?: number
  readonly pattern?: string
}

/** What a master asks for: the file's true size and time unless told otherwise. */
export async function resourceOf(path: string, wish: Wish = {}): Promise<LocalResource> {
  const { type = 'FILE', visibility = 'APPLICATION', pattern } = wish
  const status = await stat(path)
  return {
    resource: { scheme: 'file', port: -1, file: path },
    size: wish.size ?? status.size,
    timestamp: wish.timestamp ?? Math.trunc(status.mtimeMs),
    type: Type[type],
    visibility: Visibility[visibility],
    ...(pattern === undefined ? {} : { pattern }),
  }
}
