import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ContainerExitStatus } from '../../../src/protocol/container-exit-status.ts'
import { hadoop } from '../../../src/protocol/messages.ts'
import { until } from '../../helpers/until.ts'
import { appears, isGroupLiving, isLiving, nodeFor, started, untimed } from './harness.ts'

const { KILLED_BY_APPMASTER } = ContainerExitStatus

test('a command that ends well ends in DONE with 0, and no diagnostics', async (t) => {
  const node = await nodeFor(t)
  const container = await node.run({ command: ['echo hello', '1><LOG_DIR>/stdout', '2><LOG_DIR>/stderr'] })
  assert.equal(container.state, 'DONE')
  assert.equal(container.exitStatus, 0)
  assert.equal(container.diagnostics, '')
  assert.equal(await readFile(join(node.containerLogDir(container), 'stdout'), 'utf8'), 'hello\n')
  assert.deepEqual(
    node.stored.map((line) => line.replace(` ${container.id}`, '')),
    ['queued', 'launched', 'exitcode 0', 'killed'],
  )
  assert.deepEqual(node.released, [container.id])
})

test('a command that fails tells its code, its stderr and what came before it', async (t) => {
  const node = await nodeFor(t)
  const container = await node.run({
    command: ['(echo broken >&2; exit 7)', '1><LOG_DIR>/stdout', '2><LOG_DIR>/stderr'],
  })
  assert.equal(container.exitStatus, 7)
  const exit =
    '[T]Container exited with a non-zero exit code 7. Error file: prelaunch.err.\nLast 4096 bytes of prelaunch.err :\n' +
    'Last 4096 bytes of stderr :\nbroken\n\n\n'
  assert.equal(
    untimed(container),
    `[T]Exception from container-launch.\nContainer id: ${container.id}\nExit code: 7\n\n${exit}${exit}`,
  )
})

test('only the end of a long stderr is in the diagnostics', async (t) => {
  const node = await nodeFor(t, { launcher: { stderrTailBytes: 10 } })
  const container = await node.run({ command: ['(seq 1 100000 >&2; exit 1) 2><LOG_DIR>/stderr'] })
  assert.match(container.diagnostics, /Last 10 bytes of stderr :\n99\n100000\n\n/)
})

test('a stderr that is a FIFO or a link holds nothing up', async (t) => {
  const node = await nodeFor(t)
  for (const command of ['mkfifo <LOG_DIR>/stderr; exit 3', 'ln -s /etc/passwd <LOG_DIR>/stderr; exit 3']) {
    const container = await node.run({ command: [command] })
    assert.equal(container.exitStatus, 3)
    assert.doesNotMatch(container.diagnostics, /root:/)
  }
})

test('a container that is killed gets TERM, and the status of whoever asked', async (t) => {
  const node = await nodeFor(t)
  const command =
    'trap \\"echo term >> <LOG_DIR>/stdout; exit 0\\" TERM; touch <LOG_DIR>/ready; while :; do sleep 0.01; done'
  const container = node.container({ command: [command] })
  await started(node, container)
  container.kill(KILLED_BY_APPMASTER, 'Container killed by the ApplicationMaster.')
  await node.whenDone(container)
  assert.equal(await readFile(join(node.containerLogDir(container), 'stdout'), 'utf8'), 'term\n')
  // Hadoop's rule: a process that answers the kill with 0 has succeeded.
  assert.equal(container.exitStatus, 0)
})

test('a container that dies of the signal keeps the exit status of the kill', async (t) => {
  const node = await nodeFor(t)
  const container = node.container({ command: ['touch <LOG_DIR>/ready; sleep 1000'] })
  const pid = await started(node, container)
  container.kill(KILLED_BY_APPMASTER, 'Container killed by the ApplicationMaster.')
  await node.whenDone(container)
  assert.equal(container.exitStatus, KILLED_BY_APPMASTER)
  assert.equal(await isGroupLiving(pid), false)
  assert.equal(
    untimed(container),
    '[T]Container killed by the ApplicationMaster.\n[T]Container killed on request. Exit code is 143\n' +
      '[T]Container exited with a non-zero exit code 143. \n',
  )
})

test('a container that has cleared its environment is killed like any other', async (t) => {
  const node = await nodeFor(t)
  const container = node.container({ command: ['touch <LOG_DIR>/ready; exec env -i sleep 1000'] })
  const pid = await started(node, container)
  await until('it has cleared it', async () => (await readFile(`/proc/${pid}/environ`)).length === 0)
  container.kill(KILLED_BY_APPMASTER, 'enough')
  await node.whenDone(container)
  assert.equal(container.exitStatus, KILLED_BY_APPMASTER)
  assert.equal(await isGroupLiving(pid), false)
})

