import assert from 'node:assert/strict'
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { BobbinError } from '../../../../src/base/errors.ts'
import { RunExitCode, RunError } from '../../../../src/cli/run/exit-codes.ts'
import type { RunOptions } from '../../../../src/cli/run/options.ts'
import { PrefixedOutput, RawOutput } from '../../../../src/cli/run/output.ts'
import { LineReporter } from '../../../../src/cli/run/report.ts'
import { runCommand } from '../../../../src/cli/run/run-command.ts'
import { containerIdToProto, parseContainerId } from '../../../../src/protocol/ids.ts'
import { hadoop } from '../../../../src/protocol/messages.ts'
import { JavaClass, RemoteError } from '../../../../src/protocol/remote-error.ts'
import { FakeClock, settle } from '../../../helpers/fake-clock.ts'
import { APPLICATION, FakeCluster, FakeLogs, NODE } from './fake-cluster.ts'

const ID = 'container_1700000000000_0007_01_'
const { YarnApplicationStateProto: State, FinalApplicationStatusProto: Final } = hadoop.yarn

interface Outcome {
  readonly exitCode: number | undefined
  readonly error: unknown
  readonly lines: string[]
  readonly stdout: string
  readonly stderr: string
}

class Bench {
  readonly cluster = new FakeCluster()
  readonly logs = new FakeLogs()
  readonly clock = new FakeClock()
  readonly control = new AbortController()
  readonly lines: string[] = []
  /** Called every 100 ms of the run. */
  onTick: (elapsedMs: number) => void = () => {}

  async run(changes: Partial<RunOptions> = {}): Promise<Outcome> {
    const options: RunOptions = {
      command: ['true'],
      containers: 1,
      resource: { memoryMb: 512, vcores: 1 },
      files: [],
      environment: new Map(),
      name: 'true',
      queue: 'default',
      user: 'alice',
      timeoutMs: undefined,
      ...changes,
    }
    const written = { stdout: '', stderr: '' }
    const to = (name: 'stdout' | 'stderr') => (bytes: Buffer) => {
      written[name] += bytes.toString()
      return Promise.resolve()
    }
    const streams = { stdout: to('stdout'), stderr: to('stderr') }
    const outcome: { exitCode?: number; error?: unknown } = {}
    const running = runCommand(options, {
      connections: this.cluster,
      logs: this.logs,
      output: options.containers > 1 ? new PrefixedOutput(streams) : new RawOutput(streams),
      reporter: new LineReporter((line) => this.lines.push(line)),
      clock: this.clock,
      signal: this.control.signal,
    }).then(
      (exitCode) => (outcome.exitCode = exitCode),
      (error: unknown) => (outcome.error = error),
    )
    for (let elapsed = 0; outcome.exitCode === undefined && outcome.error === undefined; elapsed += 100) {
      assert.ok(elapsed < 120_000, `still running; ${this.cluster.calls.slice(-5).join()}`)
      this.onTick(elapsed)
      await this.clock.advance(100)
      await settle()
    }
    await running
    return { exitCode: outcome.exitCode, error: outcome.error, lines: this.lines, ...written }
  }
}

function assertRunError(error: unknown, exitCode: RunExitCode, message: RegExp): void {
  assert.ok(error instanceof RunError, String(error))
  assert.equal(error.exitCode, exitCode)
  assert.match(error.message, message)
}

test('a single container: its output, its exit code, and each step once', async () => {
  const bench = new Bench()
  bench.cluster.script = () => ({ exitStatus: 3, diagnostics: 'Exception from container-launch.\nExit code: 3\n' })
  bench.logs.files.set('2 stdout', 'hello\nno end').set('2 stderr', 'oops\n')
  const { exitCode, stdout, stderr, lines } = await bench.run()
  assert.equal(exitCode, 3)
  assert.deepEqual({ stdout, stderr }, { stdout: 'hello\nno end', stderr: 'oops\n' })
  assert.deepEqual(lines, [
    `bobbin run: submitted ${APPLICATION}`,
    `bobbin run: ${APPLICATION} is accepted`,
    `bobbin run: container 1/1 started: ${ID}000002 on ${NODE}`,
    `bobbin run: ${ID}000002 ended with 3`,
    '  Exception from container-launch.',
    '  Exit code: 3',
    `bobbin run: ${APPLICATION} ended: FAILED`,
  ])
  assert.equal(bench.cluster.finishedWith?.finalApplicationStatus, Final.APP_FAILED)
  assert.match(bench.cluster.finishedWith?.diagnostics ?? '', /1 of 1 containers failed\ncontainer_.* ended with 3/)
  assert.equal(bench.cluster.killedWith, undefined)
})

