import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ipcClientConfig } from '../../../src/config/ipc.ts'
import { nodeManagerConfig } from '../../../src/config/node-manager.ts'
import type { NodeManagerConfig } from '../../../src/config/node-manager-config.ts'
import { resourceManagerConfig } from '../../../src/config/resource-manager.ts'
import { embeddedRmConfig } from '../../../src/config/rm-config.ts'
import { configured, fakeHost, problemsOf } from './support.ts'

async function build(properties: Record<string, string> = {}): Promise<NodeManagerConfig> {
  return (await nodeManagerConfig(configured(properties), fakeHost())).config
}

async function refusals(properties: Record<string, string>): Promise<readonly string[]> {
  const problems = await problemsOf(() => nodeManagerConfig(configured(properties), fakeHost()))
  return problems.map(({ key, reason }) => `${key}: ${reason}`)
}

const NM = 'yarn.nodemanager.'
const RM = 'yarn.resourcemanager.'

test('without any setting everything has Hadoop’s default', async () => {
  const config = await build()
  assert.deepEqual(config.containerManager, { bindHost: '0.0.0.0', host: 'worker1.example.com', port: 0 })
  assert.deepEqual(config.web, { bindHost: '0.0.0.0', host: 'worker1.example.com', port: 8042 })
  assert.deepEqual(config.directories, {
    localDirs: ['/tmp/hadoop-yarn/nm-local-dir'],
    logDirs: ['/tmp/bobbin-yarn/logs/userlogs'],
    logDirMode: 0o710,
    minHealthyDisks: 0.25,
  })
  assert.deepEqual(config.recovery, {
    isEnabled: false,
    isSupervised: false,
    directory: '/tmp/hadoop-yarn/yarn-nm-recovery',
  })
  assert.deepEqual(config.launch.adminEnvironment, [{ name: 'MALLOC_ARENA_MAX', value: '$MALLOC_ARENA_MAX' }])
  assert.equal(config.launch.environmentWhitelist.length, 10)
  assert.deepEqual(config.monitor, { containerIntervalMs: 3000, nodeIntervalMs: 3000 })
  assert.deepEqual(config.logs, { retainSec: 10_800 })
  assert.deepEqual(config.ipcServer.qop, ['auth'])
  assert.equal(config.ipcServer.handlerCount, 20)
  assert.equal(config.statusUpdater.hadoopVersion, '3.4.2')
})

test('the configuration can’t be changed, at any depth', async () => {
  const config = await build()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    assert.ok(Object.isFrozen(value))
    Object.values(value).forEach(visit)
  }
  visit(config)
})

test('the host of an address is told to others by its canonical name', async () => {
  const { containerManager } = await build({ [`${NM}address`]: '127.0.0.1:8041' })
  assert.deepEqual(containerManager, { bindHost: '127.0.0.1', host: 'localhost', port: 8041 })
})

test('the node’s host name feeds its addresses', async () => {
  const config = await build({ [`${NM}hostname`]: 'node7' })
  assert.deepEqual([config.containerManager.host, config.web.host], ['node7', 'node7'])
})

test('the bind host changes what is bound to and nothing that is told to others', async () => {
  const config = await build({
    [`${NM}bind-host`]: '0.0.0.0',
    [`${NM}hostname`]: 'node7',
    [`${NM}address`]: 'node7:8041',
  })
  assert.deepEqual(config.containerManager, { bindHost: '0.0.0.0', host: 'node7', port: 8041 })
  assert.deepEqual(config.web, { bindHost: '0.0.0.0', host: 'node7', port: 8042 })
})

test('a host without an address is refused by key and value', async () => {
  assert.deepEqual(await refusals({ [`${NM}address`]: 'nowhere.invalid:8041' }), [
    `${NM}address: the host 'nowhere.invalid' has no address: correct it, or its name service`,
  ])
})

test('a loopback name that a ResourceManager elsewhere can’t use is warned about', async () => {
  const properties = { [`${NM}hostname`]: '127.0.0.1', [`${RM}hostname`]: 'rm.example.com' }
  const { warnings } = await nodeManagerConfig(configured(properties), fakeHost())
  assert.match(warnings.join('\n'), /would register as localhost with a ResourceManager on rm\.example\.com/)
  const local = await nodeManagerConfig(configured({ ...properties, [`${RM}hostname`]: 'localhost' }), fakeHost())
  assert.deepEqual(local.warnings, [])
})

