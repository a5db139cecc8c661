/** A web server over real log directories, in the state in which the golden answers were taken. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLog } from '../../../src/base/log.ts'
import type { ApplicationView } from '../../../src/applications/application-view.ts'
import type { ContainerView } from '../../../src/containers/container-view.ts'
import { applicationId, containerId, nodeId } from '../../../src/protocol/ids.ts'
import type { ApplicationId, ContainerId } from '../../../src/protocol/ids.ts'
import type { NodeView, WebViews } from '../../../src/web/views.ts'
import { WebServer } from '../../../src/web/server.ts'
import { projectRoot } from '../../helpers/fixtures.ts'
import { runningContainer } from '../../helpers/running-container.ts'

export const TIMESTAMP = 1_700_000_000_000
export const APP: ApplicationId = applicationId(TIMESTAMP, 1)

export function idOf(sequence: number): ContainerId {
  return containerId({ clusterTimestamp: TIMESTAMP, application: 1, attempt: 1, epoch: 0, sequence })
}

export function container(sequence: number, more: Partial<ContainerView> = {}): ContainerView {
  const id = idOf(sequence)
  return runningContainer(id, { resource: { memoryMb: sequence === 1 ? 512 : 256, vcores: 1 }, ...more })
}

export class Scene {
  readonly table = new Map<ContainerId, ContainerView>()
  readonly apps = new Map<ApplicationId, ApplicationView>()
  readonly server: WebServer
  readonly root: string
  readonly logDirs: string[]
  node: NodeView = {
    nodeId: nodeId('localhost', 8041),
    resource: { memoryMb: 8192, vcores: 8 },
    health: { isHealthy: true, report: '', lastReportTime: 1_700_000_000_001 },
    vmemPmemRatio: 2.1,
    isPmemCheckEnabled: true,
    isVmemCheckEnabled: false,
    hadoopVersion: '3.4.2',
    productVersion: '0.1.0',
    startTime: 1_700_000_000_001,
  }

  constructor(root: string) {
    this.root = root
    this.logDirs = [join(root, 'logs-1'), join(root, 'logs-2')]
    const views: WebViews = {
      node: () => this.node,
      containers: {
        containers: { [Symbol.iterator]: () => this.table.values() },
        applications: { [Symbol.iterator]: () => this.apps.values() },
        findContainer: (id) => this.table.get(id),
        findApplication: (id) => this.apps.get(id),
      },
      logs: { logDirs: this.logDirs },
    }
    this.server = new WebServer({ ...views, web: { bindHost: '127.0.0.1', port: 0 }, log: silentLog })
  }

  get base(): string {
    return `http://127.0.0.1:${this.server.port}`
  }

  containerDir(sequence: number, disk = 0): string {
    return join(this.logDirs[disk]!, APP, idOf(sequence))
  }

  async writeLog(sequence: number, name: string, text: string | Buffer, disk = 0): Promise<string> {
    const directory = this.containerDir(sequence, disk)
    await mkdir(directory, { recursive: true })
    const file = join(directory, name)
    await writeFile(file, text)
    return file
  }

  /** An application with three running containers. */
  runThree(): void {
    const containers = [container(1), container(2), container(3)]
    for (const view of containers) this.table.set(view.id, view)
    this.apps.set(APP, {
      id: APP,
      user: 'hadoop',
      state: 'RUNNING',
      containerIds: containers.map((view) => view.id).reverse(),
    })
  }

  finishAll(): void {
    this.table.clear()
    this.apps.set(APP, { id: APP, user: 'hadoop', state: 'FINISHED', containerIds: [] })
  }

  async end(): Promise<void> {
    await this.server.stop()
    await rm(this.root, { recursive: true, force: true })
  }
}

export async function startedScene(): Promise<Scene> {
  const scene = new Scene(await mkdtemp(join(tmpdir(), 'bobbin-web-')))
  await scene.server.start()
  return scene
}

export interface Golden {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly accept: string | undefined
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** A file of fixtures/golden: the request behind `>`, a blank line, then the answer. */
export function golden(name: string): Golden {
  const text = readFileSync(join(projectRoot(), 'test', 'fixtures', 'golden', `${name}.http`), 'utf8')
  const [request = '', answer = '', ...body] = text.split('\n\n')
  const [, method = '', path = ''] = /^> (\S+) (\S+)/.exec(request) ?? []
  const headers = answer
    .split('\n')
    .slice(1)
    .map((line): [string, string] => {
      const colon = line.indexOf(': ')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 2)]
    })
  return {
    name,
    method,
    path,
    accept: /^> Accept: (.*)$/m.exec(request)?.[1],
    status: Number(/^HTTP\/1.1 (\d+)/.exec(answer)?.[1]),
    headers: new Map(headers),
    body: body.join('\n\n'),
  }
}

/** Makes the log files that a golden list of logs names, with their sizes and times. */
export async function writeGoldenLogs(scene: Scene, name: string, sequence: number): Promise<void> {
  interface Entry {
    fileName: string
    fileSize: string
    lastModifiedTime: string
  }
  const { containerLogsInfo } = JSON.parse(golden(name).body) as { containerLogsInfo: { containerLogInfo: Entry[] } }
  for (const { fileName, fileSize, lastModifiedTime } of containerLogsInfo.containerLogInfo) {
    const isStdout = fileName === 'stdout'
    const file = await scene.writeLog(
      sequence,
      fileName,
      isStdout ? 'first line\nsecond line\n' : Buffer.alloc(Number(fileSize)),
    )
    const seconds = new Date(lastModifiedTime.replace(/ \+0000/, ' GMT')).getTime() / 1000
    await utimes(file, seconds, seconds)
  }
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** One request; the path goes out as it is written, and the Host header may be set. */
export function ask(scene: Scene, path: string, options: { method?: string; headers?: Record<string, string> } = {}) {
  return new Promise<Answer>((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port: scene.server.port, path, agent: false, ...options },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString('utf8'),
          }),
        )
      },
    )
    request.on('error', reject)
    request.end()
  })
}
