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

/**
 * The distributed shell to each release. A NodeManager of 3.3 does not know the marker that the shell of 3.4 puts on
 * its command line; the shell of 3.5 is not published.
 */
export const shellVersions: Record<HadoopVersion, string> = { '3.3.6': '3.3.5', '3.4.2': '3.4.2', '3.5.0': '3.4.2' }

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
  const out = `-DoutputDirectory=${fresh}`
  const all = ['dependency:copy-dependencies', '-DincludeScope=runtime', out]
  await maven(version, ['-f', pom, `-Dhadoop.version=${version}`, ...profile, ...all])
  // By itself: it needs nothing that is not there, and the parent of its pom can't be had.
  const shell = `org.apache.hadoop:hadoop-yarn-applications-distributedshell:${shellVersions[version]}:jar`
  await maven(version, ['dependency:copy', `-Dartifact=${shell}`, out])
  await rm(jars, { recursive: true, force: true })
  await rename(fresh, jars)
  await writeFile(join(folder, 'stamp'), stamp)
  return jars
}

async function maven(version: HadoopVersion, args: readonly string[]): Promise<void> {
  try {
    await run('mvn', ['-q', '-B', ...args], { maxBuffer: 1 << 26, cwd: cache })
  } catch (error) {
    const said = error instanceof Error && 'stdout' in error ? String(error.stdout).slice(-4000) : ''
    throw new Error(`Maven could not resolve Hadoop ${version}: ${String(error)}\n${said}`, { cause: error })
  }
}
