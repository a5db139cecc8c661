import type { Clock } from '../base/clock.ts'
import { Bug, messageOf } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Tasks } from '../base/tasks.ts'
import { applicationOfAttempt, attemptId, type ApplicationAttemptId, type NodeId } from '../protocol/ids.ts'
import type { hadoop } from '../protocol/messages.ts'
import { RemoteError } from '../protocol/remote-error.ts'
import type { AmrmTokens } from '../security/rm-amrm-tokens.ts'
import type { RmNMTokens } from '../security/rm-tokens.ts'
import type { Token } from '../security/token.ts'
import type { AmLauncher } from './am-launcher.ts'
import type { ApplicationEffects, RmApplication } from './application.ts'
import { RmAttempt, type AttemptEffects } from './attempt.ts'
import type { ContainerTokenMaker } from './container-tokens.ts'
import type { RmContainer } from './containers.ts'
import { masterLaunchContext } from './launch-context.ts'
import { LivenessMonitor } from './liveness.ts'
import type { MasterSessions } from './master-session.ts'
import type { RmNodes } from './nodes.ts'
import type { FifoScheduler, SchedulerListener } from './scheduler.ts'

export interface LifecycleOptions {
  readonly nodes: RmNodes
  readonly scheduler: FifoScheduler
  readonly sessions: MasterSessions
  readonly amrmTokens: AmrmTokens
  readonly nmTokens: RmNMTokens
  readonly containerTokens: ContainerTokenMaker
  readonly launcher: AmLauncher
  readonly findApplication: (id: ReturnType<typeof applicationOfAttempt>) => RmApplication | undefined
  readonly masterExpiryMs: number
  /** `http://<rm web>`; known once the port is. */
  readonly webUrl: () => string
  readonly tasks: Tasks
  readonly clock: Clock
  readonly log: Log
}

/** What follows from the steps of applications, attempts and containers: it ties them to scheduler, nodes and masters. */
export class Lifecycle implements ApplicationEffects, AttemptEffects, SchedulerListener {
  readonly #options: LifecycleOptions
  readonly #masters: LivenessMonitor<ApplicationAttemptId>
  /** Unregistered, and its container has not ended yet. */
  readonly #finishing: LivenessMonitor<ApplicationAttemptId>
  readonly #stopping = new AbortController()

  constructor(options: LifecycleOptions) {
    this.#options = options
    const { masterExpiryMs, clock } = options
    const onExpired = (id: ApplicationAttemptId) => this.#attempt(id)?.send({ type: 'EXPIRED' })
    this.#masters = new LivenessMonitor({ expiryMs: masterExpiryMs, clock, onExpired })
    this.#finishing = new LivenessMonitor({ expiryMs: masterExpiryMs, clock, onExpired })
  }

  start(): void {
    this.#masters.start()
    this.#finishing.start()
  }

  /** Calls to nodes that are under way are given up. */
  stop(): void {
    this.#stopping.abort()
    this.#masters.stop()
    this.#finishing.stop()
  }

  /** The master has called. */
  ping(id: ApplicationAttemptId): void {
    this.#masters.ping(id)
  }

  // ---- of applications -----------------------------------------------------------------------------------------

  startAttempt(application: RmApplication, number: number, add: (attempt: RmAttempt) => void): void {
    const { clock, log, webUrl } = this.#options
    const attempt = new RmAttempt({
      id: attemptId(application.id, number),
      number,
      submission: application.submission,
      applicationUrl: `${webUrl()}/cluster/app/${application.id}`,
      effects: this,
      clock,
      log,
    })
    add(attempt)
    attempt.start()
  }

  over(application: RmApplication): void {
    for (const nodeId of application.nodeIds)
      this.#options.nodes.findActive(nodeId)?.orders.applicationsToCleanup.add(application.id)
  }

  // ---- of attempts ---------------------------------------------------------------------------------------------

  begin(attempt: RmAttempt): Token {
    const { sessions, scheduler, amrmTokens } = this.#options
    const application = this.#application(attempt.id)
    sessions.open(application, attempt)
    const scheduled = scheduler.add({
      id: attempt.id,
      user: application.user,
      order: application.order,
      isMasterWanted: !attempt.isUnmanaged,
    })
    scheduled.asks.update(application.submission.masterAsks)
    const token = amrmTokens.createAmrmToken(attempt.id)
    scheduler.schedule()
    return token
  }

