import type { Log } from './log.ts'

/** For each state, each event that it takes, and the states that it may lead to. */
export type EdgesOf = { readonly [state: string]: { readonly [event: string]: string } }

/**
 * Edges as data: the one list from which come the type of the table, its check by the compiler, and the diagram in docs/.
 * Returns its argument; a target that is no state of the same list does not compile.
 */
export function defineEdges<
  const Lists extends { readonly [S in keyof Lists]: { readonly [E in keyof Lists[S]]: readonly (keyof Lists)[] } },
>(lists: Lists): Lists {
  return lists
}

/** The edges' type out of `defineEdges`' list. */
export type EdgesFrom<Lists> = {
  readonly [S in keyof Lists & string]: {
    readonly [E in keyof Lists[S] & string]: Lists[S][E] extends readonly (infer Target extends string)[]
      ? Target
      : never
  }
}

/** The payload of each event; `undefined` for an event without one. */
export type PayloadsOf = { readonly [event: string]: unknown }

/**
 * One handler for each edge, and `?: never` for every event that a state does not take: a missing row, an impossible
 * target, an extra row or a wrong payload does not compile.
 * Handlers are synchronous, take no timestamps and touch no disk: they change fields and ask for effects.
 */
export type Table<Context, Payloads extends PayloadsOf, Edges extends EdgesOf> = {
  readonly [S in keyof Edges]: {
    readonly [E in keyof Edges[S]]: E extends keyof Payloads
      ? (context: Context, payload: Payloads[E]) => Edges[S][E]
      : never
  } & { readonly [E in Exclude<keyof Payloads, keyof Edges[S]>]?: never }
}

/** An event as it is sent: its name and, where it has one, its payload. */
export type EventOf<Payloads extends PayloadsOf> = {
  [E in keyof Payloads & string]: undefined extends Payloads[E]
    ? { readonly type: E; readonly payload?: Payloads[E] }
    : { readonly type: E; readonly payload: Payloads[E] }
}[keyof Payloads & string]

/** One change of state, for the log and for the bounded history. */
export interface Transition {
  readonly from: string
  readonly to: string
  readonly event: string
}

export interface MachineOptions {
  /** The kind and id, as Hadoop's log lines name them: `Container container_1_1_01_000001`. */
  readonly subject: string
  readonly log: Log
  readonly onTransition?: (transition: Transition) => void
  /** Told of an event that has no row in the current state: it lost a race. */
  readonly onUnexpected?: (state: string, event: string) => void
}

type Row<Context> = { readonly [event: string]: ((context: Context, payload: unknown) => string) | undefined }

/**
 * Runs a table for one subject. Events are handled one at a time in the order of sending; an event that a handler
 * sends is handled after the one that is being handled.
 */
export class StateMachine<Context, Payloads extends PayloadsOf, Edges extends EdgesOf> {
  #state: keyof Edges & string
  readonly #context: Context
  readonly #rows: { readonly [state: string]: Row<Context> }
  readonly #options: MachineOptions
  readonly #mailbox: EventOf<Payloads>[] = []
  #handling = false

  constructor(
    table: Table<Context, Payloads, Edges>,
    initial: keyof Edges & string,
    context: Context,
    options: MachineOptions,
  ) {
    // The table's own type has checked every row; inside, rows are looked up by the names of state and event.
    this.#rows = table
    this.#state = initial
    this.#context = context
    this.#options = options
  }

  get state(): keyof Edges & string {
    return this.#state
  }

  send(event: EventOf<Payloads>): void {
    this.#mailbox.push(event)
    if (this.#handling) return
    this.#handling = true
    try {
      for (let next = this.#mailbox.shift(); next !== undefined; next = this.#mailbox.shift()) this.#handle(next)
    } finally {
      this.#handling = false
    }
  }

  #handle(event: EventOf<Payloads>): void {
    const { subject, log, onTransition, onUnexpected } = this.#options
    const from = this.#state
    const handler = this.#rows[from]?.[event.type]
    if (handler === undefined) {
      onUnexpected?.(from, event.type)
      log.warn(`Can't handle this event at current state: Current: [${from}], eventType: [${event.type}], ${subject}`)
      return
    }
    const to = handler(this.#context, event.payload)
    this.#state = to
    if (to === from) return
    log.info(`${subject} transitioned from ${from} to ${to}`)
    onTransition?.({ from, to, event: event.type })
  }
}
