/** The same application on Hadoop's NodeManager and on Bobbin, on the same machine and configuration: what it sees must be the same. */
import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cluster } from './cluster.ts'

/** Its environment, where it is, the modes of all that is around it, its session; and an end that must be explained. */
const PROBE = `
env | LC_ALL=C sort
echo "cwd $(pwd)"; echo "umask $(umask)"
stat -c "%a %U %G %F %n" . ./* .. ../.. ../../.. ../../../.. ../filecache ../filecache/* "$LOG_DIRS" "$LOG_DIRS/.." "$LOG_DIRS"/*
stat -L -c "%a %s %n" input.txt
read pid name state ppid group session rest < /proc/$$/stat
[ "$pid $pid" = "$group $session" ] && echo leads its session
echo wrong >&2
exit 3
`

interface Seen {
  readonly stdout: string
  readonly script: string
  readonly prelaunch: string
  readonly diagnostics: string
}

test('a container sees on Bobbin what it sees on the Java NodeManager', async () => {
  const cluster = await Cluster.create('3.4.2')
  try {
    await cluster.startResourceManager()
    await cluster.startJavaNodeManager()
    const onJava = await probe(cluster)
    await cluster.stopDaemon('nm')
    await cluster.nodeIs('SHUTDOWN')
    await cluster.startBobbin()
    const onBobbin = await probe(cluster)
    assert.match(onJava.stdout, /^GREETING=a {{HOME}} \$USER <CPS>$/m)
    assert.match(onJava.stdout, /leads its session/)
    assert.match(onJava.diagnostics, /Exit code: 3[^]*wrong/)
    for (const what of ['stdout', 'script', 'prelaunch', 'diagnostics'] as const)
      assert.equal(onBobbin[what], onJava[what], what)
  } finally {
    await cluster.stop()
  }
})

async function probe(cluster: Cluster): Promise<Seen> {
  const input = join(cluster.work, 'input.txt')
  await writeFile(input, 'some input\n')
  // Only one variable: Java writes them in the order of their hashes.
  const options = ['--memory', '256', '--file', input, '--env', 'GREETING=a {{HOME}} $USER <CPS>']
  const result = await cluster.bobbin(['run', ...options, '--', 'sh', '-c', PROBE])
  assert.equal(result.code, 3, result.stderr)
  const application = /submitted (application_\d+_\d+)/.exec(result.stderr)?.[1] ?? ''
  const [container = ''] = await readdir(join(cluster.work, 'nm', 'logs', application))
  const read = (name: string) => readFile(cluster.logFile(application, container, name), 'utf8')
  const [script, out, error] = await Promise.all(['launch_container.sh', 'prelaunch.out', 'prelaunch.err'].map(read))
  return {
    stdout: normalised(result.stdout),
    script: normalised(script ?? ''),
    prelaunch: `${out}${error}`,
    diagnostics: normalised(result.stderr),
  }
}

/** Without what changes from run to run. */
function normalised(text: string): string {
  return text
    .replaceAll(/\d+_\d{4}(?=\D)/g, 'APPLICATION')
    .replaceAll(/\[\d{4}-\d\d-\d\d [\d:.]+\]/g, '[TIME]')
    .replaceAll(/(?<=LOCALIZATION_COUNTERS="?)[\d,-]+/g, 'COUNTERS')
    .replaceAll(/(?<=JVM_PID=)\d+/g, 'PID')
}