  launch(attempt: RmAttempt, container: RmContainer): void {
    const { tasks, log } = this.#options
    const application = this.#application(attempt.id)
    tasks.run(`launch of ${attempt.id}`, async () => {
      try {
        await this.#launch(application, attempt, container)
        if (application.launchTime === 0) application.launchTime = this.#options.clock.now()
        attempt.send({ type: 'LAUNCHED' })
      } catch (error) {
        if (error instanceof Bug) throw error
        if (this.#stopping.signal.aborted) return
        log.warn({ err: error }, `Error launching ${attempt.id} in ${container.id} on ${container.fields.nodeId}`)
        const diagnostics = `Error launching ${attempt.id}. Got exception: ${exceptionText(error)}`
        attempt.send({ type: 'LAUNCH_FAILED', payload: { diagnostics } })
      }
    })
  }

  watch(attempt: RmAttempt): void {
    this.#masters.watch(attempt.id)
  }

  registered(attempt: RmAttempt): void {
    this.#application(attempt.id).send({ type: 'ATTEMPT_REGISTERED' })
  }

  unregistered(attempt: RmAttempt): void {
    this.#masters.forget(attempt.id)
    if (!attempt.isUnmanaged) this.#finishing.watch(attempt.id)
    this.#application(attempt.id).send({ type: 'ATTEMPT_UNREGISTERED', payload: { attempt } })
  }

  end(attempt: RmAttempt): void {
    const { sessions, scheduler, amrmTokens, nmTokens } = this.#options
    const { id, masterContainer } = attempt
    sessions.close(id)
    amrmTokens.attemptFinished(id)
    this.#masters.forget(id)
    this.#finishing.forget(id)
    for (const { nodeId, containerId } of attempt.takeAllCompletions()) this.#forgetOnNode(nodeId, containerId)
    if (masterContainer !== undefined && !attempt.isMasterOver) this.#stopMaster(attempt, masterContainer)
    scheduler.remove(id)
    nmTokens.attemptFinished(id)
  }

  failed(attempt: RmAttempt, diagnostics: string): void {
    this.#application(attempt.id).send({ type: 'ATTEMPT_FAILED', payload: { attempt, diagnostics } })
  }

  finished(attempt: RmAttempt): void {
    this.#application(attempt.id).send({ type: 'ATTEMPT_FINISHED' })
  }

  // ---- of containers -------------------------------------------------------------------------------------------

  masterAllocated(container: RmContainer): void {
    const { attemptId, nodeId } = container.fields
    this.#application(attemptId).nodeIds.add(nodeId)
    this.#attempt(attemptId)?.send({ type: 'CONTAINER_ALLOCATED', payload: { container } })
  }

  containerCompleted(container: RmContainer, status: hadoop.yarn.ContainerStatusProto.$Properties): void {
    const { id } = container
    const { attemptId, nodeId, isMaster } = container.fields
    this.#options.findApplication(applicationOfAttempt(attemptId))?.countUsage(container)
    const session = this.#options.sessions.find(attemptId)
    if (session !== undefined && !isMaster) {
      session.attempt.addCompletion({ containerId: id, nodeId, status })
      return
    }
    // Nobody will pull it: its node need not keep it.
    this.#forgetOnNode(nodeId, id)
    if (!isMaster) return
    const payload = { exitStatus: status.exitStatus ?? 0, diagnostics: status.diagnostics ?? '' }
    this.#attempt(attemptId)?.send({ type: 'CONTAINER_FINISHED', payload })
  }

  async #launch(application: RmApplication, attempt: RmAttempt, container: RmContainer): Promise<void> {
    const { launcher, nmTokens, containerTokens, nodes } = this.#options
    const { nodeId, user } = container.fields
    const nmToken = nmTokens.createNMToken(attempt.id, nodeId, user, nodes.find(nodeId)?.tokenService)
    // The master gets a token for its own node like for any other.
    nmTokens.clearNodes(attempt.id)
    const launch = {
      nodeId,
      containerId: container.id,
      nmToken,
      containerToken: containerTokens.make(container, application.submission.logAggregationContext),
      launchContext: masterLaunchContext(application, attempt),
    }
    await launcher.launch(launch, this.#stopping.signal)
  }

  #stopMaster(attempt: RmAttempt, container: RmContainer): void {
    const { launcher, nmTokens, nodes, tasks, log } = this.#options
    const { nodeId, user } = container.fields
    const node = nodes.findActive(nodeId)
    if (node === undefined) return
    const token = nmTokens.createNMToken(attempt.id, nodeId, user, node.tokenService)
    tasks.run(`stop of ${container.id}`, async () => {
      try {
        await launcher.stop(nodeId, container.id, token, this.#stopping.signal)
      } catch (error) {
        if (error instanceof Bug) throw error
        // The container is in the node's clean-up list as well, which its next heartbeat brings.
        log.warn(`Could not stop ${container.id} of ${attempt.id} on ${nodeId} directly: ${messageOf(error)}`)
      }
    })
  }

  #forgetOnNode(nodeId: NodeId, containerId: RmContainer['id']): void {
    this.#options.nodes.findActive(nodeId)?.orders.containersToForget.add(containerId)
  }

  #application(id: ApplicationAttemptId): RmApplication {
    const application = this.#options.findApplication(applicationOfAttempt(id))
    if (application === undefined) throw new Bug(`${id} belongs to no application that is known`)
    return application
  }

  #attempt(id: ApplicationAttemptId): RmAttempt | undefined {
    return this.#options.findApplication(applicationOfAttempt(id))?.findAttempt(id)
  }
}

function exceptionText(error: unknown): string {
  return error instanceof RemoteError ? `${error.className}: ${error.message}` : messageOf(error)
}
