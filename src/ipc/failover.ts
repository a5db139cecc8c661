/**
 * Calls whichever ResourceManager is active, for as long as the configuration allows.
 * Source: RMProxy.createRetryPolicy, RetryPolicies, ConfiguredRMFailoverProxyProvider of Hadoop.
 */
import { BobbinError, Bug, messageOf } from '../base/errors.ts'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { addressText } from '../config/addresses.ts'
import type {
  Address,
  IpcClientConfig,
  ResourceManagerConfig,
  ResourceManagerMember,
} from '../config/node-manager-config.ts'
import { JavaClass, RemoteError } from '../protocol/remote-error.ts'
import type { RpcCaller } from '../protocol/rpc-caller.ts'
import type { RequestOf, ResponseOf, RpcMethods, RpcProtocol } from '../protocol/rpc-protocol.ts'
import { IpcConnection, type Login } from './client.ts'
import { IpcErrorCode, UnreachableError } from './errors.ts'

export interface ResourceManagerConnectionOptions<M extends RpcMethods> {
  readonly protocol: RpcProtocol<M>
  readonly resourceManager: ResourceManagerConfig
  /** Which port of a member serves the protocol: `(member) => member.resourceTracker`. */
  readonly addressOf: (member: ResourceManagerMember) => Address
  readonly login: Login
  readonly ipcClient: IpcClientConfig
  readonly clock: Clock
  readonly log: Log
}

interface Reached<M extends RpcMethods> {
  readonly address: string
  readonly connection: IpcConnection<M>
}

/**
 * Without HA a call is repeated after a pause; with HA the next ResourceManager of the list is asked, and stays the
 * one that is asked. What a ResourceManager answers is not repeated, unless it says that it is a standby or that the
 * call may be.
 */
export class ResourceManagerConnection<M extends RpcMethods> implements RpcCaller<M> {
  readonly #options: ResourceManagerConnectionOptions<M>
  readonly #members: readonly Reached<M>[]
  #active = 0

  constructor(options: ResourceManagerConnectionOptions<M>) {
    this.#options = options
    const { protocol, resourceManager, addressOf, login, clock, log } = options
    const config = ipcSettings(options.ipcClient, resourceManager)
    this.#members = resourceManager.members.map((member) => {
      const address = addressOf(member)
      return {
        address: addressText(address),
        connection: new IpcConnection(protocol, address, login, { config, clock, log }),
      }
    })
  }

  /** host:port of the one that is asked. */
  get address(): string {
    return this.#member(this.#active).address
  }

  /** @throws UnreachableError (ERR_RM_UNREACHABLE) when the configured time or attempts are used up */
  async call<N extends keyof M & string>(
    method: N,
    request: RequestOf<M[N]>,
    signal?: AbortSignal,
  ): Promise<ResponseOf<M[N]>> {
    const { clock, log } = this.#options
    const beganMs = clock.monotonicMs()
    for (let failures = 0; ; failures++) {
      const index = this.#active
      const { address, connection } = this.#member(index)
      try {
        return await connection.call(method, request, signal)
      } catch (thrown) {
        signal?.throwIfAborted()
        if (!mayHeal(thrown)) throw thrown
        if (failures >= this.#maxRetries()) {
          const addresses = this.#members.map((member) => member.address)
          throw new UnreachableError(addresses, clock.monotonicMs() - beganMs, failures + 1, thrown)
        }
        this.#failOverFrom(index, thrown)
        const pauseMs = this.#pauseMs(failures)
        const what = thrown instanceof RemoteError ? `${method} at ${address}: ${thrown.message}` : messageOf(thrown)
        const next = this.#active === index ? 'again' : `at ${this.address}`
        log.warn(`${what}; trying ${next} in ${Math.round(pauseMs)} ms`)
        await clock.sleep(pauseMs, signal)
        signal?.throwIfAborted()
      }
    }
  }

  close(): void {
    for (const { connection } of this.#members) connection.close()
  }

  #member(index: number): Reached<M> {
    const member = this.#members[index]
    if (member === undefined) throw new Bug('a ResourceManager connection without a ResourceManager')
    return member
  }

  /** Only from the one that failed: another call may have moved on already. */
  #failOverFrom(index: number, thrown: unknown): void {
    if (!this.#options.resourceManager.isHa || isRetriable(thrown) || this.#active !== index) return
    this.#active = (index + 1) % this.#members.length
  }

  #maxRetries(): number {
    const { isHa, retry } = this.#options.resourceManager
    if (isHa && retry.failoverMaxAttempts !== -1) return retry.failoverMaxAttempts
    if (retry.maxWaitMs < 0) return Infinity
    if (retry.maxWaitMs < retry.retryIntervalMs) return 0
    return Math.floor(retry.maxWaitMs / Math.max(1, isHa ? retry.failoverSleepBaseMs : retry.retryIntervalMs))
  }

  /** With HA at once the first time, then longer and longer with a jitter of a half, as RetryPolicies does. */
  #pauseMs(failures: number): number {
    const { isHa, retry } = this.#options.resourceManager
    if (!isHa) return retry.retryIntervalMs
    if (failures === 0) return 0
    const base = Math.min(retry.failoverSleepBaseMs * 2 ** failures, retry.failoverSleepMaxMs)
    return base * (0.5 + Math.random())
  }
}

/** RMProxy and HAUtil: with HA the attempts on one member are few, for the next is waiting. */
function ipcSettings(config: IpcClientConfig, { isHa, retry }: ResourceManagerConfig): IpcClientConfig {
  if (!isHa) return config
  return {
    ...config,
    connectMaxRetries: retry.failoverRetries,
    connectMaxRetriesOnTimeouts: retry.failoverRetriesOnTimeouts,
  }
}

const HEALING_CODES: ReadonlySet<string> = new Set([
  IpcErrorCode.CONNECT,
  IpcErrorCode.CONNECT_TIMEOUT,
  IpcErrorCode.CONNECTION_LOST,
  IpcErrorCode.CALL_TIMEOUT,
  IpcErrorCode.BAD_RESPONSE,
])

/** Whether the same call may work later, or at another member. */
function mayHeal(thrown: unknown): boolean {
  if (thrown instanceof RemoteError) return thrown.className === JavaClass.STANDBY || isRetriable(thrown)
  return thrown instanceof BobbinError && HEALING_CODES.has(thrown.code)
}

function isRetriable(thrown: unknown): boolean {
  return thrown instanceof RemoteError && thrown.className === JavaClass.RETRIABLE
}
