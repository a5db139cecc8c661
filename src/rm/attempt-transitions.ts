import type { Table } from '../base/state-machine.ts'
import { ContainerExitStatus } from '../protocol/container-exit-status.ts'
import type { FinalStatus, RmAttempt } from './attempt.ts'
import type { RmContainer } from './containers.ts'

export type AttemptPayloads = {
  START: undefined
  CONTAINER_ALLOCATED: { readonly container: RmContainer }
  LAUNCHED: undefined
  LAUNCH_FAILED: { readonly diagnostics: string }
  REGISTERED: { readonly host: string; readonly rpcPort: number; readonly trackingUrl: string }
  UNREGISTERED: { readonly finalStatus: FinalStatus; readonly diagnostics: string; readonly trackingUrl: string }
  /** The ApplicationMaster's own container is over. */
  CONTAINER_FINISHED: { readonly exitStatus: number; readonly diagnostics: string }
  /** Nothing heard of the master, or its container did not end after it had unregistered. */
  EXPIRED: undefined
  FAIL: { readonly diagnostics: string }
  KILL: { readonly diagnostics: string }
}

type Over<S extends string> = {
  CONTAINER_FINISHED: S
  LAUNCHED: S
  LAUNCH_FAILED: S
  EXPIRED: S
  FAIL: S
  KILL: S
  CONTAINER_ALLOCATED: S
}

/** Source: RMAppAttemptImpl, without its saving states: nothing is stored. */
export type AttemptEdges = {
  NEW: { START: 'SCHEDULED' | 'LAUNCHED'; KILL: 'KILLED' }
  SCHEDULED: { CONTAINER_ALLOCATED: 'ALLOCATED'; FAIL: 'FAILED'; KILL: 'KILLED' }
  ALLOCATED: {
    LAUNCHED: 'LAUNCHED'
    LAUNCH_FAILED: 'FAILED'
    /** The master may be faster than the reply of its node. */
    REGISTERED: 'RUNNING'
    CONTAINER_FINISHED: 'FAILED'
    EXPIRED: 'FAILED'
    FAIL: 'FAILED'
    KILL: 'KILLED'
  }
  LAUNCHED: {
    REGISTERED: 'RUNNING'
    CONTAINER_FINISHED: 'FAILED'
    EXPIRED: 'FAILED'
    FAIL: 'FAILED'
    KILL: 'KILLED'
  }
  RUNNING: {
    LAUNCHED: 'RUNNING'
    LAUNCH_FAILED: 'RUNNING'
    UNREGISTERED: 'FINISHING' | 'FINISHED'
    CONTAINER_FINISHED: 'FAILED'
    EXPIRED: 'FAILED'
    FAIL: 'FAILED'
    KILL: 'KILLED'
  }
  FINISHING: {
    LAUNCHED: 'FINISHING'
    LAUNCH_FAILED: 'FINISHING'
    UNREGISTERED: 'FINISHING'
    CONTAINER_FINISHED: 'FINISHED'
    EXPIRED: 'FINISHED'
    FAIL: 'FINISHING'
    KILL: 'FINISHING'
  }
  FINISHED: Over<'FINISHED'>
  FAILED: Over<'FAILED'>
  KILLED: Over<'KILLED'>
}

