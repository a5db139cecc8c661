import type { Log } from '../base/log.ts'
import { applicationOfContainer, type ContainerId } from '../protocol/ids.ts'
import type { Caller } from '../protocol/rpc-caller.ts'

/** One line of the audit log, which tools take apart at tabs and `=`. Source: NMAuditLogger. */
export interface AuditEvent {
  readonly caller: Pick<Caller, 'user' | 'remoteAddress'>
  readonly operation: 'Start Container Request' | 'Stop Container Request'
  readonly containerId: ContainerId
}

/** The lines of what was asked for over the wire. */
export class RequestAudit {
  readonly #log: Log

  /** @param log the logger named NMAuditLogger, so that its lines can be kept apart */
  constructor(log: Log) {
    this.#log = log
  }

  success(event: AuditEvent): void {
    // Hadoop's own spelling, on which searches rely.
    this.#log.info(line(event, 'ContainerManageImpl', ['RESULT=SUCCESS']))
  }

  failure(event: AuditEvent, description: string): void {
    this.#log.warn(line(event, 'ContainerManagerImpl', ['RESULT=FAILURE', `DESCRIPTION=${description}`]))
  }
}

function line({ caller, operation, containerId }: AuditEvent, target: string, result: readonly string[]): string {
  return [
    `USER=${caller.user}`,
    `IP=${caller.remoteAddress}`,
    `OPERATION=${operation}`,
    `TARGET=${target}`,
    ...result,
    `APPID=${applicationOfContainer(containerId)}`,
    `CONTAINERID=${containerId}`,
  ].join('\t')
}
