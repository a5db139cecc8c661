import type { Clock } from '../base/clock.ts'
import type { ApplicationId } from '../protocol/ids.ts'
import type { hadoop } from '../protocol/messages.ts'

/** The record that the store keeps of an application; the log handler finds credentials, ACLs and its context there. */
export type ApplicationRecord = hadoop.yarn.ContainerManagerApplicationProto.$Properties

/** What is done with an application's logs. Source: LogHandler and its events. */
export interface LogHandling {
  /** @returns when it began, milliseconds. Rejects when there will be no logs. */
  applicationStarted(id: ApplicationId, record: ApplicationRecord): Promise<number>
  /** Resolves when nothing more is to be done with the logs. */
  applicationFinished(id: ApplicationId): Promise<void>
}

/** Logs stay where the containers wrote them. */
export function localLogHandling(clock: Clock): LogHandling {
  return {
    applicationStarted: () => Promise.resolve(clock.now()),
    applicationFinished: () => Promise.resolve(),
  }
}
