import { readdir, readFile, stat } from 'node:fs/promises'
import type { TestContext } from 'node:test'
import type { Container } from '../../../src/containers/container.ts'
import { ContainerNode, type ContainerNodeOptions } from '../../helpers/container-node.ts'
import { until } from '../../helpers/until.ts'

/** A node of its own for one test, gone at its end. */
export async function nodeFor(t: TestContext, options: ContainerNodeOptions = {}): Promise<ContainerNode> {
  const node = await ContainerNode.make(options)
  t.after(() => node.close())
  return node
}

/** Until a file that a container makes is there. */
export function appears(path: string): Promise<void> {
  return until(`${path} appears`, () =>
    stat(path).then(
      () => true,
      () => false, // not yet
    ),
  )
}

/** Starts a container that runs until it is killed; its command makes the file `ready` in its log dir. */
export async function started(node: ContainerNode, container: Container): Promise<number> {
  container.init()
  await appears(`${node.containerLogDir(container)}/ready`)
  await until('the pid is known', () => container.pid !== undefined)
  return container.pid ?? 0
}

/** Whether a process runs; a zombie only waits for its parent. */
export async function isLiving(pid: number): Promise<boolean> {
  return (await statOf(pid)) !== undefined
}

/** Whether anything of a process group runs. */
export async function isGroupLiving(group: number): Promise<boolean> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const stats = await Promise.all(pids.map(statOf))
  return stats.some((fields) => fields?.[2] === String(group))
}

/** The fields of /proc/PID/stat from the state on; undefined when nothing runs there. */
export async function statOf(pid: number): Promise<string[] | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? undefined : fields
  } catch {
    return undefined // it has gone
  }
}

/** The diagnostics without their times. */
export function untimed(container: Container): string {
  return container.diagnostics.replaceAll(/\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\]/g, '[T]')
}
