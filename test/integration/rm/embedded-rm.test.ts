import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { systemClock } from '../../../src/base/clock.ts'
import { silentLog } from '../../../src/base/log.ts'
import { IpcConnection, type Login } from '../../../src/ipc/client.ts'
import { serve, type IpcServer } from '../../../src/ipc/server.ts'
import { applicationClient } from '../../../src/protocol/application-client.ts'
import { applicationMaster } from '../../../src/protocol/application-master.ts'
import { containerManagement } from '../../../src/protocol/container-management.ts'
import {
  applicationIdFromProto,
  applicationIdToProto,
  containerIdFromProto,
  containerIdToProto,
  type ApplicationId,
  type ContainerId,
} from '../../../src/protocol/ids.ts'
import { hadoop } from '../../../src/protocol/messages.ts'
import { resourceTracker } from '../../../src/protocol/resource-tracker.ts'
import { resourceToProto } from '../../../src/protocol/resource.ts'
import type { RpcMethods, RpcProtocol } from '../../../src/protocol/rpc-protocol.ts'
import { EmbeddedResourceManager } from '../../../src/rm/resource-manager.ts'
import { decodeContainerToken } from '../../../src/security/container-token.ts'
import { readCredentials } from '../../../src/security/credentials.ts'
import { masterKeyFromProto, passwordsEqual, password, type MasterKey } from '../../../src/security/master-key.ts'
import { decodeNMToken } from '../../../src/security/nm-token.ts'
import { tokenFromProto, type Token } from '../../../src/security/token.ts'
import { clientOptions, clientSettings, serverLimits, startedServer } from '../../helpers/ipc.ts'
import { until } from '../../helpers/until.ts'

const { ContainerStateProto, FinalApplicationStatusProto, NodeActionProto, YarnApplicationStateProto } = hadoop.yarn

const loopback = { bindHost: '127.0.0.1', host: '127.0.0.1', port: 0 }
const day = 86_400_000

const rm = new EmbeddedResourceManager({
  config: {
    client: loopback,
    scheduler: loopback,
    resourceTracker: loopback,
    admin: loopback,
    web: loopback,
    ipcServer: serverLimits,
    minimumAllocation: { memoryMb: 256, vcores: 1 },
    maximumAllocation: { memoryMb: 8192, vcores: 4 },
    heartbeatIntervalMs: 20,
    nodeExpiryMs: 600_000,
    attemptExpiryMs: 900_000,
    allocationExpiryMs: 600_000,
    maxAttempts: 2,
    globalMaxAttempts: 2,
    maxCompletedApplications: 10,
    containerTokenRollMs: day,
    nmTokenRollMs: day,
    amRmTokenRollMs: day,
  },
  ipcClient: clientSettings,
  hadoopVersion: '3.4.2',
  clock: systemClock,
  log: silentLog,
})

const open: { close(): void }[] = []
const nodes: Node[] = []

function connect<M extends RpcMethods>(protocol: RpcProtocol<M>, port: number, login: Login): IpcConnection<M> {
  const connection = new IpcConnection(protocol, { host: '127.0.0.1', port }, login, clientOptions())
  open.push(connection)
  return connection
}

before(() => rm.start(new AbortController().signal))
after(async () => {
  try {
    for (const node of nodes) await node.stop()
  } finally {
    for (const one of open) one.close()
    await rm.stop()
  }
})

/** A NodeManager that takes every container it is given with a good token, and ends it when it is told to. */
class Node {
  readonly started: { id: ContainerId; credentials: Token | undefined; user: string }[] = []
  #server: IpcServer | undefined
  readonly #tracker = connect(resourceTracker, rm.addresses.resourceTracker.port, { kind: 'simple', user: 'yarn' })
  #nmKey: MasterKey | undefined
  #containerKey: MasterKey | undefined
  #responseId = 0
  #isStopped = false
  readonly running = new Set<ContainerId>()
  #completed: { id: ContainerId; exitStatus: number }[] = []

