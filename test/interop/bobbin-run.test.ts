import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cluster } from './cluster.ts'

async function threeAndHello(cluster: Cluster): Promise<void> {
  const result = await cluster.bobbin(['run', '--', 'sh', '-c', 'echo hello; exit 3'])
  assert.equal(result.stdout, 'hello\n', result.stderr)
  assert.equal(result.code, 3)
  assert.match(result.stderr, /Exit code: 3/)
}

test("`bobbin run` on Hadoop's ResourceManager prints the output and ends with the exit status", async () => {
  const cluster = await Cluster.create('3.4.2')
  try {
    await cluster.startResourceManager()
    await cluster.startBobbin()
    await threeAndHello(cluster)
    const many = await cluster.bobbin([
      'run',
      '--containers',
      '3',
      '--memory',
      '256',
      '--',
      'echo',
      'it\'s $HOME "here"',
    ])
    assert.equal(many.code, 0, many.stderr)
    assert.equal(many.stdout.match(/it's \$HOME "here"/g)?.length, 3)
    assert.equal(await cluster.stopDaemon('nm'), 143)
    await cluster.nodeIs('SHUTDOWN')
  } finally {
    await cluster.stop()
  }
})

test('the embedded ResourceManager serves `bobbin run` and the distributed shell of Hadoop', async () => {
  const cluster = await Cluster.create('3.4.2')
  try {
    await cluster.startStandalone()
    await threeAndHello(cluster)
    const shell = await cluster.distributedShell(['-shell_command', 'echo out-$CONTAINER_ID', '-num_containers', '2'])
    assert.equal(shell.code, 0, shell.stderr.slice(-3000))
    assert.equal((await cluster.application(shell.application)).finalStatus, 'SUCCEEDED')
  } finally {
    await cluster.stop()
  }
})
