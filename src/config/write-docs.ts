/** Writes docs/configuration.md: `node dist/src/config/write-docs.js [FILE]`. */
import { writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { configurationDocs } from './docs.ts'

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await writeFile(process.argv[2] ?? 'docs/configuration.md', configurationDocs())
}