test('the application is submitted as an unmanaged one of type BOBBIN', async () => {
  const bench = new Bench()
  const { exitCode } = await bench.run({ name: 'my job', queue: 'root.q' })
  assert.equal(exitCode, 0)
  const { applicationName, queue, unmanagedAm, applicationType, amContainerSpec } = bench.cluster.submitted ?? {}
  assert.deepEqual([applicationName, queue, unmanagedAm, applicationType], ['my job', 'root.q', true, 'BOBBIN'])
  assert.deepEqual(amContainerSpec, {})
})

test('every connection is closed, and the nodes are logged in to with their NM token', async () => {
  const bench = new Bench()
  await bench.run()
  assert.deepEqual(bench.cluster.closed, [`node ${NODE} nm-1`, 'scheduler amrm-1', 'client'])
})

test('several containers: lines with their container in front, and 1 when one failed', async () => {
  const bench = new Bench()
  bench.cluster.perBeat = 1
  bench.cluster.script = (n) => ({ exitStatus: n === 2 ? 7 : 0, beats: 3 })
  for (const n of [2, 3, 4]) bench.logs.files.set(`${n} stdout`, `I am ${n}\n`)
  const { exitCode, stdout, lines } = await bench.run({ containers: 3 })
  assert.equal(exitCode, 1)
  assert.deepEqual(
    stdout.split('\n').sort().slice(1),
    [2, 3, 4].map((n) => `[${ID}00000${n}] I am ${n}`),
  )
  assert.deepEqual(bench.cluster.asked, [3, 0])
  assert.equal(lines.filter((line) => / started: /.test(line)).length, 3)
  assert.deepEqual(bench.cluster.released, [])
})

test('a container too many is released and not started', async () => {
  const bench = new Bench()
  bench.cluster.surplus = 1
  const { exitCode } = await bench.run()
  assert.equal(exitCode, 0)
  assert.equal(bench.cluster.launched.length, 1)
  assert.deepEqual(bench.cluster.released, [`${ID}000003`])
})

test('a container that was lost or preempted is replaced, and does not count as failed', async () => {
  const bench = new Bench()
  bench.cluster.script = (n) => ({ exitStatus: [-100, -102, 0][n - 1] ?? 1 })
  const { exitCode, lines } = await bench.run()
  assert.equal(exitCode, 0)
  assert.deepEqual(bench.cluster.asked, [1, 0, 1, 0, 1, 0])
  assert.deepEqual(
    lines.filter((line) => line.includes('replaced')),
    [
      `bobbin run: ${ID}000002 is replaced: -100 (released, lost with its node or expired)`,
      `bobbin run: ${ID}000003 is replaced: -102 (preempted)`,
    ],
  )
})

test('a container that is lost again and again is a failure in the end', async () => {
  const bench = new Bench()
  bench.cluster.script = () => ({ exitStatus: -100 })
  const { exitCode } = await bench.run()
  assert.equal(exitCode, 1)
  assert.equal(bench.cluster.launched.length, 4)
})

test('a node that refuses to start a container: it is released and replaced, a few times', async () => {
  const bench = new Bench()
  bench.cluster.script = (n) => (n === 1 ? { refusal: '\nContainer x rejected' } : { exitStatus: 0 })
  const { exitCode, lines } = await bench.run()
  assert.equal(exitCode, 0)
  assert.deepEqual(bench.cluster.released, [`${ID}000002`])
  assert.ok(
    lines.some((line) => line.includes(`${ID}000002 is replaced: ${NODE} did not start it: Container x rejected`)),
  )

  const hopeless = new Bench()
  hopeless.cluster.script = () => ({ refusal: 'The auxService:x does not exist' })
  const { error } = await hopeless.run()
  assertRunError(error, RunExitCode.ERROR, /did not start it: The auxService:x does not exist/)
  assert.match(hopeless.cluster.killedWith ?? '', /auxService:x/)
})

