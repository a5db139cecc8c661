import type { ApplicationId } from '../protocol/ids.ts'
import type { hadoop } from '../protocol/messages.ts'

/** The record that the store keeps of an application; the log handler finds credentials, ACLs and its context there. */
export type ApplicationRecord = hadoop.yarn.ContainerManagerApplicationProto.$Properties

/** What is done with an application's logs. Source: LogHandler and its events. */
export interface LogHandling {
  /** @returns when it began, milliseconds. Rejects when there will be no logs. */
  applicationStarted(id: ApplicationId, record: ApplicationRecord): Promise<number>
  /** Resolves when nothing more is to be done with the logs, which may be hours later: only then the application goes. */
  applicationFinished(id: ApplicationId, user: string): Promise<void>
}
