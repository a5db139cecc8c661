/**
 * The container's life as a table. Source: ContainerImpl's state machine and texts; lifecycle of Apache Hadoop 3.4.2.
 * Rows say what changes and what is asked for; how it is done is in the subject (container.ts) and its effects.
 */
import { defineEdges, type EdgesFrom, type Table } from '../base/state-machine.ts'
import { ContainerExitStatus } from '../protocol/container-exit-status.ts'
import type { ContainerPayloads, ExitReport } from './events.ts'

/** Why a container is done, for metrics and the audit log. */
export type ContainerOutcome = 'succeeded' | 'failed' | 'killed' | 'localization failed'

/** What a row may read, change and ask for. */
export interface ContainerSubject {
  exitStatus: number
  /** Adds one entry; each gets its own time. */
  addDiagnostics(text: string): void
  /** Asks for the resources where there are any. */
  initialize(): 'LOCALIZING' | 'SCHEDULED' | 'LOCALIZATION_FAILED'
  /** Notes where a resource lies. @returns how many are still awaited */
  recordLocalized(localized: ContainerPayloads['RESOURCE_LOCALIZED']): number
  /** Asks for the start: SCHEDULE_CONTAINER. */
  schedule(): void
  /** Asks for the end of whatever runs: CLEANUP_CONTAINER. */
  cleanUp(): void
  /** Gives resources and directories back; answered with CONTAINER_RESOURCES_CLEANEDUP. */
  release(): void
  finish(outcome: ContainerOutcome): void
}

export const containerEdges = defineEdges({
  NEW: {
    INIT_CONTAINER: ['LOCALIZING', 'SCHEDULED', 'LOCALIZATION_FAILED'],
    KILL_CONTAINER: ['DONE'],
    UPDATE_DIAGNOSTICS_MSG: ['NEW'],
  },
  LOCALIZING: {
    RESOURCE_LOCALIZED: ['LOCALIZING', 'SCHEDULED'],
    RESOURCE_FAILED: ['LOCALIZATION_FAILED'],
    KILL_CONTAINER: ['KILLING'],
    UPDATE_DIAGNOSTICS_MSG: ['LOCALIZING'],
  },
  LOCALIZATION_FAILED: {
    CONTAINER_RESOURCES_CLEANEDUP: ['DONE'],
    KILL_CONTAINER: ['LOCALIZATION_FAILED'],
    RESOURCE_LOCALIZED: ['LOCALIZATION_FAILED'],
    RESOURCE_FAILED: ['LOCALIZATION_FAILED'],
    UPDATE_DIAGNOSTICS_MSG: ['LOCALIZATION_FAILED'],
  },
  SCHEDULED: {
    CONTAINER_LAUNCHED: ['RUNNING'],
    CONTAINER_EXITED_WITH_FAILURE: ['EXITED_WITH_FAILURE'],
    KILL_CONTAINER: ['KILLING'],
    UPDATE_DIAGNOSTICS_MSG: ['SCHEDULED'],
  },
  RUNNING: {
    CONTAINER_EXITED_WITH_SUCCESS: ['EXITED_WITH_SUCCESS'],
    CONTAINER_EXITED_WITH_FAILURE: ['EXITED_WITH_FAILURE'],
    CONTAINER_KILLED_ON_REQUEST: ['EXITED_WITH_FAILURE'],
    KILL_CONTAINER: ['KILLING'],
    UPDATE_DIAGNOSTICS_MSG: ['RUNNING'],
  },
  EXITED_WITH_SUCCESS: {
    CONTAINER_RESOURCES_CLEANEDUP: ['DONE'],
    KILL_CONTAINER: ['EXITED_WITH_SUCCESS'],
    CONTAINER_KILLED_ON_REQUEST: ['EXITED_WITH_SUCCESS'],
    UPDATE_DIAGNOSTICS_MSG: ['EXITED_WITH_SUCCESS'],
  },
  EXITED_WITH_FAILURE: {
    CONTAINER_RESOURCES_CLEANEDUP: ['DONE'],
    KILL_CONTAINER: ['EXITED_WITH_FAILURE'],
    CONTAINER_KILLED_ON_REQUEST: ['EXITED_WITH_FAILURE'],
    UPDATE_DIAGNOSTICS_MSG: ['EXITED_WITH_FAILURE'],
  },
  KILLING: {
    CONTAINER_KILLED_ON_REQUEST: ['CONTAINER_CLEANEDUP_AFTER_KILL'],
    CONTAINER_EXITED_WITH_SUCCESS: ['EXITED_WITH_SUCCESS'],
    CONTAINER_EXITED_WITH_FAILURE: ['EXITED_WITH_FAILURE'],
    CONTAINER_RESOURCES_CLEANEDUP: ['DONE'],
    RESOURCE_LOCALIZED: ['KILLING'],
    RESOURCE_FAILED: ['KILLING'],
    KILL_CONTAINER: ['KILLING'],
    CONTAINER_LAUNCHED: ['KILLING'],
    UPDATE_DIAGNOSTICS_MSG: ['KILLING'],
  },
  CONTAINER_CLEANEDUP_AFTER_KILL: {
    CONTAINER_RESOURCES_CLEANEDUP: ['DONE'],
    KILL_CONTAINER: ['CONTAINER_CLEANEDUP_AFTER_KILL'],
    RESOURCE_FAILED: ['CONTAINER_CLEANEDUP_AFTER_KILL'],
    CONTAINER_EXITED_WITH_SUCCESS: ['CONTAINER_CLEANEDUP_AFTER_KILL'],
    CONTAINER_EXITED_WITH_FAILURE: ['CONTAINER_CLEANEDUP_AFTER_KILL'],
    CONTAINER_KILLED_ON_REQUEST: ['CONTAINER_CLEANEDUP_AFTER_KILL'],
    UPDATE_DIAGNOSTICS_MSG: ['CONTAINER_CLEANEDUP_AFTER_KILL'],
  },
  DONE: {
    KILL_CONTAINER: ['DONE'],
    INIT_CONTAINER: ['DONE'],
    RESOURCE_FAILED: ['DONE'],
    CONTAINER_EXITED_WITH_SUCCESS: ['DONE'],
    CONTAINER_EXITED_WITH_FAILURE: ['DONE'],
    CONTAINER_KILLED_ON_REQUEST: ['DONE'],
    UPDATE_DIAGNOSTICS_MSG: ['DONE'],
  },
})