  static async start(): Promise<Node> {
    const node = new Node()
    nodes.push(node)
    node.#server = await startedServer({
      authentication: {
        kind: 'token',
        authenticator: {
          authenticate: (identifier) => ({
            user: decodeNMToken(identifier).attemptId,
            password: password(node.#nmKey!, identifier),
          }),
        },
      },
      protocols: [
        serve(containerManagement, {
          startContainers: (request) => node.#start(request),
          stopContainers: (request) => {
            for (const proto of request.containerId ?? []) node.end(containerIdFromProto(proto), -105)
            return {}
          },
        }),
      ],
    })
    await node.#register()
    return node
  }

  get #id() {
    return { host: '127.0.0.1', port: this.#server?.port ?? 0 }
  }

  async #register(): Promise<void> {
    const answer = await this.#tracker.call('registerNodeManager', {
      nodeId: this.#id,
      httpPort: 8042,
      resource: resourceToProto({ memoryMb: 2048, vcores: 2 }),
      nmVersion: '3.4.2',
    })
    assert.equal(answer.nodeAction, NodeActionProto.NORMAL)
    this.#nmKey = masterKeyFromProto(answer.nmTokenMasterKey!)
    this.#containerKey = masterKeyFromProto(answer.containerTokenMasterKey!)
  }

  #start(
    request: hadoop.yarn.StartContainersRequestProto.$Properties,
  ): hadoop.yarn.StartContainersResponseProto.$Properties {
    for (const { containerToken, containerLaunchContext } of request.startContainerRequest ?? []) {
      const token = tokenFromProto(containerToken!)
      assert.ok(passwordsEqual(password(this.#containerKey!, token.identifier), token.password))
      const { containerId: id, user } = decodeContainerToken(token.identifier)
      const tokens = containerLaunchContext?.tokens
      const credentials = tokens === null || tokens === undefined ? undefined : readCredentials(tokens).tokens.get('')
      this.started.push({ id, credentials, user })
      this.running.add(id)
    }
    return { succeededRequests: this.started.map(({ id }) => containerIdToProto(id)) }
  }

  end(id: ContainerId, exitStatus: number): void {
    if (this.running.delete(id)) this.#completed.push({ id, exitStatus })
  }

  async heartbeat(): Promise<hadoop.yarn.NodeHeartbeatResponseProto.$Properties> {
    const { C_RUNNING, C_COMPLETE } = ContainerStateProto
    const completed = this.#completed
    this.#completed = []
    const answer = await this.#tracker.call('nodeHeartbeat', {
      nodeStatus: {
        nodeId: this.#id,
        responseId: this.#responseId,
        containersStatuses: [
          ...[...this.running].map((id) => ({ containerId: containerIdToProto(id), state: C_RUNNING })),
          ...completed.map(({ id, exitStatus }) => ({
            containerId: containerIdToProto(id),
            state: C_COMPLETE,
            exitStatus,
            diagnostics: '',
          })),
        ],
        nodeHealthStatus: { isNodeHealthy: true, healthReport: '', lastHealthReportTime: 1 },
      },
    })
    this.#responseId = answer.responseId ?? 0
    return answer
  }

  /** May be called again. */
  async stop(): Promise<void> {
    if (this.#isStopped) return
    this.#isStopped = true
    try {
      await this.#tracker.call('unRegisterNodeManager', { nodeId: this.#id })
    } finally {
      await this.#server?.stop()
    }
  }
}

const client = () => connect(applicationClient, rm.addresses.client.port, { kind: 'simple', user: 'alice' })

async function submit(
  context: hadoop.yarn.ApplicationSubmissionContextProto.$Properties,
): Promise<{ id: ApplicationId; state: () => Promise<string | undefined> }> {
  const caller = client()
  const { applicationId } = await caller.call('getNewApplication', {})
  await caller.call('submitApplication', {
    applicationSubmissionContext: { applicationId: applicationId!, ...context },
  })
  const id = applicationIdFromProto(applicationId)
  const state = async () => {
    const { applicationReport } = await caller.call('getApplicationReport', { applicationId: applicationIdToProto(id) })
    return YarnApplicationStateProto[applicationReport?.yarnApplicationState ?? 0]
  }
  return { id, state }
}

const size = (memoryMb: number) => resourceToProto({ memoryMb, vcores: 1 })

test('an application runs over sockets: client, node, master, and REST', async () => {
  const node = await Node.start()
  const { id, state } = await submit({
    applicationName: 'over sockets',
    amContainerSpec: { command: ['master'] },
    amContainerResourceRequest: [{ resourceName: '*', capability: size(512), numContainers: 1 }],
  })
  await until('the master is started', () => node.started.length === 1)
  const [first] = node.started
  assert.equal(first?.user, 'alice')
  await node.heartbeat()

  const master = connect(applicationMaster, rm.addresses.scheduler.port, { kind: 'token', token: first.credentials! })
  const registered = await master.call('registerApplicationMaster', { host: '127.0.0.1', rpcPort: -1, trackingUrl: '' })
  assert.equal(registered.queue, 'root.default')
  assert.equal(await state(), 'RUNNING')
  const allocated = await master.call('allocate', {
    responseId: 0,
    ask: [{ priority: { priority: 1 }, resourceName: '*', capability: size(256), numContainers: 1 }],
  })
  const [container] = allocated.allocatedContainers!
  const nmToken = tokenFromProto(allocated.nmTokens![0]!.token!)
  const manager = connect(containerManagement, container!.nodeId!.port!, { kind: 'token', token: nmToken })
  await manager.call('startContainers', {
    startContainerRequest: [{ containerToken: container!.containerToken!, containerLaunchContext: {} }],
  })
  await node.heartbeat()

  const base = `http://127.0.0.1:${rm.addresses.web.port}/ws/v1/cluster`
  const { app } = (await (await fetch(`${base}/apps/${id}`)).json()) as { app: Record<string, unknown> }
  assert.deepEqual([app['state'], app['runningContainers'], app['name']], ['RUNNING', 2, 'over sockets'])
  const listed = (await (await fetch(`${base}/nodes`)).json()) as { nodes: { node: { numContainers: number }[] } }
  assert.equal(listed.nodes.node[0]?.numContainers, 2)

  const task = containerIdFromProto(container!.id)
  node.end(task, 3)
  await node.heartbeat()
  const completed = await master.call('allocate', { responseId: allocated.responseId! })
  assert.deepEqual(
    completed.completedContainerStatuses?.map(({ exitStatus }) => exitStatus),
    [3],
  )
  const finish = { finalApplicationStatus: FinalApplicationStatusProto.APP_SUCCEEDED, diagnostics: '', trackingUrl: '' }
  assert.equal((await master.call('finishApplicationMaster', finish)).isUnregistered, true)
  node.end(first.id, 0)
  await node.heartbeat()
  assert.equal(await state(), 'FINISHED')
  const orders = await node.heartbeat()
  assert.deepEqual(orders.applicationsToCleanup?.map(applicationIdFromProto), [id])
  const again = connect(applicationMaster, rm.addresses.scheduler.port, { kind: 'token', token: first.credentials! })
  await assert.rejects(again.call('allocate', { responseId: 0 }), /not found in AMRMTokenSecretManager/)
  await node.stop()
})

test('an unmanaged master logs in with the token of the report', async () => {
  const { id, state } = await submit({ unmanagedAm: true, amContainerSpec: {} })
  const { applicationReport } = await client().call('getApplicationReport', { applicationId: applicationIdToProto(id) })
  const token = tokenFromProto(applicationReport!.amRmToken!)
  const master = connect(applicationMaster, rm.addresses.scheduler.port, { kind: 'token', token })
  await master.call('registerApplicationMaster', { host: 'here', rpcPort: -1, trackingUrl: 'http://ui:1/' })
  assert.equal(await state(), 'RUNNING')
  const web = `http://127.0.0.1:${rm.addresses.web.port}`
  const leadsTo = async (path: string) => (await fetch(`${web}${path}`, { redirect: 'manual' })).headers.get('location')
  assert.equal(await leadsTo(`/proxy/${id}/`), 'http://ui:1/')
  assert.equal(await leadsTo(`/proxy/${id}/jobs/?x=1`), 'http://ui:1/jobs/?x=1')
  assert.equal(await leadsTo(`/cluster/app/${id}`), `/ws/v1/cluster/apps/${id}`)
  await master.call('finishApplicationMaster', { finalApplicationStatus: FinalApplicationStatusProto.APP_SUCCEEDED })
  assert.equal(await state(), 'FINISHED')
  assert.equal(await leadsTo(`/proxy/${id}/`), `/ws/v1/cluster/apps/${id}`)
})

test('nobody talks to masters’ port without a token', async () => {
  const stranger = connect(applicationMaster, rm.addresses.scheduler.port, { kind: 'simple', user: 'mallory' })
  await assert.rejects(stranger.call('allocate', { responseId: 0 }), /SIMPLE authentication is not enabled/)
})

test('a kill stops the master on its node', async () => {
  const node = await Node.start()
  const { id, state } = await submit({
    amContainerSpec: {},
    amContainerResourceRequest: [{ resourceName: '*', capability: size(1024), numContainers: 1 }],
  })
  await until('the master is started', () => node.started.length === 1)
  await node.heartbeat()
  const { isKillCompleted } = await client().call('forceKillApplication', { applicationId: applicationIdToProto(id) })
  assert.equal(isKillCompleted, true)
  assert.equal(await state(), 'KILLED')
  await until('the master is stopped', () => node.running.size === 0)
  await node.stop()
})

test('REST refuses what is not there in the words of Hadoop', async () => {
  const base = `http://127.0.0.1:${rm.addresses.web.port}/ws/v1/cluster`
  const answer = await fetch(`${base}/apps/application_1_0001`)
  assert.equal(answer.status, 404)
  assert.deepEqual(await answer.json(), {
    RemoteException: {
      exception: 'NotFoundException',
      message: 'java.lang.Exception: app with id: application_1_0001 not found',
      javaClassName: 'org.apache.hadoop.yarn.webapp.NotFoundException',
    },
  })
  assert.equal((await fetch(`${base}/apps/nonsense`)).status, 400)
  assert.equal((await fetch(`${base}/nodes/nohost:1`)).status, 404)
  assert.equal((await fetch(`${base}/nothing`)).status, 404)
  assert.equal((await fetch(`http://127.0.0.1:${rm.addresses.web.port}/proxy/application_1_0001/`)).status, 404)
  assert.equal((await fetch(`${base}/info`, { method: 'POST' })).status, 405)
  const info = (await (await fetch(base)).json()) as { clusterInfo: { id: number; state: string } }
  assert.deepEqual([info.clusterInfo.id, info.clusterInfo.state], [rm.clusterTimestamp, 'STARTED'])
})
