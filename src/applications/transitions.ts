/** The application's life on this node as a table. Source: ApplicationImpl's state machine and texts. */
import { defineEdges, type EdgesFrom, type Table } from '../base/state-machine.ts'
import { ContainerExitStatus } from '../protocol/container-exit-status.ts'
import type { ContainerId } from '../protocol/ids.ts'
import type { ApplicationPayloads } from './events.ts'

/** What an application asks of its containers. */
export interface ApplicationContainer {
  readonly id: ContainerId
  init(): void
  kill(exitStatus: number, diagnostics: string): void
}

/** What a row may read, change and ask for. */
export interface ApplicationSubject {
  readonly containers: Map<ContainerId, ApplicationContainer>
  /** Ends in LOG_HANDLING_INITED or LOG_HANDLING_FAILED. */
  startLogHandling(): void
  /** Keeps the time in the application's record. */
  logHandlingStarted(time: number): void
  logHandlingFailed(): void
  /** INIT_APPLICATION_RESOURCES; ends in APPLICATION_INITED. */
  initResources(): void
  /** DESTROY_APPLICATION_RESOURCES and the end of the auxiliary services' part; ends in RESOURCES_CLEANEDUP. */
  destroyResources(): void
  /** Ends in LOG_HANDLING_FINISHED or LOG_HANDLING_FAILED. */
  finishLogHandling(): void
  /** Nothing is left of it here. */
  disappear(): void
}

export const applicationEdges = defineEdges({
  NEW: {
    INIT_APPLICATION: ['INITING'],
    INIT_CONTAINER: ['NEW'],
  },
  INITING: {
    INIT_CONTAINER: ['INITING'],
    APPLICATION_LOG_HANDLING_INITED: ['INITING'],
    APPLICATION_LOG_HANDLING_FAILED: ['INITING'],
    APPLICATION_INITED: ['RUNNING'],
    APPLICATION_CONTAINER_FINISHED: ['INITING'],
    FINISH_APPLICATION: ['FINISHING_CONTAINERS_WAIT', 'APPLICATION_RESOURCES_CLEANINGUP'],
  },
  RUNNING: {
    INIT_CONTAINER: ['RUNNING'],
    APPLICATION_CONTAINER_FINISHED: ['RUNNING'],
    FINISH_APPLICATION: ['FINISHING_CONTAINERS_WAIT', 'APPLICATION_RESOURCES_CLEANINGUP'],
  },
  FINISHING_CONTAINERS_WAIT: {
    INIT_CONTAINER: ['FINISHING_CONTAINERS_WAIT'],
    APPLICATION_CONTAINER_FINISHED: ['FINISHING_CONTAINERS_WAIT', 'APPLICATION_RESOURCES_CLEANINGUP'],
    APPLICATION_LOG_HANDLING_INITED: ['FINISHING_CONTAINERS_WAIT'],
    APPLICATION_LOG_HANDLING_FAILED: ['FINISHING_CONTAINERS_WAIT'],
    APPLICATION_INITED: ['FINISHING_CONTAINERS_WAIT'],
    FINISH_APPLICATION: ['FINISHING_CONTAINERS_WAIT'],
  },
  APPLICATION_RESOURCES_CLEANINGUP: {
    INIT_CONTAINER: ['APPLICATION_RESOURCES_CLEANINGUP'],
    APPLICATION_RESOURCES_CLEANEDUP: ['FINISHED'],
    APPLICATION_CONTAINER_FINISHED: ['APPLICATION_RESOURCES_CLEANINGUP'],
    APPLICATION_LOG_HANDLING_INITED: ['APPLICATION_RESOURCES_CLEANINGUP'],
    APPLICATION_LOG_HANDLING_FAILED: ['APPLICATION_RESOURCES_CLEANINGUP'],
    APPLICATION_LOG_HANDLING_FINISHED: ['APPLICATION_RESOURCES_CLEANINGUP'],
    APPLICATION_INITED: ['APPLICATION_RESOURCES_CLEANINGUP'],
    FINISH_APPLICATION: ['APPLICATION_RESOURCES_CLEANINGUP'],
  },
  FINISHED: {
    INIT_CONTAINER: ['FINISHED'],
    APPLICATION_LOG_HANDLING_FINISHED: ['FINISHED'],
    APPLICATION_LOG_HANDLING_FAILED: ['FINISHED'],
    APPLICATION_LOG_HANDLING_INITED: ['FINISHED'],
    APPLICATION_CONTAINER_FINISHED: ['FINISHED'],
    FINISH_APPLICATION: ['FINISHED'],
  },
})

export type ApplicationEdges = EdgesFrom<typeof applicationEdges>
type State = keyof ApplicationEdges

function ignored<S extends State, Event extends keyof ApplicationPayloads>(
  state: S,
  ...events: readonly Event[]
): { readonly [E in Event]: () => S } {
  const rows = Object.fromEntries(events.map((event) => [event, () => state]))
  return rows as { readonly [E in Event]: () => S }
}