export type ContainerEdges = EdgesFrom<typeof containerEdges>
/** The states that the table knows; `ContainerStateName` has all of Hadoop's. */
export type ContainerTableState = keyof ContainerEdges

const KILLED_BEFORE_LAUNCH = 'Container is killed before being launched.\n'

/** The event lost a race that it may lose: nothing changes. */
function ignored<State extends ContainerTableState, Event extends keyof ContainerPayloads>(
  state: State,
  ...events: readonly Event[]
): { readonly [E in Event]: () => State } {
  const rows = Object.fromEntries(events.map((event) => [event, () => state]))
  return rows as { readonly [E in Event]: () => State }
}

/** UPDATE_DIAGNOSTICS_MSG, which every state takes. */
function diagnosable<State extends ContainerTableState>(
  state: State,
): { UPDATE_DIAGNOSTICS_MSG: (c: ContainerSubject, payload: ContainerPayloads['UPDATE_DIAGNOSTICS_MSG']) => State } {
  return {
    UPDATE_DIAGNOSTICS_MSG: (c, { text }) => {
      c.addDiagnostics(`${text}\n`)
      return state
    },
  }
}

function done(outcome: ContainerOutcome): (c: ContainerSubject) => 'DONE' {
  return (c) => {
    c.finish(outcome)
    return 'DONE'
  }
}

function kill(c: ContainerSubject, { exitStatus, diagnostics }: ExitReport): 'KILLING' {
  c.cleanUp()
  c.addDiagnostics(`${diagnostics}\n`)
  c.exitStatus = exitStatus
  return 'KILLING'
}

function exitedWithFailure(c: ContainerSubject, { exitStatus, diagnostics }: ExitReport): 'EXITED_WITH_FAILURE' {
  c.exitStatus = exitStatus
  c.addDiagnostics(`${diagnostics}\n`)
  c.cleanUp()
  c.release()
  return 'EXITED_WITH_FAILURE'
}