test('a container that ignores TERM is killed after the delay', async (t) => {
  const node = await nodeFor(t)
  const container = node.container({
    command: ['trap \\"\\" TERM; touch <LOG_DIR>/ready; while :; do sleep 1000; done'],
  })
  const pid = await started(node, container)
  const before = performance.now()
  container.kill(KILLED_BY_APPMASTER, 'enough')
  await node.whenDone(container)
  assert.ok(performance.now() - before >= 240, 'it had its time')
  assert.equal(container.exitStatus, KILLED_BY_APPMASTER)
  assert.match(container.diagnostics, /Exit code is 137/)
  assert.equal(await isGroupLiving(pid), false)
})

test('whoever else kills it: the container has failed with the signal', async (t) => {
  const node = await nodeFor(t)
  const container = node.container({ command: ['touch <LOG_DIR>/ready; sleep 1000'] })
  const pid = await started(node, container)
  process.kill(pid, 'SIGKILL')
  await node.whenDone(container)
  assert.equal(container.exitStatus, 137)
  assert.match(container.diagnostics, /Killed by external signal\n$/)
})

test('nothing of the process group is left when a container is DONE, killed or not', async (t) => {
  const node = await nodeFor(t)
  const spawner =
    'for i in 1 2 3; do (trap \\"\\" TERM; sleep 1000 & echo \\$! >> <LOG_DIR>/pids; wait) & done; sleep 0.2; '
  const ended = await node.run({ command: [`${spawner} exit 0`] })
  assert.equal(ended.exitStatus, 0)
  const killed = node.container({ command: [`${spawner} touch <LOG_DIR>/ready; wait`] })
  await started(node, killed)
  killed.kill(KILLED_BY_APPMASTER, 'enough')
  await node.whenDone(killed)
  for (const container of [ended, killed]) {
    const pids = (await readFile(join(node.containerLogDir(container), 'pids'), 'utf8')).trim().split('\n').map(Number)
    assert.equal(pids.length, 3)
    assert.deepEqual(await Promise.all(pids.map(isLiving)), [false, false, false])
  }
})

test('a process that has made a session of its own ends with its container', async (t) => {
  const node = await nodeFor(t)
  const container = await node.run({ command: ['(setsid sleep 1000 & echo \\$! > <LOG_DIR>/pid); sleep 0.1; exit 0'] })
  assert.equal(container.exitStatus, 0)
  const pid = Number(await readFile(join(node.containerLogDir(container), 'pid'), 'utf8'))
  assert.ok(pid > 1)
  assert.equal(await isLiving(pid), false)
})

test('start scripts that hang are ended too', async (t) => {
  const node = await nodeFor(t, { launcher: { processKillWaitMs: 500 } })
  const profile = join(node.root, 'profile')
  const say = (pid: string) =>
    `echo ${pid} > ${node.root}/starter.tmp; mv ${node.root}/starter.tmp ${node.root}/starter`
  await writeFile(profile, `${say('$$')}; sleep 1000\n`)
  const pidFile = `${node.root}/*/nmPrivate/*/*/\\$CONTAINER_ID.pid`
  for (const spec of [
    // It waits for a reader of its exit code.
    { command: [`for p in ${pidFile}; do mkfifo \\$p.exitcode.tmp; done; ${say('\\$PPID')}`] },
    // Before there is a pid file, so that nobody is there to be signalled.
    { command: ['exit 0'], environment: { BASH_ENV: profile } },
  ]) {
    const container = node.container(spec)
    container.init()
    await appears(`${node.root}/starter`)
    const starter = Number(await readFile(`${node.root}/starter`, 'utf8'))
    await rm(`${node.root}/starter`)
    assert.equal(await isLiving(starter), true)
    container.kill(KILLED_BY_APPMASTER, 'enough')
    await node.whenDone(container)
    assert.equal(container.exitStatus, KILLED_BY_APPMASTER)
    await until('the starter has ended', async () => !(await isLiving(starter)))
  }
})