const kill = (attempt: RmAttempt, { diagnostics }: AttemptPayloads['KILL']): 'KILLED' => {
  attempt.killed(diagnostics)
  return 'KILLED'
}
const fail = (attempt: RmAttempt, { diagnostics }: AttemptPayloads['FAIL']): 'FAILED' => {
  attempt.failed(diagnostics, { isCounted: true })
  return 'FAILED'
}
const expire = (attempt: RmAttempt): 'FAILED' => {
  attempt.failed(`ApplicationMaster for attempt ${attempt.id} timed out`, { isCounted: true })
  return 'FAILED'
}
const exit = (attempt: RmAttempt, ending: AttemptPayloads['CONTAINER_FINISHED']): 'FAILED' => {
  attempt.isMasterOver = true
  attempt.failed(exitText(attempt, ending), { isCounted: !NOT_THE_MASTERS_FAULT.has(ending.exitStatus) })
  return 'FAILED'
}
const register = (attempt: RmAttempt, payload: AttemptPayloads['REGISTERED']): 'RUNNING' => {
  attempt.registered(payload)
  return 'RUNNING'
}
const finish = (attempt: RmAttempt): 'FINISHED' => {
  attempt.finished()
  return 'FINISHED'
}
const absorb = <S extends string>(state: S) => ({
  CONTAINER_FINISHED: () => state,
  LAUNCHED: () => state,
  LAUNCH_FAILED: () => state,
  EXPIRED: () => state,
  FAIL: () => state,
  KILL: () => state,
  CONTAINER_ALLOCATED: () => state,
})

/** Exits that use up no attempt. Source: RMAppAttemptImpl.shouldCountTowardsMaxAttemptRetry. */
const NOT_THE_MASTERS_FAULT: ReadonlySet<number> = new Set([
  ContainerExitStatus.PREEMPTED,
  ContainerExitStatus.ABORTED,
  ContainerExitStatus.DISKS_FAILED,
  ContainerExitStatus.KILLED_BY_RESOURCEMANAGER,
])

export const attemptTransitions: Table<RmAttempt, AttemptPayloads, AttemptEdges> = {
  NEW: {
    START: (attempt) => {
      attempt.started()
      return attempt.isUnmanaged ? 'LAUNCHED' : 'SCHEDULED'
    },
    KILL: kill,
  },
  SCHEDULED: {
    CONTAINER_ALLOCATED: (attempt, { container }) => {
      attempt.allocated(container)
      return 'ALLOCATED'
    },
    FAIL: fail,
    KILL: kill,
  },
  ALLOCATED: {
    LAUNCHED: (attempt) => {
      attempt.launched()
      return 'LAUNCHED'
    },
    LAUNCH_FAILED: (attempt, { diagnostics }) => fail(attempt, { diagnostics }),
    REGISTERED: register,
    CONTAINER_FINISHED: exit,
    EXPIRED: expire,
    FAIL: fail,
    KILL: kill,
  },
  LAUNCHED: { REGISTERED: register, CONTAINER_FINISHED: exit, EXPIRED: expire, FAIL: fail, KILL: kill },
  RUNNING: {
    LAUNCHED: () => 'RUNNING',
    LAUNCH_FAILED: () => 'RUNNING',
    UNREGISTERED: (attempt, payload) => {
      attempt.unregistered(payload)
      return attempt.isUnmanaged ? 'FINISHED' : 'FINISHING'
    },
    CONTAINER_FINISHED: exit,
    EXPIRED: expire,
    FAIL: fail,
    KILL: kill,
  },
  FINISHING: {
    LAUNCHED: () => 'FINISHING',
    LAUNCH_FAILED: () => 'FINISHING',
    UNREGISTERED: () => 'FINISHING',
    CONTAINER_FINISHED: (attempt) => {
      attempt.isMasterOver = true
      return finish(attempt)
    },
    EXPIRED: finish,
    FAIL: () => 'FINISHING',
    KILL: () => 'FINISHING',
  },
  FINISHED: absorb('FINISHED'),
  FAILED: absorb('FAILED'),
  KILLED: absorb('KILLED'),
}

/** Hadoop's words, two blanks included: users and tests search for them. */
function exitText(attempt: RmAttempt, { exitStatus, diagnostics }: AttemptPayloads['CONTAINER_FINISHED']): string {
  return (
    `AM Container for ${attempt.id} exited with  exitCode: ${exitStatus}\n` +
    `Failing this attempt.Diagnostics: ${diagnostics}` +
    `For more detailed output, check the application tracking page: ${attempt.applicationUrl} ` +
    'Then click on links to logs of each attempt.\n'
  )
}