/** A container that came too late: it is taken in and ends at once. The newline is part of Hadoop's text. */
function tooLate<S extends State>(state: S) {
  return (app: ApplicationSubject, { container }: ApplicationPayloads['INIT_CONTAINER']): S => {
    app.containers.set(container.id, container)
    container.kill(ContainerExitStatus.KILLED_AFTER_APP_COMPLETION, 'Application no longer running.\n')
    return state
  }
}

function forget<S extends State>(state: S) {
  return (app: ApplicationSubject, { id }: ApplicationPayloads['APPLICATION_CONTAINER_FINISHED']): S => {
    app.containers.delete(id)
    return state
  }
}

function finish(
  app: ApplicationSubject,
  { reason }: ApplicationPayloads['FINISH_APPLICATION'],
): 'FINISHING_CONTAINERS_WAIT' | 'APPLICATION_RESOURCES_CLEANINGUP' {
  if (app.containers.size === 0) {
    app.destroyResources()
    return 'APPLICATION_RESOURCES_CLEANINGUP'
  }
  for (const container of app.containers.values())
    container.kill(
      ContainerExitStatus.KILLED_AFTER_APP_COMPLETION,
      `Container killed on application-finish event: ${reason}`,
    )
  return 'FINISHING_CONTAINERS_WAIT'
}

function disappear(app: ApplicationSubject): 'FINISHED' {
  app.disappear()
  return 'FINISHED'
}

export const applicationTransitions: Table<ApplicationSubject, ApplicationPayloads, ApplicationEdges> = {
  NEW: {
    INIT_APPLICATION: (app) => {
      app.startLogHandling()
      return 'INITING'
    },
    INIT_CONTAINER: (app, { container }) => {
      app.containers.set(container.id, container)
      return 'NEW'
    },
  },
  INITING: {
    INIT_CONTAINER: (app, { container }) => {
      app.containers.set(container.id, container)
      return 'INITING'
    },
    APPLICATION_LOG_HANDLING_INITED: (app, { time }) => {
      app.logHandlingStarted(time)
      app.initResources()
      return 'INITING'
    },
    APPLICATION_LOG_HANDLING_FAILED: (app) => {
      app.logHandlingFailed()
      app.initResources()
      return 'INITING'
    },
    APPLICATION_INITED: (app) => {
      for (const container of app.containers.values()) container.init()
      return 'RUNNING'
    },
    APPLICATION_CONTAINER_FINISHED: forget('INITING'),
    FINISH_APPLICATION: finish,
  },
  RUNNING: {
    INIT_CONTAINER: (app, { container }) => {
      app.containers.set(container.id, container)
      container.init()
      return 'RUNNING'
    },
    APPLICATION_CONTAINER_FINISHED: forget('RUNNING'),
    FINISH_APPLICATION: finish,
  },
  FINISHING_CONTAINERS_WAIT: {
    ...ignored(
      'FINISHING_CONTAINERS_WAIT',
      'APPLICATION_LOG_HANDLING_INITED',
      'APPLICATION_LOG_HANDLING_FAILED',
      'APPLICATION_INITED',
      'FINISH_APPLICATION',
    ),
    INIT_CONTAINER: tooLate('FINISHING_CONTAINERS_WAIT'),
    APPLICATION_CONTAINER_FINISHED: (app, { id }) => {
      app.containers.delete(id)
      if (app.containers.size > 0) return 'FINISHING_CONTAINERS_WAIT'
      app.destroyResources()
      return 'APPLICATION_RESOURCES_CLEANINGUP'
    },
  },
  APPLICATION_RESOURCES_CLEANINGUP: {
    ...ignored(
      'APPLICATION_RESOURCES_CLEANINGUP',
      'APPLICATION_LOG_HANDLING_INITED',
      'APPLICATION_LOG_HANDLING_FAILED',
      'APPLICATION_LOG_HANDLING_FINISHED',
      'APPLICATION_INITED',
      'FINISH_APPLICATION',
    ),
    INIT_CONTAINER: tooLate('APPLICATION_RESOURCES_CLEANINGUP'),
    APPLICATION_CONTAINER_FINISHED: forget('APPLICATION_RESOURCES_CLEANINGUP'),
    APPLICATION_RESOURCES_CLEANEDUP: (app) => {
      app.finishLogHandling()
      return 'FINISHED'
    },
  },
  FINISHED: {
    ...ignored('FINISHED', 'APPLICATION_LOG_HANDLING_INITED', 'FINISH_APPLICATION'),
    INIT_CONTAINER: tooLate('FINISHED'),
    APPLICATION_CONTAINER_FINISHED: forget('FINISHED'),
    APPLICATION_LOG_HANDLING_FINISHED: disappear,
    APPLICATION_LOG_HANDLING_FAILED: disappear,
  },
}