export const containerTransitions: Table<ContainerSubject, ContainerPayloads, ContainerEdges> = {
  NEW: {
    ...diagnosable('NEW'),
    INIT_CONTAINER: (c) => {
      const next = c.initialize()
      if (next === 'SCHEDULED') c.schedule()
      if (next === 'LOCALIZATION_FAILED') c.release()
      return next
    },
    KILL_CONTAINER: (c, { exitStatus, diagnostics }) => {
      c.exitStatus = exitStatus
      c.addDiagnostics(`${diagnostics}\n`)
      c.addDiagnostics(KILLED_BEFORE_LAUNCH)
      c.finish('killed')
      return 'DONE'
    },
  },
  LOCALIZING: {
    ...diagnosable('LOCALIZING'),
    RESOURCE_LOCALIZED: (c, localized) => {
      if (c.recordLocalized(localized) > 0) return 'LOCALIZING'
      c.schedule()
      return 'SCHEDULED'
    },
    // The exit status stays INVALID: nothing has exited.
    RESOURCE_FAILED: (c, { diagnostics }) => {
      c.addDiagnostics(`${diagnostics}\n`)
      c.release()
      return 'LOCALIZATION_FAILED'
    },
    KILL_CONTAINER: (c, { exitStatus, diagnostics }) => {
      c.release()
      c.exitStatus = exitStatus
      c.addDiagnostics(`${diagnostics}\n`)
      c.addDiagnostics(KILLED_BEFORE_LAUNCH)
      return 'KILLING'
    },
  },
  LOCALIZATION_FAILED: {
    ...diagnosable('LOCALIZATION_FAILED'),
    ...ignored('LOCALIZATION_FAILED', 'KILL_CONTAINER', 'RESOURCE_LOCALIZED', 'RESOURCE_FAILED'),
    CONTAINER_RESOURCES_CLEANEDUP: done('localization failed'),
  },
  SCHEDULED: {
    ...diagnosable('SCHEDULED'),
    CONTAINER_LAUNCHED: () => 'RUNNING',
    CONTAINER_EXITED_WITH_FAILURE: exitedWithFailure,
    KILL_CONTAINER: kill,
  },
  RUNNING: {
    ...diagnosable('RUNNING'),
    CONTAINER_EXITED_WITH_SUCCESS: (c) => {
      c.exitStatus = ContainerExitStatus.SUCCESS
      c.cleanUp()
      c.release()
      return 'EXITED_WITH_SUCCESS'
    },
    CONTAINER_EXITED_WITH_FAILURE: (c, report) => {
      // Hadoop writes the text once when it asks whether to retry and once more when it does not.
      c.addDiagnostics(`${report.diagnostics}\n`)
      return exitedWithFailure(c, report)
    },
    CONTAINER_KILLED_ON_REQUEST: (c, report) => {
      const next = exitedWithFailure(c, report)
      c.addDiagnostics('Killed by external signal\n')
      return next
    },
    KILL_CONTAINER: kill,
  },
  EXITED_WITH_SUCCESS: {
    ...diagnosable('EXITED_WITH_SUCCESS'),
    ...ignored('EXITED_WITH_SUCCESS', 'KILL_CONTAINER', 'CONTAINER_KILLED_ON_REQUEST'),
    CONTAINER_RESOURCES_CLEANEDUP: done('succeeded'),
  },
  EXITED_WITH_FAILURE: {
    ...diagnosable('EXITED_WITH_FAILURE'),
    ...ignored('EXITED_WITH_FAILURE', 'KILL_CONTAINER', 'CONTAINER_KILLED_ON_REQUEST'),
    CONTAINER_RESOURCES_CLEANEDUP: done('failed'),
  },
  KILLING: {
    ...diagnosable('KILLING'),
    ...ignored('KILLING', 'RESOURCE_FAILED', 'KILL_CONTAINER', 'CONTAINER_LAUNCHED'),
    CONTAINER_KILLED_ON_REQUEST: (c, { exitStatus, diagnostics }) => {
      // Why it was killed outranks how the process took it.
      if (c.exitStatus === ContainerExitStatus.INVALID) c.exitStatus = exitStatus
      c.addDiagnostics(`${diagnostics}\n`)
      c.release()
      return 'CONTAINER_CLEANEDUP_AFTER_KILL'
    },
    CONTAINER_EXITED_WITH_SUCCESS: (c) => {
      c.exitStatus = ContainerExitStatus.SUCCESS
      c.release()
      return 'EXITED_WITH_SUCCESS'
    },
    CONTAINER_EXITED_WITH_FAILURE: (c, { exitStatus, diagnostics }) => {
      c.exitStatus = exitStatus
      c.addDiagnostics(`${diagnostics}\n`)
      c.release()
      return 'EXITED_WITH_FAILURE'
    },
    CONTAINER_RESOURCES_CLEANEDUP: done('killed'),
    RESOURCE_LOCALIZED: (c, localized) => {
      c.recordLocalized(localized)
      return 'KILLING'
    },
  },
  CONTAINER_CLEANEDUP_AFTER_KILL: {
    ...diagnosable('CONTAINER_CLEANEDUP_AFTER_KILL'),
    ...ignored(
      'CONTAINER_CLEANEDUP_AFTER_KILL',
      'KILL_CONTAINER',
      'RESOURCE_FAILED',
      'CONTAINER_EXITED_WITH_SUCCESS',
      'CONTAINER_EXITED_WITH_FAILURE',
      'CONTAINER_KILLED_ON_REQUEST',
    ),
    CONTAINER_RESOURCES_CLEANEDUP: done('killed'),
  },
  DONE: {
    ...diagnosable('DONE'),
    ...ignored(
      'DONE',
      'KILL_CONTAINER',
      'INIT_CONTAINER',
      'RESOURCE_FAILED',
      'CONTAINER_EXITED_WITH_SUCCESS',
      'CONTAINER_EXITED_WITH_FAILURE',
      'CONTAINER_KILLED_ON_REQUEST',
    ),
  },
}
