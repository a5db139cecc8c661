/** `bobbin run`, without its command line: submits, follows, and answers with the exit code. */
import { setMaxListeners } from 'node:events'
import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { hadoop } from '../../protocol/messages.ts'
import type { Token } from '../../security/token.ts'
import { ApplicationMaster } from './application-master.ts'
import { launchContext } from './container-launch.ts'
import type { ConnectNode } from './container-start.ts'
import { RunExitCode, exitCodeOf, exitStatusText, RunError } from './exit-codes.ts'
import type { ContainerLogs } from './node-logs.ts'
import type { RunOptions } from './options.ts'
import type { OutputSink } from './output.ts'
import type { ExitedContainer, RunReporter } from './report.ts'
import { AttemptOver, SchedulerSession, type Scheduler } from './scheduler-session.ts'
import { endedError, Submission, type ApplicationClient } from './submission.ts'

/** How a run reaches the cluster. Callers close what they are given. */
export interface Connections {
  client(): ApplicationClient
  scheduler(token: Token): Scheduler
  readonly node: ConnectNode
}

export interface RunDependencies {
  readonly connections: Connections
  readonly logs: ContainerLogs
  readonly output: OutputSink
  readonly reporter: RunReporter
  readonly clock: Clock
  /** Aborted with a RunError: the application is killed and that error thrown. */
  readonly signal: AbortSignal
}

/** How long the ResourceManager is given to kill the application of a run that can not go on. */
const KILL_PATIENCE_MS = 10_000
/** Diagnostics are kept by the ResourceManager; of many containers the first few tell enough. */
const MAX_DIAGNOSED = 10

/**
 * Runs the command in its containers.
 * @returns the exit code: 0, the single container's own, or 1
 * @throws RunError, with its exit code, when the run could not be carried through; the application is over then, or the
 *   reporter was warned that it could not be killed
 */
export async function runCommand(options: RunOptions, dependencies: RunDependencies): Promise<number> {
  const { connections, clock } = dependencies
  const context = await launchContext(options)
  const deadline = new AbortController()
  const timer = startTimer(options.timeoutMs, deadline, clock)
  const signal = AbortSignal.any([dependencies.signal, deadline.signal])
  setMaxListeners(0, signal)
  const client = connections.client()
  try {
    const submission = await Submission.create(options, { client, clock }, signal)
    try {
      return await carryThrough(submission, options, context, dependencies, signal)
    } catch (thrown) {
      throw await giveUp(submission, thrown, dependencies)
    }
  } finally {
    timer?.cancel()
    client.close()
  }
}

function startTimer(timeoutMs: number | undefined, deadline: AbortController, clock: Clock) {
  if (timeoutMs === undefined) return undefined
  const error = new RunError(RunExitCode.TIMED_OUT, `not finished after ${timeoutMs / 1000} s (--timeout)`)
  return clock.schedule(timeoutMs, () => deadline.abort(error))
}

async function carryThrough(
  submission: Submission,
  options: RunOptions,
  context: hadoop.yarn.ContainerLaunchContextProto.$Properties,
  { connections, logs, output, reporter, clock }: RunDependencies,
  signal: AbortSignal,
): Promise<number> {
  await submission.submit(signal)
  reporter.submitted(submission.id)
  const token = await submission.awaitLogin((reason) => reporter.waiting(reason), signal)
  reporter.accepted(submission.id)
  const session = new SchedulerSession({ connect: (token) => connections.scheduler(token), token, clock })
  try {
    const work = { containers: options.containers, resource: options.resource, launchContext: context }
    const master = new ApplicationMaster(work, {
      session,
      connectNode: connections.node,
      logs,
      output,
      reporter,
      clock,
    })
    const ends = await master.run(signal)
    await session.finish(finalStatus(ends), signal)
    const final = await submission.awaitEnd(signal)
    if (final !== undefined && final.state !== 'FINISHED') throw endedError(submission.id, final)
    reporter.finished(submission.id, final?.finalStatus ?? 'its end is not yet shown by the ResourceManager')
    return exitCodeOf(ends.map((end) => end.exitStatus))
  } finally {
    session.close()
  }
}

function finalStatus(ends: readonly ExitedContainer[]): hadoop.yarn.FinishApplicationMasterRequestProto.$Properties {
  const failed = ends.filter((end) => end.exitStatus !== 0)
  const { APP_SUCCEEDED, APP_FAILED } = hadoop.yarn.FinalApplicationStatusProto
  const told = failed.slice(0, MAX_DIAGNOSED).map((end) => `${end.id} ended with ${exitStatusText(end.exitStatus)}`)
  const heading = failed.length === 0 ? [] : [`${failed.length} of ${ends.length} containers failed`]
  return {
    finalApplicationStatus: failed.length === 0 ? APP_SUCCEEDED : APP_FAILED,
    diagnostics: [...heading, ...told].join('\n'),
    trackingUrl: '',
  }
}

/** Ends the application. @returns the error to throw */
async function giveUp(submission: Submission, thrown: unknown, { clock, reporter }: RunDependencies): Promise<unknown> {
  const late = new AbortController()
  const error = new Error(`no answer within ${KILL_PATIENCE_MS / 1000} s`)
  const timer = clock.schedule(KILL_PATIENCE_MS, () => late.abort(error))
  try {
    if (thrown instanceof AttemptOver) {
      const final = await submission.awaitEnd(late.signal)
      if (final !== undefined) return endedError(submission.id, final)
    }
    await submission.kill(`bobbin run: ${messageOf(thrown)}`, late.signal)
  } catch (failure) {
    reporter.warned(`${submission.id} could not be killed and may still run: ${messageOf(failure)}`)
  } finally {
    timer.cancel()
  }
  return thrown
}