test('the first failure ends the run once nothing is under way any more', async () => {
  const bench = new Bench()
  let starts = 0
  let underWay = 0
  const call = async (_method: string, _request: unknown, signal: AbortSignal) => {
    if (++starts === 2) throw new BobbinError('ERR_CONNECT', 'connect ECONNREFUSED')
    underWay++
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    await settle()
    underWay--
    throw signal.reason
  }
  Object.assign(bench.cluster, { node: () => ({ call, close: () => {} }) })
  const atKill: number[] = []
  bench.cluster.before = (method) => {
    if (method === 'forceKillApplication') atKill.push(underWay)
  }
  const { error } = await bench.run({ containers: 3 })
  assertRunError(error, RunExitCode.ERROR, /can not be reached from here/)
  assert.equal(starts, 3)
  assert.equal(atKill[0], 0)
})

test('a node that can not be reached: an error that names it and says why that matters', async () => {
  const bench = new Bench()
  bench.cluster.before = (method) => {
    if (method === 'startContainers') throw new BobbinError('ERR_CONNECT', 'connect ECONNREFUSED')
  }
  const { error } = await bench.run()
  assertRunError(
    error,
    RunExitCode.ERROR,
    /localhost:8041 can not be reached from here .*talks to the nodes directly.*ECONNREF/,
  )
  assert.notEqual(bench.cluster.killedWith, undefined)
})

test('a request above the largest container is refused before anything is submitted', async () => {
  const bench = new Bench()
  const { error } = await bench.run({ resource: { memoryMb: 99_999, vcores: 1 } })
  assertRunError(error, RunExitCode.REFUSED, /<memory:99999, vCores:1>.*largest is <memory:8192, vCores:4>/)
  assert.equal(bench.cluster.submitted, undefined)
})

test('a file is sent under its base name with its size and its time in whole milliseconds', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'bobbin-run-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'data.bin')
  await writeFile(file, 'four')
  await utimes(file, 1_700_000_001, 1_700_000_001.2349)
  const bench = new Bench()
  await bench.run({ files: [file], environment: new Map([['A', '$x']]) })
  const [context] = bench.cluster.launched
  assert.deepEqual(context?.localResources, [
    {
      key: 'data.bin',
      value: {
        resource: { scheme: 'file', port: -1, file },
        size: 4,
        timestamp: 1_700_000_001_234,
        type: hadoop.yarn.LocalResourceTypeProto.FILE,
        visibility: hadoop.yarn.LocalResourceVisibilityProto.APPLICATION,
      },
    },
  ])
  assert.deepEqual(context?.environment, [{ key: 'A', value: String.raw`\$x` }])
})

test('a file that is not there, or none, is a usage error before anything is submitted', async () => {
  for (const [file, message] of [
    ['/no/such/file', /--file \/no\/such\/file: there is no/],
    [tmpdir(), /is not a regular file/],
    ['/tmp/a$b', /can not be sent/],
  ] as const) {
    const bench = new Bench()
    const { error } = await bench.run({ files: [file] })
    assertRunError(error, RunExitCode.USAGE, message)
    assert.deepEqual(bench.cluster.calls, [])
  }
})

test('a submission that the ResourceManager refuses tells its words', async () => {
  const bench = new Bench()
  bench.cluster.before = (method) => {
    if (method === 'submitApplication') throw new RemoteError(JavaClass.YARN, 'Queue x is STOPPED.')
  }
  const { error } = await bench.run()
  assertRunError(error, RunExitCode.REFUSED, /refused submitApplication: Queue x is STOPPED\.$/)
})

