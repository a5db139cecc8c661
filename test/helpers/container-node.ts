import { mkdtemp, rm, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock, type Clock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { Tasks } from '../../src/base/tasks.ts'
import { containerFactory, type Container, type CreateContainer } from '../../src/containers/container.ts'
import { ContainerLauncher, type ContainerLauncherOptions } from '../../src/containers/launch/launcher.ts'
import { LaunchPreparation, type PreparationOptions } from '../../src/containers/launch/preparation.ts'
import { NodeEffects } from '../../src/containers/node-effects.ts'
import { DefaultContainerExecutor } from '../../src/executors/default.ts'
import type { ContainerExecutor } from '../../src/executors/executor.ts'
import type { LocalDirs } from '../../src/health/local-dirs.ts'
import type { Localization, LocalizationRequest, LocalResource } from '../../src/localization/localization.ts'
import { applicationId, containerId, nodeId, type ContainerId } from '../../src/protocol/ids.ts'
import type { hadoop } from '../../src/protocol/messages.ts'
import type { NodeStateStore } from '../../src/recovery/store.ts'
import type { ContainerTokenIdentifier } from '../../src/security/container-token.ts'

export const CLUSTER = 1_700_000_000_000
export const APPLICATION = applicationId(CLUSTER, 1)

export interface ContainerNodeOptions {
  readonly launcher?: Partial<ContainerLauncherOptions>
  readonly preparation?: Partial<PreparationOptions>
  readonly executor?: ContainerExecutor
  readonly clock?: Clock
  readonly localDirCount?: number
  readonly dirs?: Partial<LocalDirs>
}

export interface ContainerWish {
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Link name → path that lies there already. */
  readonly resources?: Readonly<Record<string, string>>
  readonly credentials?: Buffer
}

/** Containers with real files and, unless another executor is given, real processes; localization is pretended. */
export class ContainerNode {
  readonly root: string
  readonly localDirs: readonly string[]
  readonly logDir: string
  readonly tasks = new Tasks(silentLog)
  readonly stored: string[] = []
  readonly done: Container[] = []
  readonly released: ContainerId[] = []
  readonly localizations: LocalizationRequest[] = []
  /** When set, resources stay pending. */
  holdsLocalization = false
  readonly launcher: ContainerLauncher
  readonly create: CreateContainer
  readonly #waiting = new Map<ContainerId, (container: Container) => void>()
  readonly #made: Container[] = []
  #sequence = 0

  constructor(root: string, options: ContainerNodeOptions) {
    this.root = root
    this.localDirs = Array.from({ length: options.localDirCount ?? 1 }, (_, index) => join(root, `local${index}`))
    this.logDir = join(root, 'logs')
    const clock = options.clock ?? systemClock
    const executor =
      options.executor ??
      new DefaultContainerExecutor({ niceAdjustment: undefined, logDirMode: 0o710, searchPath: '/usr/bin:/bin' })
    const store = this.#store()
    const preparation = new LaunchPreparation({
      dirs: { ...this.#dirs(), ...options.dirs },
      node: () => ({ nodeId: nodeId('node.example', 45454), httpPort: 8042 }),
      environmentWhitelist: ['JAVA_HOME', 'PATH', 'LANG'],
      adminEnvironment: [{ name: 'MALLOC_ARENA_MAX', value: '$MALLOC_ARENA_MAX' }],
      forcePath: '',
      userHomeDir: '/home/',
      auxServiceMetaData: () => new Map(),
      daemonEnvironment: { PATH: process.env['PATH'] },
      ...options.preparation,
    })
    this.launcher = new ContainerLauncher({
      preparation,
      executor,
      store,
      clock,
      tasks: this.tasks,
      log: silentLog,
      isDebugInfoEnabled: true,
      isDebugInfoOnErrorEnabled: false,
      stderrTailBytes: 4096,
      stderrPattern: '{*stderr*,*STDERR*}',
      sleepBeforeSigkillMs: 250,
      processKillWaitMs: 5000,
      place: () => Promise.resolve({ host: 'node.example', ips: ['192.0.2.1'] }),
      ...options.launcher,
    })
    const effects = new NodeEffects({
      localization: this.#localization(),
      launcher: this.launcher,
      store,
      tasks: this.tasks,
      log: silentLog,
      onContainerDone: (container) => {
        this.done.push(container)
        this.#waiting.get(container.id)?.(container)
      },
    })
    this.create = containerFactory({ effects, clock, log: silentLog, diagnosticsMaxSize: 10_000 })
  }

  static async make(options: ContainerNodeOptions = {}): Promise<ContainerNode> {
    const node = new ContainerNode(await mkdtemp(join(tmpdir(), 'bobbin-containers-')), options)
    for (const dir of [...node.localDirs, node.logDir]) await mkdir(dir)
    return node
  }

  /** Kills what a failed test has left running. */
  async close(): Promise<void> {
    for (const container of this.#made) container.kill(-1, 'the test is over')
    await this.tasks.idle()
    await rm(this.root, { recursive: true, force: true })
  }

  container(wish: ContainerWish): Container {
    const environment = Object.entries(wish.environment ?? {}).map(([key, value]) => ({ key, value }))
    const localResources = Object.entries(wish.resources ?? {}).map(([key, file]) => ({
      key,
      value: { resource: { scheme: 'file', file }, timestamp: 1, size: 1, type: 1, visibility: 3 },
    }))
    const launchContext: hadoop.yarn.ContainerLaunchContextProto.$Properties = {
      command: [...(wish.command ?? [])],
      environment,
      localResources,
    }
    const container = this.create({
      token: token(++this.#sequence),
      launchContext,
      credentials: wish.credentials ?? Buffer.alloc(0),
      startTime: CLUSTER,
    })
    this.#made.push(container)
    return container
  }

  /** Starts a container and waits until it is DONE. */
  async run(wish: ContainerWish): Promise<Container> {
    const container = this.container(wish)
    const done = this.whenDone(container)
    container.init()
    return done
  }

  whenDone(container: Container): Promise<Container> {
    if (container.isDone) return Promise.resolve(container)
    return new Promise((resolve) => this.#waiting.set(container.id, resolve))
  }

  workDir(container: Container, localDir = this.localDirs[0]): string {
    return join(localDir ?? '', 'usercache', container.user, 'appcache', container.applicationId, container.id)
  }

  privateDir(container: Container): string {
    return join(this.localDirs[0] ?? '', 'nmPrivate', container.applicationId, container.id)
  }

  containerLogDir(container: Container): string {
    return join(this.logDir, container.applicationId, container.id)
  }

  #dirs(): LocalDirs {
    const first = (dirs: readonly string[], relative: string) => Promise.resolve(join(dirs[0] ?? '', relative))
    return {
      localDirs: this.localDirs,
      logDirs: [this.logDir],
      localPathForWrite: (relative) => first(this.localDirs, relative),
      logPathForWrite: (relative) => first([this.logDir], relative),
      findLocal: (relative) => first(this.localDirs, relative),
      areDisksHealthy: () => true,
      report: () => '',
    }
  }

  #store(): NodeStateStore {
    const note = (what: string) => (id: string, detail?: unknown) => {
      this.stored.push(typeof detail === 'number' ? `${what} ${id} ${detail}` : `${what} ${id}`)
      return Promise.resolve()
    }
    return {
      storeApplication: note('application'),
      removeApplication: note('no application'),
      storeContainer: () => Promise.resolve(),
      storeContainerQueued: note('queued'),
      storeContainerLaunched: note('launched'),
      storeContainerKilled: note('killed'),
      storeContainerDiagnostics: () => Promise.resolve(),
      storeContainerCompleted: note('exitcode'),
      removeContainer: note('no container'),
    }
  }

  #localization(): Localization {
    return {
      initApplication: () => Promise.resolve(),
      localize: (request) => {
        this.localizations.push(request)
        if (this.holdsLocalization) return
        setImmediate(() => {
          for (const resource of request.resources) request.listener.resourceLocalized(resource, pathOf(resource), 10)
        })
      },
      release: (_user, _application, id) => {
        this.released.push(id)
        return Promise.resolve()
      },
      destroyApplication: () => Promise.resolve(),
    }
  }
}

function pathOf(resource: LocalResource): string {
  return resource.resource?.file ?? ''
}

/** A token as a ResourceManager would write it, for the nth container of one attempt. */
export function token(sequence: number): ContainerTokenIdentifier {
  return {
    containerId: containerId({ clusterTimestamp: CLUSTER, application: 1, attempt: 1, epoch: 0, sequence }),
    nodeAddress: 'node.example:45454',
    user: 'alice',
    resource: { memoryMb: 256, vcores: 1 },
    expiryTime: CLUSTER + 600_000,
    masterKeyId: 1,
    rmIdentifier: CLUSTER,
    priority: 1,
    creationTime: CLUSTER,
    logAggregationContext: undefined,
    nodeLabelExpression: '',
    containerType: 'TASK',
    executionType: 'GUARANTEED',
    version: 0,
    allocationRequestId: -1,
    allocationTags: [],
  }
}