test('a ResourceManager whose host is left at 0.0.0.0 is warned about', async () => {
  const { warnings } = await nodeManagerConfig(configured({}), fakeHost())
  assert.match(warnings.join('\n'), /set yarn\.resourcemanager\.hostname/)
})

test('recovery with a port that changes is refused in the words of Hadoop', async () => {
  assert.deepEqual(await refusals({ [`${NM}recovery.enabled`]: 'true' }), [
    `${NM}address: Cannot support recovery with an ephemeral server port. Check the setting of ${NM}address`,
  ])
  assert.deepEqual(await refusals({ [`${NM}recovery.enabled`]: 'true', [`${NM}address`]: '0.0.0.0:8041' }), [])
})

test('of an address that can not be read nothing more is said', async () => {
  assert.deepEqual(await refusals({ [`${NM}recovery.enabled`]: 'true', [`${NM}address`]: '0.0.0.0:80410' }), [
    `${NM}address: expected host:port with a port up to 65535, the port may be left out (0)`,
  ])
})

test('a negative time to remember containers is refused in the words of Hadoop', async () => {
  const key = `${NM}duration-to-track-stopped-containers`
  assert.deepEqual(await refusals({ [key]: '-1' }), [
    `${key}: Invalid configuration for ${key} default value is 10Min(600000).`,
  ])
  assert.deepEqual(await refusals({ [key]: '0' }), [])
})

test('36 files in a directory of the cache are too few and 37 are not', async () => {
  const key = `${NM}local-cache.max-files-per-directory`
  assert.deepEqual(await refusals({ [key]: '36' }), [
    `${key}: ${key} parameter is configured with a value less than 37.`,
  ])
  assert.deepEqual(await refusals({ [key]: '37' }), [])
})

test('the name of an auxiliary service that Hadoop refuses is refused in its words', async () => {
  const key = `${NM}aux-services`
  assert.deepEqual(await refusals({ [key]: 'mapreduce_shuffle,1st,spark-shuffle' }), [
    `${key}: The ServiceName: 1st set in ${key} is invalid.The valid service name should only contain a-zA-Z0-9_ and cannot start with numbers.`,
    `${key}: The ServiceName: spark-shuffle set in ${key} is invalid.The valid service name should only contain a-zA-Z0-9_ and cannot start with numbers.`,
  ])
  assert.deepEqual((await build({ [key]: ' mapreduce_shuffle , spark_shuffle,' })).auxServices, [
    'mapreduce_shuffle',
    'spark_shuffle',
  ])
})

test('relative directories are refused', async () => {
  assert.equal((await refusals({ [`${NM}local-dirs`]: 'data/local', [`${NM}log-dirs`]: '/ok,logs' })).length, 2)
})

test('a work directory that is empty or relative is refused', async () => {
  const reason = 'bobbin.work.dir: expected an absolute path of this machine, plain or as file: URI'
  assert.deepEqual(await refusals({ 'bobbin.work.dir': '' }), [reason])
  // So are the log dirs below it.
  assert.ok((await refusals({ 'bobbin.work.dir': 'rel' })).includes(reason))
})

test('the part of disks that must be good lies between 0 and 1', async () => {
  const key = `${NM}disk-health-checker.min-healthy-disks`
  for (const value of ['-0.1', '1.1', '25', 'NaN'])
    assert.deepEqual(await refusals({ [key]: value }), [`${key}: expected a number, at least 0, at most 1`])
  for (const value of ['0', '1', '0.25'])
    assert.equal((await build({ [key]: value })).directories.minHealthyDisks, +value)
})

test('a blank list of directories is refused', async () => {
  assert.deepEqual(await refusals({ [`${NM}log-dirs`]: ' ' }), [`${NM}log-dirs: at least one directory is needed`])
})

test('an executor that is not there yet is refused and not replaced', async () => {
  const properties = {
    [`${NM}container-executor.class`]: 'org.apache.hadoop.yarn.server.nodemanager.LinuxContainerExecutor',
  }
  assert.deepEqual(await refusals(properties), [
    `${NM}container-executor.class: this version of Bobbin has only DefaultContainerExecutor`,
  ])
})

