import assert from 'node:assert/strict'
import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { BobbinError } from '../../../src/base/errors.ts'
import { silentLog } from '../../../src/base/log.ts'
import { WebServer } from '../../../src/web/server.ts'
import { APP, ask, container, idOf, startedScene, type Scene } from './scene.ts'

let scene: Scene
before(async () => {
  scene = await startedScene()
})
after(() => scene.end())
beforeEach(() => {
  scene.table.clear()
  scene.apps.clear()
  scene.runThree()
})

const json = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await ask(scene, path, { headers })
  return { ...answer, json: JSON.parse(answer.body) as Record<string, never> }
}

test('on a node without applications any filter gives an empty object', async () => {
  scene.apps.clear()
  for (const query of ['', '?state=NOSUCH', '?user=']) {
    const answer = await ask(scene, `/ws/v1/node/apps${query}`)
    assert.deepEqual([answer.status, answer.body], [200, '{"apps":{}}'])
  }
})

test('a lower case state is refused', async () => {
  assert.equal((await ask(scene, '/ws/v1/node/apps?state=running')).status, 400)
})

test('of a parameter given twice the first counts', async () => {
  const answer = await ask(scene, '/ws/v1/node/apps?user=nobody&user=hadoop')
  assert.equal(answer.body, '{"apps":{}}')
})

const ACCEPTS: [string, number][] = [
  ['*/*', 200],
  ['application/json', 200],
  ['application/*;q=0.1', 200],
  ['text/html', 200],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 200],
  ['application/xml', 406],
  ['application/json;q=0', 406],
  ['text/plain', 406],
]
for (const [accept, status] of ACCEPTS)
  test(`Accept: ${accept} is answered with ${status}`, async () => {
    const answer = await json('/ws/v1/node/info', { Accept: accept })
    assert.equal(answer.status, status)
    assert.equal(answer.headers['content-type'], 'application/json;charset=utf-8')
    if (status === 406)
      assert.deepEqual(answer.json, {
        RemoteException: {
          exception: 'WebApplicationException',
          message: `Only application/json is served on /ws/v1/node/info, asked for was: ${accept}`,
          javaClassName: 'javax.ws.rs.WebApplicationException',
        },
      })
  })

for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'TRACE'])
  test(`${method} on a resource is a 405 that names the allowed methods`, async () => {
    const answer = await ask(scene, '/ws/v1/node/info', { method, headers: { 'Content-Type': 'text/weird' } })
    assert.equal(answer.status, 405)
    assert.equal(answer.headers.allow, 'GET,HEAD,OPTIONS')
    assert.match(answer.body, /"RemoteException"/)
  })

test('OPTIONS names the allowed methods', async () => {
  const answer = await ask(scene, '/ws/v1/node/apps', { method: 'OPTIONS' })
  assert.deepEqual([answer.status, answer.headers.allow, answer.body], [200, 'GET,HEAD,OPTIONS', ''])
})

test('an unknown path is a RemoteException, whatever the method', async () => {
  for (const method of ['GET', 'POST']) {
    const answer = await ask(scene, '/ws/v1/node/nosuch?a=b', { method })
    assert.equal(answer.status, 404)
    assert.deepEqual(JSON.parse(answer.body), {
      RemoteException: {
        exception: 'NotFoundException',
        message: 'java.lang.Exception: /ws/v1/node/nosuch not found',
        javaClassName: 'org.apache.hadoop.yarn.webapp.NotFoundException',
      },
    })
    assert.equal(answer.headers['x-content-type-options'], 'nosniff')
  }
})

test('a path that cannot be decoded is a 400', async () => {
  const answer = await ask(scene, '/ws/v1/node/apps/%zz')
  assert.equal(answer.status, 400)
  assert.match(answer.body, /"RemoteException"/)
  assert.equal(answer.headers['x-frame-options'], 'SAMEORIGIN')
})

test('the front page names node, version and health, and escapes them', async () => {
  scene.node = { ...scene.node, health: { isHealthy: false, report: '<b>disk & "co"</b>', lastReportTime: 1 } }
  const answer = await ask(scene, '/')
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['content-type'], 'text/html;charset=utf-8')
  assert.match(answer.body, /NodeManager localhost:8041/)
  assert.match(answer.body, /Bobbin 0\.1\.0, announced as Hadoop 3\.4\.2/)
  assert.match(answer.body, /unhealthy: &lt;b&gt;disk &amp; &quot;co&quot;&lt;\/b&gt;/)
  assert.match(answer.body, /href="\/ws\/v1\/node\/info"/)
})

