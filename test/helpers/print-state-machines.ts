/** Prints docs/state-machines.md: npm run -s build && node dist/test/helpers/print-state-machines.js > docs/state-machines.md */
import { stateMachinesPage } from '../../src/applications/state-machines-page.ts'

process.stdout.write(stateMachinesPage())