test('everything that is wrong is told of at once', async () => {
  const found = await refusals({
    [`${NM}resource.memory-mb`]: '8g',
    [`${NM}address`]: 'x:y',
    [`${RM}resource-tracker.address`]: ':1',
    'ipc.client.connect.timeout': '20s',
    [`${NM}local-dirs`]: 'rel',
    [`${NM}delete.thread-count`]: '-1',
  })
  assert.equal(found.length, 6)
})

test('variables for every container come from the list and from keys of their own, which win', async () => {
  const { launch } = await build({
    [`${NM}admin-env`]: 'A=1,B=2',
    [`${NM}admin-env.B`]: 'x,y',
    [`${NM}admin-env.C`]: '${user.name}',
  })
  assert.deepEqual(launch.adminEnvironment, [
    { name: 'A', value: '1' },
    { name: 'B', value: 'x,y' },
    { name: 'C', value: 'yarn' },
  ])
})

test('an own period of the container monitor is used', async () => {
  const { monitor } = await build({
    [`${NM}resource-monitor.interval-ms`]: '5000',
    [`${NM}container-monitor.interval-ms`]: '1000',
  })
  assert.deepEqual(monitor, { containerIntervalMs: 1000, nodeIntervalMs: 5000 })
})

test('protections of RPC keep their order', async () => {
  assert.deepEqual((await build({ 'hadoop.rpc.protection': 'privacy,authentication' })).ipcServer.qop, [
    'auth-conf',
    'auth',
  ])
})

test('a ResourceManager by its host name has the usual ports', () => {
  const { members, isHa } = resourceManagerConfig(
    configured({ [`${RM}hostname`]: 'rm', [`${RM}webapp.address`]: 'web:80' }),
  )
  assert.equal(isHa, false)
  assert.deepEqual(members, [
    {
      id: '',
      resourceTracker: { host: 'rm', port: 8031 },
      client: { host: 'rm', port: 8032 },
      scheduler: { host: 'rm', port: 8030 },
      web: { host: 'web', port: 80 },
    },
  ])
})

const HA = { [`${RM}ha.enabled`]: 'true', [`${RM}ha.rm-ids`]: 'rm1, rm2' }

test('of several ResourceManagers each has its own keys, and its host name fills in', () => {
  const { members, isHa } = resourceManagerConfig(
    configured({
      ...HA,
      [`${RM}hostname.rm1`]: 'a',
      [`${RM}hostname.rm2`]: 'b',
      [`${RM}resource-tracker.address.rm2`]: 'c:9031',
    }),
  )
  assert.equal(isHa, true)
  assert.deepEqual(
    members.map(({ id, resourceTracker, client, scheduler, web }) => [
      id,
      resourceTracker,
      client.port,
      scheduler.host,
      web,
    ]),
    [
      ['rm1', { host: 'a', port: 8031 }, 8032, 'a', { host: 'a', port: 8088 }],
      ['rm2', { host: 'c', port: 9031 }, 8032, 'b', { host: 'b', port: 8088 }],
    ],
  )
})

test('a ResourceManager of which nothing says where it is, is refused with both keys that could', async () => {
  const problems = await problemsOf(() => resourceManagerConfig(configured({ ...HA, [`${RM}hostname.rm1`]: 'a' })))
  assert.equal(problems.length, 4)
  assert.equal(problems[0]?.key, `${RM}resource-tracker.address.rm2`)
  assert.match(problems[0]?.reason ?? '', /set it, or yarn\.resourcemanager\.hostname\.rm2/)
})

test('several ResourceManagers without ids, or with one id twice, are refused', async () => {
  const none = await problemsOf(() => resourceManagerConfig(configured({ [`${RM}ha.enabled`]: 'true' })))
  assert.deepEqual(
    none.map(({ key }) => key),
    [`${RM}ha.rm-ids`],
  )
  const twice = await problemsOf(() =>
    resourceManagerConfig(configured({ ...HA, [`${RM}ha.rm-ids`]: 'rm1,rm1', [`${RM}hostname.rm1`]: 'a' })),
  )
  assert.match(twice[0]?.reason ?? '', /'rm1' is there twice/)
})

