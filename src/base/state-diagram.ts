/** A state machine's edges as a mermaid diagram, with what changes nothing listed below it. */

export type EdgeLists = { readonly [state: string]: { readonly [event: string]: readonly string[] } }

export function stateDiagram(edges: EdgeLists, initial: string): string {
  const arrows = Object.entries(edges).flatMap(([from, events]) =>
    Object.entries(events).flatMap(([event, targets]) =>
      targets.filter((to) => to !== from).map((to) => `    ${from} --> ${to}: ${event}`),
    ),
  )
  return ['```mermaid', 'stateDiagram-v2', `    [*] --> ${initial}`, ...arrows, '```', '', ...staying(edges), ''].join(
    '\n',
  )
}

function staying(edges: EdgeLists): string[] {
  const rows = Object.entries(edges).map(([state, events]) => {
    const names = Object.keys(events).filter((event) => events[event]?.includes(state) === true)
    return `| ${state} | ${names.join(', ')} |`
  })
  return ['| State | Events that may leave it as it is |', '|---|---|', ...rows]
}