test('an application that fails before it is accepted ends the run with the reason', async () => {
  const bench = new Bench()
  bench.cluster.state = State.FAILED
  bench.cluster.diagnostics = 'Application x submitted by user alice to unknown queue: nope'
  const { error } = await bench.run()
  assertRunError(error, RunExitCode.REFUSED, /ended as FAILED: .*unknown queue: nope/)
})

test('a ResourceManager that can not be reached has an exit code of its own', async () => {
  const bench = new Bench()
  bench.cluster.before = () => {
    throw new BobbinError('ERR_CONNECT', 'connect ECONNREFUSED 127.0.0.1:8032')
  }
  const { error } = await bench.run()
  assertRunError(
    error,
    RunExitCode.RESOURCE_MANAGER_UNREACHABLE,
    /can not be reached \(getNewApplication\).*127\.0\.0\.1:8032/,
  )
})

test('someone else kills the application: the run ends with their diagnostics', async () => {
  const bench = new Bench()
  bench.cluster.script = () => ({ exitStatus: 0, beats: 1000 })
  bench.cluster.before = (method, nth) => {
    if (method !== 'allocate' || nth < 5) return
    bench.cluster.state = State.KILLED
    bench.cluster.diagnostics = 'Application x was killed by user bob at 127.0.0.1'
    throw new RemoteError(JavaClass.APPLICATION_ATTEMPT_NOT_FOUND, "doesn't exist in ApplicationMasterService cache.")
  }
  const { error } = await bench.run()
  assertRunError(error, RunExitCode.KILLED, /was killed: Application x was killed by user bob/)
  assert.equal(bench.cluster.killedWith, undefined)
})

test('a restarted ResourceManager: registered again, asked again, and the containers go on', async () => {
  const bench = new Bench()
  bench.cluster.perBeat = 1
  bench.cluster.script = () => ({ exitStatus: 0, beats: 6 })
  bench.cluster.before = (method, nth) => {
    if (method === 'allocate' && nth === 2) bench.cluster.restart()
  }
  const { exitCode, lines } = await bench.run({ containers: 3 })
  assert.equal(exitCode, 0)
  assert.deepEqual(bench.cluster.asked, [3, 2, 0])
  assert.equal(bench.cluster.calls.filter((call) => call === 'registerApplicationMaster').length, 2)
  assert.ok(lines.some((line) => line.includes('the ResourceManager was restarted')))
})

test('releases are told again to a restarted ResourceManager', async () => {
  const bench = new Bench()
  bench.cluster.surplus = 1
  bench.cluster.script = () => ({ exitStatus: 0, beats: 5 })
  bench.cluster.before = (method, nth) => {
    if (method === 'allocate' && nth === 3) bench.cluster.restart()
  }
  await bench.run()
  assert.deepEqual(bench.cluster.released, [`${ID}000003`, `${ID}000003`])
})

test('a new AMRM token is used for a new connection', async () => {
  const bench = new Bench()
  bench.cluster.script = () => ({ exitStatus: 0, beats: 5 })
  bench.cluster.before = (method, nth) => {
    if (method === 'allocate' && nth === 2) bench.cluster.nextToken = 'amrm-2'
  }
  const { exitCode } = await bench.run()
  assert.equal(exitCode, 0)
  assert.deepEqual(bench.cluster.tokens, ['amrm-1', 'amrm-2'])
  assert.ok(bench.cluster.closed.includes('scheduler amrm-1'))
})

test('the time-out kills the application', async () => {
  const bench = new Bench()
  bench.cluster.script = () => ({ exitStatus: 0, beats: 100_000 })
  const { error } = await bench.run({ timeoutMs: 30_000 })
  assertRunError(error, RunExitCode.TIMED_OUT, /not finished after 30 s/)
  assert.match(bench.cluster.killedWith ?? '', /not finished after 30 s/)
  assert.equal(bench.clock.waiting, 0)
})

