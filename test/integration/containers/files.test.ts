/** What is left on disk for the container, for people and for a daemon that takes over. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdir, readdir, readFile, readlink, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { silentLog } from '../../../src/base/log.ts'
import { tellOfSurvivors } from '../../../src/localization/survivors.ts'
import { readCredentials } from '../../../src/security/credentials.ts'
import { appears, isGroupLiving, isLiving, nodeFor, started, statOf } from './harness.ts'
import { launchRequest } from './survivor.ts'

const mode = async (path: string) => ((await stat(path)).mode & 0o7777).toString(8)

test('scripts and directories are Hadoop’s, with its modes', async (t) => {
  const node = await nodeFor(t, { localDirCount: 2 })
  const container = await node.run({ command: ['sleep 0.01', '1><LOG_DIR>/stdout'] })
  const workDir = node.workDir(container)
  const pidFile = join(node.privateDir(container), `${container.id}.pid`)
  assert.equal(
    await readFile(join(workDir, 'default_container_executor.sh'), 'utf8'),
    `#!/bin/bash
trap '' QUIT
/bin/bash "${workDir}/default_container_executor_session.sh"
rc=$?
echo $rc > "${pidFile}.exitcode.tmp"
/bin/mv -f "${pidFile}.exitcode.tmp" "${pidFile}.exitcode"
exit $rc
`,
  )
  assert.equal(
    await readFile(join(workDir, 'default_container_executor_session.sh'), 'utf8'),
    `#!/bin/bash

echo $$ > ${pidFile}.tmp
/bin/mv -f ${pidFile}.tmp ${pidFile}
exec setsid /bin/bash "${workDir}/launch_container.sh"`,
  )
  const script = await readFile(join(workDir, 'launch_container.sh'), 'utf8')
  assert.equal(script, await readFile(join(node.privateDir(container), 'launch_container.sh'), 'utf8'))
  assert.ok(
    script.endsWith(
      `echo "Launching container"\nexec /bin/bash -c "sleep 0.01 1>${node.containerLogDir(container)}/stdout"\n`,
    ),
  )

  const application = dirname(workDir)
  assert.deepEqual(
    Object.fromEntries(
      await Promise.all(
        [
          'launch_container.sh',
          'default_container_executor.sh',
          'default_container_executor_session.sh',
          'container_tokens',
          'tmp',
          '.',
        ].map(async (name) => [name, await mode(join(workDir, name))]),
      ),
    ),
    {
      'launch_container.sh': '700',
      'default_container_executor.sh': '700',
      'default_container_executor_session.sh': '700',
      container_tokens: '644',
      tmp: '710',
      '.': '710',
    },
  )
  assert.deepEqual(await Promise.all([application, dirname(application), dirname(dirname(application))].map(mode)), [
    '710',
    '710',
    '750',
  ])
  assert.equal(await mode(node.workDir(container, node.localDirs[1])), '710')
  assert.equal(await mode(node.containerLogDir(container)), '710')
  assert.equal(await mode(join(node.localDirs[0] ?? '', 'nmPrivate')), '700')
  assert.deepEqual(readCredentials(await readFile(join(workDir, 'container_tokens'))).tokens, new Map())
  assert.deepEqual((await readdir(node.containerLogDir(container))).sort(), [
    'directory.info',
    'launch_container.sh',
    'prelaunch.err',
    'prelaunch.out',
    'stdout',
  ])
  assert.equal(
    await readFile(join(node.containerLogDir(container), 'prelaunch.out'), 'utf8'),
    'Setting up env variables\nSetting up job resources\nCopying debugging information\nLaunching container\n',
  )
})

test('while it runs, the pid file holds the leader of its own group and session', async (t) => {
  const node = await nodeFor(t)
  const container = node.container({ command: ['touch <LOG_DIR>/ready; sleep 1000'] })
  const pid = await started(node, container)
  assert.equal(await readFile(join(node.privateDir(container), `${container.id}.pid`), 'utf8'), `${pid}\n`)
  const fields = await statOf(pid)
  assert.deepEqual([fields?.[2], fields?.[3]], [String(pid), String(pid)])
  assert.deepEqual([container.host, container.ips], ['node.example', ['192.0.2.1']])
  // Nothing that breaks when the daemon dies.
  const open = await Promise.all(['0', '1', '2'].map((fd) => readlink(`/proc/${pid}/fd/${fd}`)))
  const logDir = node.containerLogDir(container)
  assert.deepEqual(open, ['/dev/null', `${logDir}/prelaunch.out`, `${logDir}/prelaunch.err`])
  container.kill(-105, 'enough')
  await node.whenDone(container)
  assert.equal(await isGroupLiving(pid), false)
})

test('a stale checksum of Hadoop’s goes when its file is written anew', async (t) => {
  const node = await nodeFor(t)
  const container = node.container({ command: ['true'] })
  await mkdir(node.workDir(container), { recursive: true })
  const stale = ['launch_container.sh', 'container_tokens', 'default_container_executor.sh'].map((name) =>
    join(node.workDir(container), `.${name}.crc`),
  )
  for (const path of stale) await writeFile(path, 'crc')
  container.init()
  await node.whenDone(container)
  for (const path of stale) await assert.rejects(stat(path), path)
})

test('a container lives on when its daemon is killed, and leaves its exit code', async (t) => {
  const node = await nodeFor(t)
  const request = await launchRequest(
    node.root,
    'touch started; while [ ! -e go ]; do sleep 0.01; done; echo out; echo err >&2; exit 42',
  )
  const survivor = fileURLToPath(new URL('survivor.js', import.meta.url))
  const daemon = spawn(process.execPath, [survivor, node.root], { stdio: 'ignore' })
  await appears(join(request.workDir, 'started'))
  const pid = Number(await readFile(request.pidFile, 'utf8'))
  daemon.kill('SIGKILL')
  await new Promise((resolve) => daemon.on('exit', resolve))
  assert.ok(await isLiving(pid))
  await writeFile(join(request.workDir, 'go'), '')
  await appears(`${request.pidFile}.exitcode`)
  assert.equal(await readFile(`${request.pidFile}.exitcode`, 'utf8'), '42\n')
})

test('what the daemon has inherited is not handed on to its containers', async (t) => {
  const node = await nodeFor(t)
  const request = await launchRequest(node.root, 'ls -l /proc/$$/fd > inherited')
  const survivor = fileURLToPath(new URL('survivor.js', import.meta.url))
  const opens = 'exec 20</etc/hostname 251</etc/hostname 255</etc/hostname; exec "$0" "$@"'
  const daemon = spawn('/bin/bash', ['-c', opens, process.execPath, survivor, node.root], { stdio: 'ignore' })
  assert.equal(await new Promise((resolve) => daemon.on('exit', resolve)), 0)
  const open = await readFile(join(request.workDir, 'inherited'), 'utf8')
  assert.match(open, /launch_container\.sh/)
  assert.doesNotMatch(open, /hostname/)
  const starter = await readFile(join(request.workDir, 'default_container_executor.sh'), 'utf8')
  assert.match(starter, /^trap '' QUIT\nexec 20>&- 251>&- 255>&-\n/m)
  assert.equal(await readFile(`${request.pidFile}.exitcode`, 'utf8'), '0\n')
})

test('a start tells of a container that has outlived its daemon, and leaves it alone', async (t) => {
  const node = await nodeFor(t)
  const request = await launchRequest(node.root, 'touch started; while [ ! -e go ]; do sleep 0.01; done')
  const survivor = fileURLToPath(new URL('survivor.js', import.meta.url))
  const daemon = spawn(process.execPath, [survivor, node.root], { stdio: 'ignore' })
  await appears(join(request.workDir, 'started'))
  const pid = Number(await readFile(request.pidFile, 'utf8'))
  daemon.kill('SIGKILL')
  await new Promise((resolve) => daemon.on('exit', resolve))
  // Others that are none: one that has ended, one whose number is another's now, one that holds no number.
  const other = (n: number) => request.containerId.replace(/\d$/, String(n))
  for (const [n, text] of [
    [2, '999999999\n'],
    [3, `${process.pid}\n`],
    [4, ''],
  ] as const) {
    const directory = join(dirname(dirname(request.pidFile)), other(n))
    await mkdir(directory)
    await writeFile(join(directory, `${other(n)}.pid`), text)
  }
  const warnings: unknown[][] = []
  const log = { ...silentLog, warn: (...parts: unknown[]) => void warnings.push(parts) }
  await tellOfSurvivors(join(node.root, 'local0', 'nmPrivate'), log)
  await tellOfSurvivors(join(node.root, 'nothing'), log)
  assert.deepEqual(warnings, [
    [
      { containerId: request.containerId, pid },
      `Container ${request.containerId} of an earlier run still runs as process group ${pid}. This version cannot take it` +
        ` over, and its directories are removed: end it with 'kill -- -${pid}' unless it is to go on without them`,
    ],
  ])
  assert.ok(await isLiving(pid))
  await writeFile(join(request.workDir, 'go'), '')
  await appears(`${request.pidFile}.exitcode`)
})
