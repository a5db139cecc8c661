import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { userInfo } from 'node:os'
import { describe, test } from 'node:test'
import { Cluster, eventually } from './cluster.ts'
import type { HadoopVersion } from './jars.ts'

const versions: readonly HadoopVersion[] = ['3.4.2', '3.3.6', '3.5.0']

for (const version of versions) {
  describe(`Hadoop ${version}`, () => {
    test('its ResourceManager takes Bobbin in, and its distributed shell runs on it', async () => {
      const cluster = await Cluster.create(version)
      try {
        await cluster.startResourceManager()
        await cluster.startBobbin()
        const command = '{ echo out-$CONTAINER_ID-$GREETING; echo err >&2; }'
        const shell = ['-shell_command', command, '-shell_env', 'GREETING=hi', '-num_containers', '2']
        const { code, stderr, application } = await cluster.distributedShell(shell)
        assert.equal(code, 0, stderr.slice(-3000))
        assert.equal((await cluster.application(application)).finalStatus, 'SUCCEEDED')
        for (const number of [2, 3]) {
          const container = await cluster.containerId(application, number)
          const file = (name: string) => readFile(cluster.logFile(application, container, name), 'utf8')
          assert.equal(await file('stdout'), `out-${container}-hi\n`)
          assert.equal(await file('stderr'), 'err\n')
        }
        await noProcessesOf(cluster, application)
        if (version === '3.4.2') await furtherTests(cluster)
      } finally {
        await cluster.stop()
      }
    })
  })
}

/** What needs no cluster of its own: one start of a ResourceManager serves all. */
async function furtherTests(cluster: Cluster): Promise<void> {
  await exitStatusIsReported(cluster)
  await killedApplicationLeavesNothing(cluster)
}

async function exitStatusIsReported(cluster: Cluster): Promise<void> {
  const command = '{ echo went wrong >&2; exit 7; }'
  const { application } = await cluster.distributedShell(['-shell_command', command, '-num_containers', '1'])
  assert.equal((await cluster.application(application)).finalStatus, 'FAILED')
  const master = await cluster.containerId(application, 1)
  const log = await readFile(cluster.logFile(application, master, 'AppMaster.stderr'), 'utf8')
  const heard = /exitStatus=7, diagnostics=[^]*?went wrong/.exec(log)?.[0] ?? ''
  assert.match(heard, /Exception from container-launch/)
  assert.match(heard, /Exit code: 7/)
}

async function killedApplicationLeavesNothing(cluster: Cluster): Promise<void> {
  const running = cluster.distributedShell(['-shell_command', 'sleep 987', '-num_containers', '2'])
  const application = await eventually('two sleeping containers', 60, async () => {
    const { containers } = (await cluster.nm('/containers')) as {
      containers: { container?: { id: string; state: string }[] }
    }
    const live = containers.container?.filter(({ state }) => state === 'RUNNING') ?? []
    const id = live[0] === undefined ? undefined : /_(\d+_\d+)_\d+_\d+$/.exec(live[0].id)?.[1]
    return live.length === 3 && id !== undefined ? `application_${id}` : undefined
  })
  const kill = await cluster.java('org.apache.hadoop.yarn.client.cli.ApplicationCLI', [
    'application',
    '-kill',
    application,
  ])
  assert.equal(kill.code, 0, kill.stderr.slice(-2000))
  await running
  assert.equal((await cluster.application(application)).state, 'KILLED')
  await noProcessesOf(cluster, application)
  const cache = join(cluster.work, 'nm', 'local', 'usercache', userInfo().username, 'appcache', application)
  await eventually('no appcache', 20, async () => (existsSync(cache) ? undefined : true))
}

async function noProcessesOf(cluster: Cluster, application: string): Promise<void> {
  await eventually('no process left', 30, async () =>
    (await cluster.processesOf(application)).length === 0 ? true : undefined,
  )
}