test('an abort kills the application, at whatever moment it comes', async () => {
  for (const atMs of [0, 100, 200, 400, 700, 2000]) {
    const bench = new Bench()
    bench.cluster.script = () => ({ exitStatus: 0, beats: 100_000 })
    bench.onTick = (elapsed) => {
      if (elapsed >= atMs) bench.control.abort(new RunError(RunExitCode.INTERRUPTED, 'ended by SIGINT'))
    }
    const { error } = await bench.run()
    assertRunError(error, RunExitCode.INTERRUPTED, /SIGINT/)
    assert.equal(
      bench.cluster.killedWith,
      bench.cluster.submitted === undefined ? undefined : 'bobbin run: ended by SIGINT',
    )
  }
})

test('an application that can not be killed is warned about, and the first error stays', async () => {
  const bench = new Bench()
  bench.cluster.script = () => ({ exitStatus: 0, beats: 100_000 })
  bench.cluster.before = (method) => {
    if (method === 'forceKillApplication') throw new BobbinError('ERR_CONNECT', 'connect ECONNREFUSED')
  }
  const { error, lines } = await bench.run({ timeoutMs: 1000 })
  assertRunError(error, RunExitCode.TIMED_OUT, /not finished/)
  assert.ok(lines.some((line) => line.includes(`${APPLICATION} could not be killed and may still run`)))
})

test('output that can not be read is said, and the exit code stays', async () => {
  const bench = new Bench()
  bench.logs.failure = new BobbinError('ERR_LOG_UNAVAILABLE', 'http://localhost:8042/x: connect ECONNREFUSED')
  bench.cluster.script = () => ({ exitStatus: 4 })
  const { exitCode, lines } = await bench.run()
  assert.equal(exitCode, 4)
  assert.equal(
    lines.filter((line) => /warning: the output of .* could not be read in full.*localhost:8042/.test(line)).length,
    1,
  )
})

test('waiting without end says what it waits for, once', async () => {
  const bench = new Bench()
  bench.cluster.perBeat = 0
  bench.cluster.nodes = 0
  const { lines } = await bench.run({ containers: 2, timeoutMs: 20_000 })
  assert.deepEqual(
    lines.filter((line) => line.includes('waiting')),
    [
      'bobbin run: waiting: 2 more containers of <memory:512, vCores:1> are wanted, no NodeManager has joined the cluster',
    ],
  )
})

test("an end that comes before the node's answer to the start is not missed", async () => {
  const bench = new Bench()
  bench.cluster.script = () => {
    const containerId = containerIdToProto(parseContainerId(`${ID}000002`))
    bench.cluster.ends.push({ containerId, exitStatus: 5 })
    return { exitStatus: 0, beats: 1000 }
  }
  const { exitCode } = await bench.run()
  assert.equal(exitCode, 5)
})

test('a registration whose answer was lost is not an error when it is repeated', async () => {
  const bench = new Bench()
  bench.cluster.before = (method, nth) => {
    if (method !== 'registerApplicationMaster' || nth > 1) return
    bench.cluster.register()
    const text = `Application Master is already registered : ${APPLICATION}`
    throw new RemoteError(JavaClass.INVALID_APPLICATION_MASTER_REQUEST, text)
  }
  const { exitCode } = await bench.run()
  assert.equal(exitCode, 0)
})

test('an end whose answer was lost is not an error when it is repeated', async () => {
  const bench = new Bench()
  bench.cluster.script = () => ({ exitStatus: 6 })
  bench.cluster.before = (method, nth) => {
    if (method !== 'finishApplicationMaster' || nth < 2) return
    throw new RemoteError(JavaClass.INVALID_APPLICATION_MASTER_REQUEST, "Application doesn't exist in cache x")
  }
  const { exitCode } = await bench.run()
  assert.equal(exitCode, 6)
  assert.equal(bench.cluster.killedWith, undefined)
})

test('an application that is killed while it ends is told from one that succeeded', async () => {
  const bench = new Bench()
  bench.cluster.before = (method) => {
    if (method !== 'finishApplicationMaster') return
    bench.cluster.state = State.KILLED
    bench.cluster.diagnostics = 'killed by user bob'
    throw new RemoteError(JavaClass.INVALID_APPLICATION_MASTER_REQUEST, "Application doesn't exist in cache x")
  }
  const { error } = await bench.run()
  assertRunError(error, RunExitCode.KILLED, /killed by user bob/)
})
