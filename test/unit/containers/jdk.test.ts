import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { JdkVersions } from '../../../src/containers/launch/jdk.ts'

async function jdk(t: TestContext, release: string | undefined): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'bobbin-jdk-'))
  t.after(() => rm(root, { recursive: true }))
  await mkdir(join(root, 'jdk', 'bin'), { recursive: true })
  await writeFile(join(root, 'jdk', 'bin', 'java'), '')
  await mkdir(join(root, 'bin'))
  await symlink('../jdk/bin/java', join(root, 'bin', 'java'))
  if (release !== undefined) await writeFile(join(root, 'jdk', 'release'), release)
  return root
}

const place = (javaHome: string | undefined, path: string | undefined) => ({
  javaHomes: [javaHome],
  searchPaths: [path],
})

test('the release file of JAVA_HOME tells', async (t) => {
  const seventeen = await jdk(t, 'IMPLEMENTOR="x"\nJAVA_VERSION="17.0.12"\n')
  assert.equal(await new JdkVersions().majorVersion(place(join(seventeen, 'jdk'), undefined)), 17)
  const eight = await jdk(t, 'JAVA_VERSION="1.8.0_392"\n')
  assert.equal(await new JdkVersions().majorVersion(place(join(eight, 'jdk'), undefined)), 8)
})

test('else the java that the search path leads to, through its links', async (t) => {
  const root = await jdk(t, 'JAVA_VERSION="21"\n')
  assert.equal(await new JdkVersions().majorVersion(place('$HOME/jdk', `/nowhere:${root}/bin`)), 21)
})

test('without a JDK to look at nothing is known', async (t) => {
  const bare = await jdk(t, undefined)
  const versions = new JdkVersions()
  assert.equal(await versions.majorVersion(place(join(bare, 'jdk'), 'relative')), undefined)
  assert.equal(await versions.majorVersion(place('./jdk', undefined)), undefined)
})
