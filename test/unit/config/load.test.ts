import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemHost } from '../../../src/config/host.ts'
import { loadConfiguration, loadNodeManagerConfig } from '../../../src/config/load.ts'
import { embeddedRmConfig } from '../../../src/config/rm-config.ts'
import { projectRoot } from '../../helpers/fixtures.ts'
import { fakeHost, problemsOf, site, withFolder } from './support.ts'

test('a folder, the environment and the command line make one configuration', async () => {
  const files = {
    'core-site.xml': site({ 'fs.default.name': 'hdfs://nn:8020', 'yarn.nodemanager.user-home-dir': '/h' }),
    'yarn-site.xml': site({
      'yarn.nodemanager.log-dirs': '${yarn.log.dir}/c',
      'yarn.nodemanager.lokal-dirs': '/x',
      'yarn.nodemanager.address': '${env.NODE:-node7}:8041',
    }),
  }
  await withFolder(files, async (folder) => {
    const { config, confDir, warnings, notices } = await loadNodeManagerConfig({
      confDir: folder,
      env: { HADOOP_LOG_DIR: '/var/log/hadoop' },
      defines: { 'yarn.nodemanager.delete.thread-count': '9', 'yarn.resourcemanager.hostname': 'rm' },
      host: fakeHost(),
    })
    assert.equal(confDir, folder)
    assert.deepEqual(config.directories.logDirs, ['/var/log/hadoop/c'])
    assert.equal(config.containerManager.host, 'node7')
    assert.equal(config.deletion.threads, 9)
    assert.equal(config.defaultFileSystem, 'hdfs://nn:8020')
    assert.deepEqual(notices, ['fs.default.name is deprecated. Instead, use fs.defaultFS'])
    assert.deepEqual(warnings, [
      `${folder}/core-site.xml:3: yarn.nodemanager.user-home-dir in core-site.xml: Hadoop's own daemons would use the default '/home/'; write it in yarn-site.xml`,
      `${folder}/yarn-site.xml:3: unknown key yarn.nodemanager.lokal-dirs: it is ignored; did you mean yarn.nodemanager.local-dirs?`,
    ])
  })
})

test('a folder without a setting is warned about', async () => {
  await withFolder({}, async (folder) => {
    const { confDir, warnings } = await loadConfiguration({ confDir: folder, env: {}, defines: {} })
    assert.equal(confDir, folder)
    assert.deepEqual(warnings, [`no setting in ${folder}/core-site.xml, yarn-site.xml: everything has its default`])
  })
})

test('an error names the file as it was found', async () => {
  await withFolder({ 'yarn-site.xml': site({ 'yarn.nodemanager.delete.thread-count': 'x' }) }, async (folder) => {
    const problems = await problemsOf(() =>
      loadNodeManagerConfig({ confDir: folder, env: {}, defines: {}, host: fakeHost() }),
    )
    assert.deepEqual(
      problems.map(({ source }) => source),
      [{ file: join(folder, 'yarn-site.xml'), line: 2 }],
    )
  })
})

test('mapred-site.xml is read when it is asked for', async () => {
  await withFolder({ 'mapred-site.xml': site({ 'mapreduce.shuffle.port': '1' }) }, async (folder) => {
    const plain = await loadConfiguration({ confDir: folder, env: {}, defines: {} })
    assert.equal(plain.configuration.get('mapreduce.shuffle.port'), '13562')
    const files = ['core-site.xml', 'yarn-site.xml', 'mapred-site.xml']
    const more = await loadConfiguration({ confDir: folder, env: {}, defines: {}, files })
    assert.equal(more.configuration.get('mapreduce.shuffle.port'), '1')
    assert.deepEqual(more.warnings, [])
  })
})

test('the configuration that comes with Bobbin is loopback only, has the usual ports and no complaint', async () => {
  const { config, configuration, warnings, notices } = await loadNodeManagerConfig({
    confDir: join(projectRoot(), 'config'),
    env: {},
    defines: { 'bobbin.work.dir': '/work/b' },
    host: fakeHost(),
  })
  assert.deepEqual([warnings, notices], [[], []])
  assert.deepEqual(config.containerManager, { bindHost: '127.0.0.1', host: 'localhost', port: 8041 })
  assert.deepEqual(config.web, { bindHost: '127.0.0.1', host: 'localhost', port: 8042 })
  assert.deepEqual(config.directories.localDirs, ['/work/b/local'])
  assert.deepEqual(config.directories.logDirs, ['/work/b/logs/userlogs'])
  assert.equal(config.recovery.directory, '/work/b/yarn-nm-recovery')
  const rm = embeddedRmConfig(configuration)
  const ports = [rm.scheduler, rm.resourceTracker, rm.client, rm.admin, rm.web]
  assert.deepEqual(
    ports.map(({ bindHost, port }) => `${bindHost}:${port}`),
    ['127.0.0.1:8030', '127.0.0.1:8031', '127.0.0.1:8032', '127.0.0.1:8033', '127.0.0.1:8088'],
  )
  assert.equal(rm.minimumAllocation.memoryMb, 64)
})

test('the example for a worker has no complaint', async () => {
  const { config, warnings } = await loadNodeManagerConfig({
    confDir: join(projectRoot(), 'config/examples'),
    env: {},
    defines: { 'yarn.nodemanager.resource.memory-mb': '4096' },
    host: fakeHost(),
  })
  assert.deepEqual(warnings, [])
  assert.deepEqual([config.containerManager.host, config.recovery.isEnabled], ['worker1.example.com', true])
})

test('this machine has a name, memory and processors, and loopback is localhost', async () => {
  assert.match(await systemHost.localName(), /\S/)
  assert.equal(await systemHost.canonicalName('127.0.0.1'), 'localhost')
  assert.equal(await systemHost.canonicalName('no-such-host.invalid'), undefined)
  assert.ok((await systemHost.memoryInfo()).physicalBytes > 2 ** 27)
  assert.ok(systemHost.processorCount() >= 1)
  assert.ok((await systemHost.coreCount()) >= 1)
})
