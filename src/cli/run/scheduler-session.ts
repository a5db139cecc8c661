/** The ApplicationMaster's talk with the ResourceManager: ApplicationMasterProtocol, from registration to the end. */
import type { Clock } from '../../base/clock.ts'
import type { applicationMaster } from '../../protocol/application-master.ts'
import type { hadoop } from '../../protocol/messages.ts'
import { JavaClass } from '../../protocol/remote-error.ts'
import type { RpcCaller } from '../../protocol/rpc-caller.ts'
import { tokenFromProto, type Token } from '../../security/token.ts'
import { RunExitCode, RunError } from './exit-codes.ts'
import { isRemote, resourceManagerError } from './resource-manager-errors.ts'

type AllocateRequest = hadoop.yarn.AllocateRequestProto.$Properties
type FinishRequest = hadoop.yarn.FinishApplicationMasterRequestProto.$Properties
export type AllocateResponse = hadoop.yarn.AllocateResponseProto.$Properties
export type Scheduler = RpcCaller<typeof applicationMaster.methods>

/** Java: AMRMClientImpl.unregisterApplicationMaster, 100 ms. */
const FINISH_INTERVAL_MS = 100

/** Source: ApplicationMasterService.registerApplicationMaster. */
const ALREADY_REGISTERED = 'Application Master is already registered'

/** The ResourceManager has ended the attempt: the application was killed, failed or expired. */
export class AttemptOver extends RunError {
  constructor(message: string, cause: unknown) {
    super(RunExitCode.REFUSED, message, cause)
  }
}

export interface SchedulerSessionOptions {
  /** A connection to the active ResourceManager's scheduler port, logged in with the token. */
  readonly connect: (token: Token) => Scheduler
  readonly token: Token
  readonly clock: Clock
}

export class SchedulerSession {
  readonly #connect: (token: Token) => Scheduler
  readonly #clock: Clock
  #scheduler: Scheduler
  /** The last one that came; it also makes a repeated call harmless. */
  #responseId = 0

  constructor({ connect, token, clock }: SchedulerSessionOptions) {
    this.#connect = connect
    this.#clock = clock
    this.#scheduler = connect(token)
  }

  /** Also again, after a restart of the ResourceManager. */
  async register(signal: AbortSignal): Promise<void> {
    // No port to call us on and no page to show: host empty, port −1. Java: RegisterApplicationMasterRequest.
    const request = { host: '', rpcPort: -1, trackingUrl: '' }
    try {
      await this.#scheduler.call('registerApplicationMaster', request, signal)
    } catch (thrown) {
      if (!isRegistered(thrown)) throw schedulerError('registerApplicationMaster', thrown)
    }
    this.#responseId = 0
  }

  /**
   * One heartbeat.
   * @returns undefined when the ResourceManager was restarted: it has been registered with again, and needs to be told
   *   all that is still wanted or released
   */
  async allocate(
    request: Omit<AllocateRequest, 'responseId'>,
    signal: AbortSignal,
  ): Promise<AllocateResponse | undefined> {
    try {
      const response = await this.#scheduler.call('allocate', { ...request, responseId: this.#responseId }, signal)
      this.#responseId = response.responseId ?? 0
      if (response.amRmToken !== null && response.amRmToken !== undefined)
        this.#renew(tokenFromProto(response.amRmToken))
      return response
    } catch (thrown) {
      if (!isRemote(thrown, JavaClass.APPLICATION_MASTER_NOT_REGISTERED)) throw schedulerError('allocate', thrown)
      await this.register(signal)
      return undefined
    }
  }

  /** Ends the attempt; repeated until the ResourceManager has stored it. */
  async finish(request: FinishRequest, signal: AbortSignal): Promise<void> {
    while (!(await this.#finishOnce(request, signal))) {
      await this.#clock.sleep(FINISH_INTERVAL_MS, signal)
      signal.throwIfAborted()
    }
  }

  close(): void {
    this.#scheduler.close()
  }

  async #finishOnce(request: FinishRequest, signal: AbortSignal): Promise<boolean> {
    try {
      const response = await this.#scheduler.call('finishApplicationMaster', request, signal)
      return response.isUnregistered ?? false
    } catch (thrown) {
      if (isRemote(thrown, JavaClass.APPLICATION_MASTER_NOT_REGISTERED)) {
        await this.register(signal)
        return false
      }
      const error = schedulerError('finishApplicationMaster', thrown)
      // An earlier call may have arrived without its answer coming back. How it ended, the report says.
      if (error instanceof AttemptOver) return true
      throw error
    }
  }

  /** The key behind the old token is about to be given up: the next connection needs the new one. */
  #renew(token: Token): void {
    const old = this.#scheduler
    this.#scheduler = this.#connect(token)
    old.close()
  }
}

/** A call that is repeated because its answer was lost has been carried out. */
function isRegistered(thrown: unknown): boolean {
  return isRemote(thrown, JavaClass.INVALID_APPLICATION_MASTER_REQUEST) && thrown.message.includes(ALREADY_REGISTERED)
}

function schedulerError(method: string, thrown: unknown): RunError {
  const isOver = isRemote(
    thrown,
    JavaClass.APPLICATION_ATTEMPT_NOT_FOUND,
    JavaClass.INVALID_APPLICATION_MASTER_REQUEST,
    JavaClass.INVALID_TOKEN,
  )
  return isOver ? new AttemptOver(thrown.message.trim(), thrown) : resourceManagerError(method, thrown)
}