test('an operator can send it a signal', async (t) => {
  const node = await nodeFor(t)
  const listener = join(node.root, 'listener.mjs')
  await writeFile(
    listener,
    `import { writeFileSync } from 'node:fs'
    process.on('SIGQUIT', () => writeFileSync(process.argv[2] + '/stdout', 'dump'))
    setTimeout(() => {}, 100_000)
    writeFileSync(process.argv[2] + '/ready', '')`,
  )
  const container = node.container({ command: [`${process.execPath} ${listener} <LOG_DIR>`] })
  const pid = await started(node, container)
  await node.launcher.signal(container.id, hadoop.yarn.SignalContainerCommandProto.OUTPUT_THREAD_DUMP)
  await appears(join(node.containerLogDir(container), 'stdout'))
  assert.equal(container.state, 'RUNNING')
  assert.equal(
    untimed(container),
    `[T]Sent signal OUTPUT_THREAD_DUMP (SIGQUIT) to pid ${pid} as user alice for container ${container.id}, result=success\n`,
  )
  container.kill(KILLED_BY_APPMASTER, 'enough')
  await node.whenDone(container)
})

test('a thread dump does not end a program that knows nothing of it', async (t) => {
  const node = await nodeFor(t)
  const container = node.container({ command: ['touch <LOG_DIR>/ready; exec sleep 1000'] })
  const pid = await started(node, container)
  await node.launcher.signal(container.id, hadoop.yarn.SignalContainerCommandProto.OUTPUT_THREAD_DUMP)
  assert.equal(await isLiving(pid), true)
  container.kill(KILLED_BY_APPMASTER, 'enough')
  await node.whenDone(container)
  assert.match(container.diagnostics, /Exit code is 143/)
})

test('bytes on stdout are the container’s own affair', async (t) => {
  const node = await nodeFor(t)
  const container = await node.run({ command: ["printf 'a\\000b\\377' 1><LOG_DIR>/stdout"] })
  assert.deepEqual(await readFile(join(node.containerLogDir(container), 'stdout')), Buffer.from([0x61, 0, 0x62, 0xff]))
  const loud = await node.run({ command: ["printf 'a\\000b\\377'; printf 'c\\000d' >&2; exit 5"] })
  assert.match(loud.diagnostics, /Last 4096 bytes of prelaunch.err :\nc\0d/)
})

test('fifty containers at once all end as they should', async (t) => {
  const node = await nodeFor(t)
  const all = await Promise.all(Array.from({ length: 50 }, (_, index) => node.run({ command: [`exit ${index}`] })))
  assert.deepEqual(
    all.map(({ exitStatus }) => exitStatus),
    all.map((_, index) => index),
  )
})

test('a kill during localization ends in DONE without a launch', async (t) => {
  const node = await nodeFor(t)
  node.holdsLocalization = true
  const container = node.container({ command: ['touch <LOG_DIR>/ran'], resources: { file: '/etc/hostname' } })
  container.init()
  assert.equal(container.state, 'LOCALIZING')
  container.kill(KILLED_BY_APPMASTER, 'enough')
  await node.whenDone(container)
  assert.equal(container.exitStatus, KILLED_BY_APPMASTER)
  assert.equal(untimed(container), '[T]enough\n[T]Container is killed before being launched.\n')
  assert.ok(!node.stored.includes(`launched ${container.id}`))
})

test('a kill before the process is there ends it, whenever it comes', async (t) => {
  const node = await nodeFor(t)
  for (const turns of [0, 1, 2, 3, 5, 8, 12, 20]) {
    const container = node.container({ command: ['sleep 1000'] })
    container.init()
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
    container.kill(KILLED_BY_APPMASTER, 'enough')
    await node.whenDone(container)
    assert.equal(container.exitStatus, KILLED_BY_APPMASTER, `after ${turns} turns`)
  }
  await node.tasks.idle()
})

test('a container that cannot be started says why', async (t) => {
  const node = await nodeFor(t)
  await writeFile(join(node.localDirs[0] ?? '', 'usercache'), 'not a directory')
  const container = await node.run({ command: ['true'] })
  assert.equal(container.exitStatus, -1)
  assert.match(container.diagnostics, /ENOTDIR|EEXIST/)
})

test('with too few good disks nothing is launched', async (t) => {
  const node = await nodeFor(t, { dirs: { areDisksHealthy: () => false, report: () => '1/1 local-dirs are bad: /x' } })
  const container = await node.run({ command: ['true'] })
  assert.equal(container.exitStatus, ContainerExitStatus.DISKS_FAILED)
  assert.equal(untimed(container), '[T]Most of the disks failed. 1/1 local-dirs are bad: /x\n')
})
