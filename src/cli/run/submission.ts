/** The client's side of an application: ApplicationClientProtocol from getNewApplication to the final report. */
import type { Clock } from '../../base/clock.ts'
import type { applicationClient } from '../../protocol/application-client.ts'
import { applicationIdFromProto, applicationIdToProto, type ApplicationId } from '../../protocol/ids.ts'
import { hadoop } from '../../protocol/messages.ts'
import { JavaClass } from '../../protocol/remote-error.ts'
import { resourceFromProto, resourceText } from '../../protocol/resource.ts'
import type { RpcCaller } from '../../protocol/rpc-caller.ts'
import { tokenFromProto, type Token } from '../../security/token.ts'
import { RunExitCode, RunError } from './exit-codes.ts'
import type { RunOptions } from './options.ts'
import { atResourceManager, isRemote, resourceManagerError } from './resource-manager-errors.ts'

type Report = hadoop.yarn.ApplicationReportProto.$Properties
type SubmissionContext = hadoop.yarn.ApplicationSubmissionContextProto.$Properties

const { YarnApplicationStateProto: State, FinalApplicationStatusProto: FinalStatus } = hadoop.yarn

export type ApplicationClient = RpcCaller<typeof applicationClient.methods>

const APPLICATION_TYPE = 'BOBBIN'
/** Java: `yarn.client.application-client-protocol.poll-interval-ms`, 200 ms. */
const POLL_INTERVAL_MS = 200
/** How long the ResourceManager is given to show the end of an application that is over. */
const FINAL_REPORT_PATIENCE_MS = 10_000

export interface SubmissionOptions {
  readonly client: ApplicationClient
  readonly clock: Clock
}

/** Where an application that is over ended. */
export interface FinalReport {
  readonly state: 'FINISHED' | 'FAILED' | 'KILLED'
  /** `SUCCEEDED`, `FAILED`, `KILLED`, `UNDEFINED` */
  readonly finalStatus: string
  readonly diagnostics: string
}

/** One application, as its submitter sees it. */
export class Submission {
  readonly id: ApplicationId
  readonly #context: SubmissionContext
  readonly #client: ApplicationClient
  readonly #clock: Clock

  private constructor(id: ApplicationId, context: SubmissionContext, { client, clock }: SubmissionOptions) {
    this.id = id
    this.#context = context
    this.#client = client
    this.#clock = clock
  }

  /** Gets an id; @throws RunError when the cluster has no room for such a container at all, or can not be reached */
  static async create(run: RunOptions, options: SubmissionOptions, signal: AbortSignal): Promise<Submission> {
    const created = await atResourceManager('getNewApplication', options.client.call('getNewApplication', {}, signal))
    checkSize(run, created)
    const id = applicationIdFromProto(created.applicationId)
    return new Submission(id, submissionContext(id, run), options)
  }

