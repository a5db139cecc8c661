import { nodeIdFromProto, type ApplicationAttemptId, type NodeId } from '../protocol/ids.ts'
import type { hadoop } from '../protocol/messages.ts'
import type { RmApplication } from './application.ts'
import type { RmAttempt } from './attempt.ts'

type NodeReport = hadoop.yarn.NodeReportProto.$Properties

/** Of the last response; before the master has registered. */
export const NOT_REGISTERED = -1

/** What the ApplicationMaster of one attempt has been told. Source: ApplicationMasterService.responseMap. */
export interface MasterSession {
  readonly application: RmApplication
  readonly attempt: RmAttempt
  responseId: number
  /** Answered again when the master repeats its call. */
  lastResponse: hadoop.yarn.AllocateResponseProto.$Properties | undefined
  /** Of nodes that have become usable or unusable since the last call, the last report: a master may be long in coming. */
  readonly updatedNodes: Map<NodeId, NodeReport>
}

/** The attempts that may call: from their start to their end. */
export class MasterSessions {
  readonly #sessions = new Map<ApplicationAttemptId, MasterSession>()

  open(application: RmApplication, attempt: RmAttempt): void {
    this.#sessions.set(attempt.id, {
      application,
      attempt,
      responseId: NOT_REGISTERED,
      lastResponse: undefined,
      updatedNodes: new Map(),
    })
  }

  close(id: ApplicationAttemptId): void {
    this.#sessions.delete(id)
  }

  find(id: string): MasterSession | undefined {
    // A caller's name is whatever its token says; only an attempt's is in the map.
    return this.#sessions.get(id as ApplicationAttemptId)
  }

  /** Tells every master of a node. */
  nodeUpdated(report: NodeReport): void {
    const id = nodeIdFromProto(report.nodeId)
    for (const { updatedNodes } of this.#sessions.values()) updatedNodes.set(id, report)
  }
}