test('the build versions say Bobbin, and the sizes of the node follow its resource', async () => {
  scene.node = {
    ...scene.node,
    resource: { memoryMb: 1000, vcores: 3, others: { 'yarn.io/gpu': { units: '', value: 1 } } },
  }
  const { nodeInfo } = (await json('/ws/v1/node')).json as unknown as { nodeInfo: Record<string, unknown> }
  assert.equal(nodeInfo['nodeManagerBuildVersion'], '3.4.2 (Bobbin 0.1.0)')
  assert.equal(nodeInfo['totalPmemAllocatedContainersMB'], 1000)
  assert.equal(nodeInfo['totalVmemAllocatedContainersMB'], 2100)
  assert.equal(nodeInfo['totalVCoresAllocatedContainers'], 3)
  assert.equal(nodeInfo['resourceTypes'], 'memory-mb (unit=Mi), vcores, yarn.io/gpu')
})

test('logs of a container that is not running yet are not there, and say its state', async () => {
  const [early, failed] = [container(4, { state: 'LOCALIZING' }), container(5, { state: 'LOCALIZATION_FAILED' })]
  scene.table.set(early.id, early).set(failed.id, failed)
  await scene.writeLog(4, 'stdout', 'x')
  const list = await json(`/ws/v1/node/containers/${early.id}/logs`)
  assert.equal(list.status, 503)
  assert.match(
    list.body,
    /NotFoundException: java.lang.Exception: Container is not yet running. Current state is LOCALIZING/,
  )
  const file = await ask(scene, `/ws/v1/node/containers/${early.id}/logs/stdout`)
  assert.deepEqual(
    [file.status, file.body],
    [404, 'java.lang.Exception: Container is not yet running. Current state is LOCALIZING'],
  )
  const other = await ask(scene, `/ws/v1/node/containerlogs/${failed.id}/stdout`)
  assert.deepEqual(
    [other.status, other.body],
    [404, "java.lang.Exception: Container wasn't started. Localization failed."],
  )
  assert.doesNotMatch((await ask(scene, `/ws/v1/node/containers/${early.id}`)).body, /containerLogFiles/)
})

test('one log file is listed as an object, none as no key at all, and several disks as one list', async () => {
  const info = async (sequence: number) =>
    (
      (await json(`/ws/v1/node/containers/${idOf(sequence)}/logs`)).json as unknown as {
        containerLogsInfo: { containerLogInfo?: unknown }
      }
    ).containerLogsInfo.containerLogInfo
  assert.equal(await info(30), undefined)
  await scene.writeLog(30, 'stdout', 'abc')
  const one = (await info(30)) as { fileName: string; fileSize: string }
  assert.deepEqual([one.fileName, one.fileSize], ['stdout', '3'])
  await scene.writeLog(30, 'stderr', '', 1)
  const two = (await info(30)) as { fileName: string }[]
  assert.deepEqual(
    two.map((file) => file.fileName),
    ['stdout', 'stderr'],
  )
})

test('100 clients that keep their connections alive are answered', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 100 })
  const sockets = new Set<unknown>()
  const once = () =>
    new Promise<number>((resolve, reject) => {
      get({ host: '127.0.0.1', port: scene.server.port, path: `/ws/v1/node/apps/${APP}`, agent }, (response) => {
        sockets.add(response.socket)
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
      }).on('error', reject)
    })
  for (let round = 0; round < 5; round++) {
    const statuses = await Promise.all(Array.from({ length: 100 }, once))
    assert.ok(statuses.every((status) => status === 200))
  }
  assert.equal(sockets.size, 100)
  agent.destroy()
})

test('a stop ends open connections at once, and may be repeated', async () => {
  const other = await startedScene()
  const socket = connect(other.server.port, '127.0.0.1')
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.write('GET /ws/v1/node HTTP/1.1\r\nHost: a\r\n')
  const startMs = performance.now()
  await other.end()
  await closed
  await other.server.stop()
  assert.ok(performance.now() - startMs < 2000)
})

test('a port that is taken fails the start with the key to change', async () => {
  const second = new WebServer({
    node: () => scene.node,
    containers: {
      containers: [],
      applications: [],
      findContainer: () => undefined,
      findApplication: () => undefined,
    },
    logs: { logDirs: [] },
    web: { bindHost: '127.0.0.1', port: scene.server.port },
    log: silentLog,
  })
  await assert.rejects(second.start(), (thrown: unknown) => {
    assert.ok(thrown instanceof BobbinError)
    assert.equal(thrown.code, 'ERR_WEB_ADDRESS')
    assert.match(thrown.message, /yarn\.nodemanager\.webapp\.address.*EADDRINUSE/)
    return true
  })
  await second.stop()
})

test('an oversized header is refused without harm', async () => {
  const answer = await ask(scene, '/ws/v1/node', { headers: { 'X-Big': 'a'.repeat(20_000) } }).catch(
    (error: unknown) => error,
  )
  assert.ok(answer instanceof Error || (answer as { status: number }).status === 431)
  assert.equal((await ask(scene, '/ws/v1/node')).status, 200)
})
