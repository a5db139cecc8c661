/** The ApplicationMaster of a run: gets the containers, starts them, waits for their ends. */
import { setMaxListeners } from 'node:events'
import type { Clock } from '../../base/clock.ts'
import { ContainerExitStatus } from '../../protocol/container-exit-status.ts'
import {
  containerIdFromProto,
  containerIdToProto,
  nodeIdFromProto,
  type ContainerId,
  type NodeId,
} from '../../protocol/ids.ts'
import type { hadoop } from '../../protocol/messages.ts'
import { resourceText, type Resource } from '../../protocol/resource.ts'
import { tokenFromProto, type Token } from '../../security/token.ts'
import { orAborted } from './abort.ts'
import { Asks } from './asks.ts'
import { allocatedContainer, startContainer, type AllocatedContainer, type ConnectNode } from './container-start.ts'
import { RunExitCode, exitStatusText, isReplaceable, RunError } from './exit-codes.ts'
import type { ContainerLogs } from './node-logs.ts'
import { OutputFollower } from './output-follower.ts'
import type { OutputSink } from './output.ts'
import type { ExitedContainer, RunReporter } from './report.ts'
import type { AllocateResponse, SchedulerSession } from './scheduler-session.ts'

/** Heartbeats while containers are still to come; Spark's AM asks as often. */
const WAITING_INTERVAL_MS = 200
const RUNNING_INTERVAL_MS = 500
/** How long containers may stay away before it is said. */
const PATIENCE_MS = 5000
/** How often one container is replaced that ended, or could not be started, without its command's fault. */
const MAX_REPLACEMENTS = 3

export interface ApplicationMasterOptions {
  readonly session: SchedulerSession
  readonly connectNode: ConnectNode
  readonly logs: ContainerLogs
  readonly output: OutputSink
  readonly reporter: RunReporter
  readonly clock: Clock
}

export interface Work {
  readonly containers: number
  readonly resource: Resource
  readonly launchContext: hadoop.yarn.ContainerLaunchContextProto.$Properties
}

/** A container of ours and the promise of its end, which may come before the node's answer to its start. */
interface Assigned {
  readonly container: AllocatedContainer
  readonly end: Promise<ExitedContainer>
}

export class ApplicationMaster {
  readonly #work: Work
  readonly #options: ApplicationMasterOptions
  readonly #asks: Asks
  /** Those who wait for a container, in order; as many as are asked for. */
  readonly #takers: ((assigned: Assigned) => void)[] = []
  readonly #running = new Map<ContainerId, (end: ExitedContainer) => void>()
  /** Released and not yet known to have ended. */
  readonly #released = new Set<ContainerId>()
  #unsentReleases: ContainerId[] = []
  readonly #nmTokens = new Map<NodeId, Token>()
  #ended = 0
  #lastArrivalMs: number
  #lastReason = ''

  constructor(work: Work, options: ApplicationMasterOptions) {
    this.#work = work
    this.#options = options
    this.#asks = new Asks(work.resource)
    this.#lastArrivalMs = options.clock.monotonicMs()
  }

