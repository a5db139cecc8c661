import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const bobbin = fileURLToPath(new URL('../../../bin/bobbin.js', import.meta.url))

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

let work = ''
let defines: string[] = []
let web = ''
let cluster: ChildProcess | undefined

before(async () => {
  work = await mkdtemp(join(tmpdir(), 'bobbin-run-'))
  const services = ['address', 'scheduler.address', 'resource-tracker.address', 'admin.address', 'webapp.address']
  const keys = services.map((service) => `yarn.resourcemanager.${service}`)
  keys.push('yarn.nodemanager.address', 'yarn.nodemanager.webapp.address', 'yarn.nodemanager.localizer.address')
  const ports = await freePorts(keys.length)
  const settings = [...keys.map((key, index) => `${key}=127.0.0.1:${ports[index]}`), `bobbin.work.dir=${work}`]
  settings.push('yarn.nodemanager.resource.cpu-vcores=4', 'yarn.nodemanager.resource.memory-mb=4096')
  defines = settings.flatMap((setting) => ['-D', setting])
  web = `http://127.0.0.1:${ports[4]}`
  cluster = spawn(process.execPath, [bobbin, 'standalone', ...defines], { stdio: ['ignore', 'ignore', 'pipe'] })
  await says(cluster, /Up: /)
})

after(async () => {
  cluster?.kill('SIGTERM')
  if (cluster !== undefined && cluster.exitCode === null) await new Promise((resolve) => cluster?.once('exit', resolve))
  await rm(work, { recursive: true, force: true })
})

/** Ports that were free a moment ago. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => new Promise((resolve) => server.once('listening', resolve))))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

/** Resolves when the process has written such a text to stderr, rejects when it ends before. */
function says(child: ChildProcess, text: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let seen = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      seen += chunk.toString()
      if (text.test(seen)) resolve(seen)
    })
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${seen}`)))
  })
}

function startRun(args: readonly string[]): ChildProcess {
  const config = fileURLToPath(new URL('../../../../config', import.meta.url))
  return spawn(process.execPath, [bobbin, 'run', '--config', config, ...defines, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

function ended(child: ChildProcess): Promise<Ended> {
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })))
}

function run(...args: readonly string[]): Promise<Ended> {
  return ended(startRun(args))
}

async function application(stderr: string): Promise<{ state: string; finalStatus: string; diagnostics: string }> {
  const [id] = /application_\d+_\d+/.exec(stderr) ?? []
  const response = await fetch(`${web}/ws/v1/cluster/apps/${id}`)
  const { app } = (await response.json()) as { app: { state: string; finalStatus: string; diagnostics: string } }
  return app
}

test("the command's output and exit code are the run's, its diagnostics go to stderr", async () => {
  const { code, stdout, stderr } = await run('--', 'sh', '-c', 'echo hello; echo oops >&2; exit 3')
  assert.equal(code, 3)
  assert.equal(stdout, 'hello\n')
  assert.match(stderr, /^oops$/m)
  assert.match(stderr, /ended with 3\n.*Exception from container-launch/)
  assert.equal((await application(stderr)).finalStatus, 'FAILED')
})

test('several containers, each with the file, the variable and the arguments', async () => {
  const file = join(work, 'a file.txt')
  await writeFile(file, 'contents\n')
  const options = ['--containers', '3', '--memory', '128', '--file', file, '--env', 'GREETING={{hi}} $HOME "x"']
  const script = 'cat "a file.txt"; printf "%s|" "$GREETING" "$@"; echo'
  const { code, stdout, stderr } = await run(...options, '--', 'sh', '-c', script, 'sh', "it's", '}}', '<LOG_DIR>')
  assert.equal(code, 0, stderr)
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^\[container_\d+_\d+_01_\d{6}\] /, ''))
  assert.equal(new Set(stdout.match(/container_\w+/g)).size, 3)
  assert.deepEqual(lines.sort(), [
    ...Array.from({ length: 3 }, () => 'contents'),
    ...Array.from({ length: 3 }, () => `{{hi}} $HOME "x"|it's|}}|<LOG_DIR>|`),
  ])
  assert.equal((await application(stderr)).finalStatus, 'SUCCEEDED')
})

test('output is shown while the container runs', async () => {
  const child = startRun([
    '--',
    'sh',
    '-c',
    'echo early; until [ -e go ] || [ -e "$0" ]; do sleep 0.05; done',
    join(work, 'go'),
  ])
  const end = ended(child)
  await new Promise<void>((resolve) => child.stdout?.on('data', () => resolve()))
  assert.equal(child.exitCode, null)
  await writeFile(join(work, 'go'), '')
  assert.equal((await end).code, 0)
})

test('a terminal that is closed kills the application', async () => {
  const child = startRun(['--', 'sleep', '300'])
  const end = ended(child)
  await says(child, / started: /)
  child.kill('SIGHUP')
  const { code, stderr } = await end
  assert.equal(code, 129)
  assert.equal((await application(stderr)).state, 'KILLED')
})

test('SIGINT, even twice at once, kills the application and ends with 130', async () => {
  const child = startRun(['--', 'sleep', '300'])
  const end = ended(child)
  await says(child, / started: /)
  child.kill('SIGINT')
  child.kill('SIGINT')
  const { code, stderr } = await end
  assert.equal(code, 130)
  assert.match(stderr, /ended by SIGINT/)
  const { state, diagnostics } = await application(stderr)
  assert.equal(state, 'KILLED')
  assert.match(diagnostics, /ended by SIGINT/)
})

test('a request that no node can fulfil is refused', async () => {
  const { code, stderr } = await run('--memory', '100000', '--', 'true')
  assert.equal(code, 122)
  assert.match(stderr, /<memory:100000, vCores:1> was asked for .* largest is <memory:4096, vCores:4>/)
})

test('no ResourceManager where the configuration names one', async () => {
  const nobody = ['-D', 'yarn.resourcemanager.address=127.0.0.1:1', '-D', 'yarn.resourcemanager.connect.max-wait.ms=0']
  const { code, stderr } = await run(...nobody, '-D', 'ipc.client.connect.max.retries=0', '--', 'true')
  assert.equal(code, 121)
  assert.match(stderr, /can not be reached .*127\.0\.0\.1:1/)
})

test('a configuration that can not be used', async () => {
  const { code, stderr } = await run('-D', 'ipc.client.connect.timeout=soon', '--', 'true')
  assert.equal(code, 2)
  assert.match(stderr, /ipc\.client\.connect\.timeout = "soon"/)
})