test('a node insists as its own keys say, a client as the general ones, and failover pauses follow', async () => {
  const properties = {
    [`${RM}connect.max-wait.ms`]: '1000',
    [`${RM}connect.retry-interval.ms`]: '100',
    [`${NM}resourcemanager.connect.max-wait.ms`]: '-1',
    [`${NM}resourcemanager.connect.retry-interval.ms`]: '7',
  }
  const node = (await build(properties)).resourceManager.retry
  const client = resourceManagerConfig(configured(properties)).retry
  assert.deepEqual(
    [node.maxWaitMs, node.retryIntervalMs, node.failoverSleepBaseMs, node.failoverSleepMaxMs],
    [-1, 7, 7, 7],
  )
  assert.deepEqual([client.maxWaitMs, client.retryIntervalMs, client.failoverSleepBaseMs], [1000, 100, 100])
  const paused = (await build({ ...properties, 'yarn.client.failover-sleep-base-ms': '3' })).resourceManager.retry
  assert.deepEqual([paused.failoverSleepBaseMs, paused.failoverSleepMaxMs], [3, 7])
})

test('a general wait is the node’s too unless it has its own', async () => {
  const { retry } = (await build({ [`${RM}connect.max-wait.ms`]: '5', [`${RM}connect.retry-interval.ms`]: '2' }))
    .resourceManager
  assert.deepEqual([retry.maxWaitMs, retry.retryIntervalMs], [5, 2])
})

test('the client side of RPC can be read alone', () => {
  const config = ipcClientConfig(configured({ 'ipc.client.rpc-timeout.ms': '-1', 'ipc.client.ping': 'false' }))
  assert.deepEqual([config.rpcTimeoutMs, config.doPing, config.connectMaxRetries], [0, false, 10])
})

test('the embedded ResourceManager reads Hadoop’s own keys', () => {
  const config = embeddedRmConfig(
    configured({
      [`${RM}hostname`]: '127.0.0.1',
      [`${RM}bind-host`]: '0.0.0.0',
      'yarn.scheduler.minimum-allocation-mb': '64',
      [`${RM}am.max-attempts`]: '3',
    }),
  )
  assert.deepEqual(config.client, { bindHost: '0.0.0.0', host: '127.0.0.1', port: 8032 })
  assert.deepEqual(
    [config.scheduler.port, config.resourceTracker.port, config.admin.port, config.web.port],
    [8030, 8031, 8033, 8088],
  )
  assert.deepEqual(config.minimumAllocation, { memoryMb: 64, vcores: 1 })
  assert.deepEqual(config.maximumAllocation, { memoryMb: 8192, vcores: 4 })
  assert.deepEqual([config.maxAttempts, config.globalMaxAttempts], [3, 3])
  assert.deepEqual([config.heartbeatIntervalMs, config.nodeExpiryMs, config.attemptExpiryMs], [1000, 600_000, 900_000])
  assert.equal(config.nmTokenRollMs, 86_400_000)
  assert.ok(Object.isFrozen(config.client))
})

test('sizes and times of the embedded ResourceManager that contradict each other are refused', async () => {
  const problems = await problemsOf(() =>
    embeddedRmConfig(
      configured({
        'yarn.scheduler.minimum-allocation-mb': '9000',
        'yarn.scheduler.minimum-allocation-vcores': '5',
        'yarn.nm.liveness-monitor.expiry-interval-ms': '500',
        [`${RM}nm-tokens.master-key-rolling-interval-secs`]: '1',
        [`${RM}am-rm-tokens.master-key-rolling-interval-secs`]: '2700',
      }),
    ),
  )
  assert.deepEqual(
    problems.map(({ key }) => key),
    [
      'yarn.scheduler.minimum-allocation-mb',
      'yarn.scheduler.minimum-allocation-vcores',
      'yarn.nm.liveness-monitor.expiry-interval-ms',
      `${RM}nm-tokens.master-key-rolling-interval-secs`,
      `${RM}am-rm-tokens.master-key-rolling-interval-secs`,
    ],
  )
})
