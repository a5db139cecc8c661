/** The jars of a Hadoop release, resolved by Maven into a cache, once. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

export type HadoopVersion = '3.3.6' | '3.4.2' | '3.5.0'

/** From dist/test/interop back to the sources, where the list of jars is. */
const pom = fileURLToPath(new URL('../../../test/interop/pom.xml', import.meta.url))
const cache = process.env['BOBBIN_INTEROP_CACHE'] ?? join(homedir(), '.cache', 'bobbin-interop')

const shellVersions: Record<HadoopVersion, string> = { '3.3.6': '3.3.5', '3.4.2': '3.4.2', '3.5.0': '3.4.2' }

/** @returns the folder with the jars. @throws with Maven's own words when they can't be had */
export async function hadoopJars(version: HadoopVersion): Promise<string> {
  const folder = join(cache, version)
  const jars = join(folder, 'lib')
  const stamp = createHash('sha256')
    .update(await readFile(pom))
    .update(shellVersions[version])
    .digest('hex')
  if ((await readFile(join(folder, 'stamp'), 'utf8').catch(() => '')) === stamp) return jars // no stamp: not there yet
  await mkdir(folder, { recursive: true })
  const fresh = join(folder, 'lib.new')
  await rm(fresh, { recursive: true, force: true })
  const profile = version === '3.5.0' ? ['-Pjersey-1'] : []
  const args = [
    '-q',
    '-B',
    '-f',
    pom,
    `-Dhadoop.version=${version}`,
    `-Dshell.version=${shellVersions[version]}`,
    ...profile,
  ]
  args.push('dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${fresh}`)
  try {
    await run('mvn', args, { maxBuffer: 1 << 26 })
  } catch (error) {
    const said = error instanceof Error && 'stdout' in error ? String(error.stdout).slice(-4000) : ''
    throw new Error(`Maven could not resolve Hadoop ${version}: ${String(error)}\n${said}`, { cause: error })
  }
  await rm(jars, { recursive: true, force: true })
  await rename(fresh, jars)
  await writeFile(join(folder, 'stamp'), stamp)
  return jars
}
