import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { stateMachinesPage } from '../../../src/applications/state-machines-page.ts'
import { projectRoot } from '../../helpers/fixtures.ts'

test('docs/state-machines.md shows the tables that run', async () => {
  assert.equal(
    await readFile(join(projectRoot(), 'docs', 'state-machines.md'), 'utf8'),
    stateMachinesPage(),
    'make it again: npm run docs',
  )
})
