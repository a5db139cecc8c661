import { stateDiagram } from '../base/state-diagram.ts'
import { containerEdges } from '../containers/transitions.ts'
import { applicationEdges } from './transitions.ts'

/** The text of docs/state-machines.md, out of the tables that run. */
export function stateMachinesPage(): string {
  return [
    '# State machines',
    '',
    'Made from the tables in `src/applications/transitions.ts` and `src/containers/transitions.ts`; a test says how to make',
    'it again when they have changed. States and events have the names that Hadoop gives them. An event without a row is',
    'logged and changes nothing: it has lost a race.',
    '',
    '## Application',
    '',
    stateDiagram(applicationEdges, 'NEW'),
    '## Container',
    '',
    stateDiagram(containerEdges, 'NEW'),
  ].join('\n')
}
