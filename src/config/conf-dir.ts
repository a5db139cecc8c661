import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { systemCode } from '../base/errors.ts'
import { ConfigFileError } from './errors.ts'

export interface ConfDirOptions {
  /** `--config DIR` */
  readonly option?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * The configuration folder: `--config`, YARN_CONF_DIR, HADOOP_CONF_DIR, `$HADOOP_HOME/etc/hadoop`, `/etc/hadoop/conf`,
 * `/etc/hadoop`. Undefined when there is none of them.
 * @throws ConfigFileError for one of the first three that is given and is no folder: a daemon that then ran with
 *   defaults would only seem to work
 */
export async function findConfDir({ option, env }: ConfDirOptions): Promise<string | undefined> {
  const named = [
    { by: '--config', path: option },
    { by: 'YARN_CONF_DIR', path: env['YARN_CONF_DIR'] },
    { by: 'HADOOP_CONF_DIR', path: env['HADOOP_CONF_DIR'] },
  ]
  for (const { by, path } of named) {
    if (path === undefined || path === '') continue
    if (await isFolder(path)) return resolve(path)
    throw new ConfigFileError(path, undefined, `${by} names it, but it is not a folder`)
  }
  const home = env['HADOOP_HOME']
  const usual = ['/etc/hadoop/conf', '/etc/hadoop']
  if (home !== undefined && home !== '') usual.unshift(join(home, 'etc/hadoop'))
  for (const path of usual) if (await isFolder(path)) return resolve(path)
  return undefined
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (thrown) {
    const code = systemCode(thrown)
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return false
    throw thrown
  }
}
