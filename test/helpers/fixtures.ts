import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The checkout, whichever folder the compiled tests are in. */
export function projectRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package-lock.json'))) folder = dirname(folder)
  return folder
}

/** A JSON file below test/fixtures. The caller names its shape. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- JSON.parse knows no shape
export function fixture<T>(path: string): T {
  return JSON.parse(readFileSync(join(projectRoot(), 'test', 'fixtures', path), 'utf8')) as T
}
