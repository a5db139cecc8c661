import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { findConfDir } from '../../../src/config/conf-dir.ts'
import { systemProperties } from '../../../src/config/system-properties.ts'
import { withFolder } from './support.ts'

const FOLDERS = { 'option/x': '', 'yarn/x': '', 'hadoop/x': '', 'home/etc/hadoop/x': '', file: '' }

test('the folder is that of --config, YARN_CONF_DIR, HADOOP_CONF_DIR, HADOOP_HOME, in this order', async () => {
  await withFolder(FOLDERS, async (root) => {
    const env = {
      YARN_CONF_DIR: join(root, 'yarn'),
      HADOOP_CONF_DIR: join(root, 'hadoop'),
      HADOOP_HOME: join(root, 'home'),
    }
    assert.equal(await findConfDir({ option: join(root, 'option'), env }), join(root, 'option'))
    assert.equal(await findConfDir({ env }), join(root, 'yarn'))
    assert.equal(await findConfDir({ env: { ...env, YARN_CONF_DIR: '' } }), join(root, 'hadoop'))
    assert.equal(await findConfDir({ env: { HADOOP_HOME: join(root, 'home') } }), join(root, 'home/etc/hadoop'))
  })
})

test('a folder that is named and is none is refused by the name of who named it', async () => {
  await withFolder(FOLDERS, async (root) => {
    await assert.rejects(
      findConfDir({ option: join(root, 'none'), env: {} }),
      /none: --config names it, but it is not a folder/,
    )
    await assert.rejects(
      findConfDir({ env: { HADOOP_CONF_DIR: join(root, 'file') } }),
      /file: HADOOP_CONF_DIR names it/,
    )
  })
})

test('a HADOOP_HOME without a configuration folder is passed over', async () => {
  await withFolder(FOLDERS, async (root) => {
    const found = await findConfDir({ env: { HADOOP_HOME: join(root, 'option') } })
    assert.notEqual(found, join(root, 'option/etc/hadoop'))
  })
})

test('system properties are what Hadoop’s scripts would set', () => {
  const none = systemProperties({})
  assert.equal(none['java.io.tmpdir'], '/tmp')
  assert.equal(none['user.dir'], process.cwd())
  assert.equal(typeof none['user.name'], 'string')
  assert.equal('yarn.log.dir' in none, false)

  const home = systemProperties({ HADOOP_HOME: '/opt/hadoop' })
  assert.equal(home['hadoop.home.dir'], '/opt/hadoop')
  assert.equal(home['yarn.log.dir'], '/opt/hadoop/logs')

  const given = systemProperties({
    HADOOP_HOME: '/opt/hadoop',
    HADOOP_LOG_DIR: '/log',
    YARN_LOG_DIR: '/yarnlog',
    HADOOP_IDENT_STRING: 'ops',
  })
  assert.equal(given['hadoop.log.dir'], '/log')
  assert.equal(given['yarn.log.dir'], '/yarnlog')
  assert.equal(given['hadoop.id.str'], 'ops')
})
