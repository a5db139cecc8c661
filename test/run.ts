// Runs the compiled tests of the folders that are named: node dist/test/run.js unit fuzz [-- options of node --test]
// Node 20 takes no globs after --test and Node 22 no folders, so the files are listed here: those that have a source, for
// the compiler leaves the output of deleted ones in place.
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { projectRoot } from './helpers/fixtures.ts'

const here = dirname(fileURLToPath(import.meta.url))
const split = process.argv.indexOf('--')
const folders = process.argv.slice(2, split === -1 ? undefined : split)
const options = split === -1 ? [] : process.argv.slice(split + 1)
const sources = join(projectRoot(), 'test')
const files = folders
  .flatMap((folder) =>
    readdirSync(join(sources, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => join(here, name.replace(/\.ts$/, '.js')))
  .sort()
if (files.length === 0) {
  console.error(`no test files under ${folders.join(', ')}`)
  process.exit(1)
}
const child = spawn(process.execPath, ['--test', '--test-timeout=120000', ...options, ...files], { stdio: 'inherit' })
child.on('exit', (code) => process.exit(code ?? 1))
