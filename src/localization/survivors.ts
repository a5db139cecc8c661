import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCode } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { containerOf } from '../executors/marked-processes.ts'

const PID_FILE = /^(container_\w+)\.pid$/

/**
 * Tells of containers that still run though the daemon that started them was killed: their directories go, and nobody
 * ends them. They are not touched, for this daemon can't know what they are worth.
 * @param privateDir `nmPrivate` of the earlier run; their pid files are `<application>/<container>/<container>.pid`
 */
export async function tellOfSurvivors(privateDir: string, log: Log): Promise<void> {
  for (const application of await directoriesOf(privateDir))
    for (const directory of await directoriesOf(application))
      for (const entry of await entriesOf(directory)) {
        const containerId = PID_FILE.exec(entry.name)?.[1]
        if (containerId === undefined || !entry.isFile()) continue
        const pid = await pidIn(join(directory, entry.name))
        if (pid === undefined || (await containerOf(pid)) !== containerId) continue
        log.warn(
          { containerId, pid },
          `Container ${containerId} of an earlier run still runs as process group ${pid}. This version cannot take it` +
            ` over, and its directories are removed: end it with 'kill -- -${pid}' unless it is to go on without them`,
        )
      }
}

async function directoriesOf(path: string): Promise<readonly string[]> {
  return (await entriesOf(path)).filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name))
}

async function entriesOf(path: string) {
  try {
    return await readdir(path, { withFileTypes: true })
  } catch (thrown) {
    if (systemCode(thrown) === 'ENOENT') return []
    throw thrown
  }
}

async function pidIn(path: string): Promise<number | undefined> {
  const text = /^\s*([1-9]\d*)\s*$/m.exec(await readFile(path, 'utf8'))?.[1]
  return text === undefined ? undefined : Number(text)
}