  /**
   * Registers and sees everything to its end but the unregistration. To be called once.
   * @returns the ends of all containers, whatever they are
   * @throws RunError when the run can not go on; AttemptOver when the ResourceManager has ended it
   */
  async run(signal: AbortSignal): Promise<ExitedContainer[]> {
    const failure = new AbortController()
    const done = new AbortController()
    const all = AbortSignal.any([signal, failure.signal])
    setMaxListeners(0, all)
    await this.#options.session.register(all)
    const guarded = async <T>(work: Promise<T>): Promise<T> => {
      try {
        return await work
      } catch (thrown) {
        failure.abort(thrown)
        throw thrown
      }
    }
    const numbers = Array.from({ length: this.#work.containers }, (_, index) => index + 1)
    const fills = numbers.map((number) => guarded(this.#fill(number, all)))
    const filled = Promise.allSettled(fills).then(() => done.abort())
    // The first failure ends the others; it is told when they have ended.
    await Promise.allSettled([filled, guarded(this.#beat(done.signal, all))])
    failure.signal.throwIfAborted()
    return await Promise.all(fills)
  }

  /** Sees one of the wanted containers to its end, and its replacements. */
  async #fill(number: number, signal: AbortSignal): Promise<ExitedContainer> {
    for (let replacements = 0; ; replacements++) {
      const { container, end: ending } = await this.#nextContainer(signal)
      const refusal = await this.#start(container, signal)
      if (refusal === undefined) {
        const end = await this.#follow(container, ending, number, signal)
        if (replacements === MAX_REPLACEMENTS || !isReplaceable(end.exitStatus)) {
          this.#ended++
          this.#options.reporter.exited(end)
          return end
        }
        this.#options.reporter.replaced(container.id, exitStatusText(end.exitStatus))
      } else {
        this.#running.delete(container.id)
        this.#release(container.id)
        const reason = `${container.node} did not start it: ${refusal}`
        if (replacements === MAX_REPLACEMENTS) throw new RunError(RunExitCode.ERROR, `${container.id}: ${reason}`)
        this.#options.reporter.replaced(container.id, reason)
      }
    }
  }

  #nextContainer(signal: AbortSignal): Promise<Assigned> {
    this.#asks.add()
    return orAborted(new Promise<Assigned>((resolve) => this.#takers.push(resolve)), signal)
  }

  /** @returns why the node refused, undefined when it did not */
  async #start(container: AllocatedContainer, signal: AbortSignal): Promise<string | undefined> {
    const token = this.#nmTokens.get(container.node)
    if (token === undefined)
      throw new RunError(
        RunExitCode.ERROR,
        `the ResourceManager sent no NM token for ${container.node} (${container.id})`,
      )
    const manager = this.#options.connectNode(container.node, token)
    return await startContainer(container, this.#work.launchContext, manager, signal)
  }

  async #follow(
    container: AllocatedContainer,
    ending: Promise<ExitedContainer>,
    number: number,
    signal: AbortSignal,
  ): Promise<ExitedContainer> {
    const { reporter, logs, output, clock } = this.#options
    const { id, node, nodeHttpAddress } = container
    reporter.started({ id, node, number, total: this.#work.containers })
    const ended = new AbortController()
    const follower = new OutputFollower({ container: id, nodeHttpAddress, logs, output, clock })
    const [end, problem] = await Promise.all([
      orAborted(ending, signal).finally(() => ended.abort()),
      follower.run(ended.signal, signal),
    ])
    if (problem !== undefined)
      reporter.warned(
        `the output of ${id} could not be read in full; it is on ${node}, in its log directory: ${problem}`,
      )
    return end
  }

  /** Heartbeats until nothing is left to wait for. */
  async #beat(done: AbortSignal, signal: AbortSignal): Promise<void> {
    const wake = AbortSignal.any([done, signal])
    while (!done.aborted) {
      const release = this.#unsentReleases.map(containerIdToProto)
      this.#unsentReleases = []
      const progress = this.#ended / this.#work.containers
      const response = await this.#options.session.allocate({ ask: this.#asks.next(), release, progress }, signal)
      if (response === undefined) this.#tellAgain()
      else this.#take(response)
      await this.#options.clock.sleep(this.#asks.wanted > 0 ? WAITING_INTERVAL_MS : RUNNING_INTERVAL_MS, wake)
      signal.throwIfAborted()
    }
  }

  #tellAgain(): void {
    this.#options.reporter.warned('the ResourceManager was restarted; registered again')
    this.#asks.resend()
    this.#unsentReleases = [...this.#released]
  }

  #take(response: AllocateResponse): void {
    for (const { nodeId, token } of response.nmTokens ?? [])
      if (token !== null && token !== undefined) this.#nmTokens.set(nodeIdFromProto(nodeId), tokenFromProto(token))
    for (const status of response.completedContainerStatuses ?? []) this.#complete(status)
    for (const container of response.allocatedContainers ?? []) this.#give(allocatedContainer(container))
    this.#sayIfWaiting(response.numClusterNodes ?? 0)
  }

  #complete(status: hadoop.yarn.ContainerStatusProto.$Properties): void {
    const id = containerIdFromProto(status.containerId)
    this.#released.delete(id)
    const end = {
      id,
      exitStatus: status.exitStatus ?? ContainerExitStatus.INVALID,
      diagnostics: status.diagnostics ?? '',
    }
    this.#running.get(id)?.(end)
    this.#running.delete(id)
  }

  #give(container: AllocatedContainer): void {
    this.#lastArrivalMs = this.#options.clock.monotonicMs()
    const taker = this.#asks.take() ? this.#takers.shift() : undefined
    if (taker === undefined) this.#release(container.id)
    else taker({ container, end: new Promise((resolve) => this.#running.set(container.id, resolve)) })
  }

  #release(id: ContainerId): void {
    this.#released.add(id)
    this.#unsentReleases.push(id)
  }

  #sayIfWaiting(nodes: number): void {
    const { clock, reporter } = this.#options
    if (this.#asks.wanted === 0 || clock.monotonicMs() - this.#lastArrivalMs < PATIENCE_MS) return
    const room = nodes === 0 ? 'no NodeManager has joined the cluster' : `none of the ${nodes} nodes has room now`
    const reason = `${this.#asks.wanted} more containers of ${resourceText(this.#work.resource)} are wanted, ${room}`
    if (reason !== this.#lastReason) reporter.waiting(reason)
    this.#lastReason = reason
  }
}
