/** The NodeStatusUpdater over real connections, against a ResourceManager of a few lines. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { systemClock } from '../../../src/base/clock.ts'
import { silentLog } from '../../../src/base/log.ts'
import { ResourceManagerConnection } from '../../../src/ipc/failover.ts'
import { serve } from '../../../src/ipc/served-protocol.ts'
import type { IpcServer } from '../../../src/ipc/server.ts'
import { Lateness } from '../../../src/node-status/lateness.ts'
import type { ShutdownReason } from '../../../src/node-status/managed-node.ts'
import { NodeStatusUpdater } from '../../../src/node-status/status-updater.ts'
import { nodeId } from '../../../src/protocol/ids.ts'
import { hadoop } from '../../../src/protocol/messages.ts'
import { resourceTracker } from '../../../src/protocol/resource-tracker.ts'
import { clientSettings, startedServer } from '../../helpers/ipc.ts'
import { FakeNode, RecordingListener, container, recordingLog, registered } from '../../unit/node-status/scripted.ts'

const { NORMAL, RESYNC, SHUTDOWN } = hadoop.yarn.NodeActionProto

/** Answers like a ResourceManager, and lets a test wait for what has arrived. */
class LittleRm {
  readonly log: string[] = []
  nextAction: hadoop.yarn.NodeActionProto = NORMAL
  intervalMs = 40
  #server: IpcServer | undefined
  #waiting: (() => void)[] = []

  async start(): Promise<number> {
    this.#server = await startedServer({
      protocols: [
        serve(resourceTracker, {
          registerNodeManager: (request) => {
            this.#note(`register ${request.containerStatuses?.length ?? 0}`)
            return registered()
          },
          nodeHeartbeat: (request) => {
            const responseId = request.nodeStatus?.responseId ?? 0
            const complete = (request.nodeStatus?.containersStatuses ?? []).filter((status) => status.exitStatus === 7)
            this.#note(`heartbeat ${responseId}${' completed'.repeat(complete.length)}`)
            const action = this.nextAction
            this.nextAction = NORMAL
            if (action !== NORMAL) return { nodeAction: action, diagnosticsMessage: 'as ordered' }
            return { responseId: responseId + 1, nodeAction: action, nextHeartBeatInterval: this.intervalMs }
          },
          unRegisterNodeManager: () => {
            this.#note('unregister')
            return {}
          },
        }),
      ],
    })
    return this.#server.port
  }

  #note(line: string): void {
    this.log.push(line)
    for (const wake of this.#waiting.splice(0)) wake()
  }

  async until(condition: (log: readonly string[]) => boolean): Promise<void> {
    while (!condition(this.log)) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  async stop(): Promise<void> {
    await this.#server?.stop()
  }
}

/** A node that has registered with a ResourceManager; both are gone at the end of the test. */
async function nodeOf(t: TestContext, rm: LittleRm) {
  const port = await rm.start()
  const address = { host: '127.0.0.1', port }
  const node = new FakeNode()
  let end: (reason: ShutdownReason) => void = () => {}
  const ended = new Promise<ShutdownReason>((resolve) => (end = resolve))
  const updater = new NodeStatusUpdater({
    rm: new ResourceManagerConnection({
      protocol: resourceTracker,
      resourceManager: {
        members: [{ id: '', resourceTracker: address, client: address, scheduler: address, web: address }],
        isHa: false,
        retry: {
          maxWaitMs: 300,
          retryIntervalMs: 100,
          failoverMaxAttempts: -1,
          failoverSleepBaseMs: 100,
          failoverSleepMaxMs: 100,
          failoverRetries: 0,
          failoverRetriesOnTimeouts: 0,
        },
      },
      addressOf: (member) => member.resourceTracker,
      login: { kind: 'simple', user: 'yarn' },
      ipcClient: clientSettings,
      clock: systemClock,
      log: silentLog,
    }),
    node: {
      nodeId: () => nodeId('localhost', 8041),
      health: () => ({ isHealthy: true, report: '', lastReportTime: 1 }),
      containersUtilization: () => ({ pmemMb: 0, vmemMb: 0, vcores: 0 }),
      nodeUtilization: () => ({ pmemMb: 0, vmemMb: 0, vcores: 0 }),
    },
    httpPort: () => 8042,
    resource: { memoryMb: 8192, vcores: 8 },
    physicalResource: { memoryMb: 8192, vcores: 8 },
    config: {
      hadoopVersion: '3.4.2',
      minimumResourceManagerVersion: 'NONE',
      trackStoppedContainersMs: 600_000,
      livenessExpiryMs: 600_000,
      isLogAggregationEnabled: false,
      isSecurityEnabled: false,
      isWorkPreserving: true,
    },
    recovery: { isEnabled: false, isSupervised: false },
    containers: node,
    store: { removeContainer: async () => {} },
    listener: new RecordingListener(),
    credentials: { systemCredentials: () => {} },
    onShutdown: end,
    clock: systemClock,
    log: silentLog,
  })
  t.after(async () => {
    try {
      await updater.stop()
    } finally {
      await rm.stop()
    }
  })
  await updater.start(new AbortController().signal)
  return { updater, node, ended }
}

test('a node registers, heartbeats, resyncs with its containers, and unregisters', async (t) => {
  const rm = new LittleRm()
  const { updater, node } = await nodeOf(t, rm)
  await rm.until((log) => log.includes('heartbeat 2'))
  node.put(container(1))
  rm.nextAction = RESYNC
  await rm.until((log) => log.includes('register 1'))
  await rm.until((log) => log.filter((line) => line === 'heartbeat 0').length === 2)
  await updater.stop()
  assert.equal(rm.log[0], 'register 0')
  assert.equal(rm.log.at(-1), 'unregister')
})

test('a completion is reported at once, whatever the interval', async (t) => {
  const rm = new LittleRm()
  rm.intervalMs = 600_000
  const { updater, node } = await nodeOf(t, rm)
  const id = node.put(container(1))
  await rm.until((log) => log.includes('heartbeat 0'))
  node.finish(id, 7)
  updater.beatNow()
  await rm.until((log) => log.includes('heartbeat 1 completed'))
})

test('an order to shut down ends the daemon, and so does a ResourceManager that stays away', async (t) => {
  const ordering = new LittleRm()
  const first = await nodeOf(t, ordering)
  ordering.nextAction = SHUTDOWN
  assert.deepEqual(await first.ended, { kind: 'ordered', message: 'as ordered' })
  await first.updater.stop()
  assert.ok(!ordering.log.includes('unregister'))

  const vanishing = new LittleRm()
  const second = await nodeOf(t, vanishing)
  await vanishing.stop()
  assert.equal((await second.ended).kind, 'unreachable')
})

test('a real stall of the event loop is measured and said', async () => {
  const lines: string[] = []
  const lateness = new Lateness({ clock: systemClock, log: recordingLog(lines) })
  lateness.enable()
  await systemClock.sleep(300)
  lateness.check(0)
  assert.deepEqual(lines, [])
  const untilMs = performance.now() + 900
  while (performance.now() < untilMs);
  await systemClock.sleep(300)
  lateness.check(0)
  lateness.disable()
  assert.match(lines[0] ?? '', /^warn Event loop stood still for up to \d+ ms/)
})