  async submit(signal: AbortSignal): Promise<void> {
    const request = { applicationSubmissionContext: this.#context }
    await atResourceManager('submitApplication', this.#client.call('submitApplication', request, signal))
  }

  /**
   * Waits until the application may register its ApplicationMaster.
   * @param onWaiting is told the ResourceManager's reason, when there is one and it changes
   * @returns the token to log in with at the scheduler port; only the submitter gets it, once the attempt is launched
   */
  async awaitLogin(onWaiting: (reason: string) => void, signal: AbortSignal): Promise<Token> {
    for (let told = ''; ;) {
      const report = await this.#report(signal)
      if (report?.amRmToken !== null && report?.amRmToken !== undefined) return tokenFromProto(report.amRmToken)
      const final = report === undefined ? undefined : finalReport(report)
      if (final !== undefined) throw endedError(this.id, final)
      const reason = report?.diagnostics ?? ''
      if (reason !== '' && reason !== told) onWaiting(reason)
      told = reason
      await this.#clock.sleep(POLL_INTERVAL_MS, signal)
      signal.throwIfAborted()
    }
  }

  /** A ResourceManager that took over before it stored the submission does not know it: it gets it once more. */
  async #report(signal: AbortSignal): Promise<Report | undefined> {
    const request = { applicationId: applicationIdToProto(this.id) }
    try {
      const response = await this.#client.call('getApplicationReport', request, signal)
      return response.applicationReport ?? undefined
    } catch (thrown) {
      if (!isRemote(thrown, JavaClass.APPLICATION_NOT_FOUND)) throw resourceManagerError('getApplicationReport', thrown)
      await this.submit(signal)
      return undefined
    }
  }

  /** @returns undefined when the application is not over, some seconds later either */
  async awaitEnd(signal: AbortSignal): Promise<FinalReport | undefined> {
    const deadline = this.#clock.monotonicMs() + FINAL_REPORT_PATIENCE_MS
    for (;;) {
      const request = { applicationId: applicationIdToProto(this.id) }
      const call = this.#client.call('getApplicationReport', request, signal)
      const { applicationReport } = await atResourceManager('getApplicationReport', call)
      const final = finalReport(applicationReport ?? {})
      if (final !== undefined || this.#clock.monotonicMs() >= deadline) return final
      await this.#clock.sleep(POLL_INTERVAL_MS, signal)
      signal.throwIfAborted()
    }
  }

  /** Kills the application; harmless when it is over or unknown. Resolves when its end has been stored. */
  async kill(diagnostics: string, signal: AbortSignal): Promise<void> {
    while (!(await this.#killOnce(diagnostics, signal))) {
      await this.#clock.sleep(POLL_INTERVAL_MS, signal)
      signal.throwIfAborted()
    }
  }

  async #killOnce(diagnostics: string, signal: AbortSignal): Promise<boolean> {
    const request = { applicationId: applicationIdToProto(this.id), diagnostics }
    try {
      const response = await this.#client.call('forceKillApplication', request, signal)
      return response.isKillCompleted ?? false
    } catch (thrown) {
      if (isRemote(thrown, JavaClass.APPLICATION_NOT_FOUND)) return true
      throw resourceManagerError('forceKillApplication', thrown)
    }
  }
}

function submissionContext(id: ApplicationId, run: RunOptions): SubmissionContext {
  return {
    applicationId: applicationIdToProto(id),
    applicationName: run.name,
    queue: run.queue,
    priority: { priority: 0 },
    // The ResourceManager starts no master, yet it reads the access lists of its launch context.
    amContainerSpec: {},
    unmanagedAm: true,
    maxAppAttempts: 1,
    applicationType: APPLICATION_TYPE,
  }
}

function checkSize(run: RunOptions, created: hadoop.yarn.GetNewApplicationResponseProto.$Properties): void {
  if (created.maximumCapability === null || created.maximumCapability === undefined) return
  const maximum = resourceFromProto(created.maximumCapability)
  if (run.resource.memoryMb <= maximum.memoryMb && run.resource.vcores <= maximum.vcores) return
  const asked = `a container of ${resourceText(run.resource)} was asked for (--memory, --vcores)`
  throw new RunError(RunExitCode.REFUSED, `${asked}, but the cluster's largest is ${resourceText(maximum)}`)
}

function finalReport(report: Report): FinalReport | undefined {
  const state = finalState(report.yarnApplicationState)
  if (state === undefined) return undefined
  return { state, finalStatus: finalStatusText(report.finalApplicationStatus), diagnostics: report.diagnostics ?? '' }
}

function finalState(state: Report['yarnApplicationState']): FinalReport['state'] | undefined {
  if (state === State.FINISHED) return 'FINISHED'
  if (state === State.FAILED) return 'FAILED'
  return state === State.KILLED ? 'KILLED' : undefined
}

function finalStatusText(status: Report['finalApplicationStatus']): string {
  const name = FinalStatus[status ?? FinalStatus.APP_UNDEFINED] ?? ''
  return name.replace(/^APP_/, '')
}

/** For an application that ended without its master having finished it. */
export function endedError(id: ApplicationId, { state, diagnostics }: FinalReport): RunError {
  const code = state === 'KILLED' ? RunExitCode.KILLED : RunExitCode.REFUSED
  const how = state === 'KILLED' ? 'was killed' : `ended as ${state}`
  return new RunError(code, `${id} ${how}: ${diagnostics.trim() || 'the ResourceManager gave no reason'}`)
}
