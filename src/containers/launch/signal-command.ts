import { hadoop } from '../../protocol/messages.ts'

const { SignalContainerCommandProto } = hadoop.yarn

export interface CommandSignal {
  /** As Hadoop's SignalContainerCommand names it. */
  readonly command: string
  readonly name: string
  readonly number: 3 | 9 | 15
}

/** @returns undefined for a command that we do not know, which is ignored. Source: ContainerLaunch.translateCommandToSignal. */
export function signalOf(command: hadoop.yarn.SignalContainerCommandProto): CommandSignal | undefined {
  if (command === SignalContainerCommandProto.OUTPUT_THREAD_DUMP)
    return { command: 'OUTPUT_THREAD_DUMP', name: 'SIGQUIT', number: 3 }
  if (command === SignalContainerCommandProto.GRACEFUL_SHUTDOWN)
    return { command: 'GRACEFUL_SHUTDOWN', name: 'SIGTERM', number: 15 }
  if (command === SignalContainerCommandProto.FORCEFUL_SHUTDOWN)
    return { command: 'FORCEFUL_SHUTDOWN', name: 'SIGKILL', number: 9 }
  return undefined
}
