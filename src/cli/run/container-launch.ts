/** The launch context that every container of a run is started with. */
import { stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { messageOf, systemCode } from '../../base/errors.ts'
import { hadoop } from '../../protocol/messages.ts'
import { RunExitCode, RunError } from './exit-codes.ts'
import type { RunOptions } from './options.ts'
import { environmentValue, launchCommand } from './command-quoting.ts'

type LaunchContext = hadoop.yarn.ContainerLaunchContextProto.$Properties
type NamedResource = hadoop.yarn.StringLocalResourceMapProto.$Properties

/** @throws RunError for a file that can not be sent, or a command that is too long */
export async function launchContext(
  options: Pick<RunOptions, 'command' | 'environment' | 'files'>,
): Promise<LaunchContext> {
  return {
    command: [launchCommand(options.command)],
    environment: [...options.environment].map(([key, value]) => ({ key, value: environmentValue(value) })),
    localResources: await Promise.all(options.files.map(localResource)),
  }
}

/**
 * The file under its base name, with the size and time that the node checks before it copies it.
 * Source: FSDownload.verifyAndCopy compares whole milliseconds.
 */
async function localResource(path: string): Promise<NamedResource> {
  const file = resolve(path)
  const name = basename(file)
  // launch_container.sh has the names of path and link between double quotes, with nothing escaped.
  if (/[\\$`"*\n]/.test(file)) {
    const advice = String.raw`a path with any of \ $ ${'`'} " * or a line break can not be sent; rename it`
    throw new RunError(RunExitCode.USAGE, `--file ${path}: ${advice}`)
  }
  const { size, mtimeNs } = await statFile(path, file)
  return {
    key: name,
    value: {
      resource: { scheme: 'file', port: -1, file },
      size: Number(size),
      timestamp: Number(mtimeNs / 1_000_000n),
      type: hadoop.yarn.LocalResourceTypeProto.FILE,
      visibility: hadoop.yarn.LocalResourceVisibilityProto.APPLICATION,
    },
  }
}

async function statFile(path: string, file: string): Promise<{ size: bigint; mtimeNs: bigint }> {
  try {
    const found = await stat(file, { bigint: true })
    if (found.isFile()) return found
  } catch (thrown) {
    const reason = systemCode(thrown) === 'ENOENT' ? `there is no ${file}` : messageOf(thrown)
    throw new RunError(RunExitCode.USAGE, `--file ${path}: ${reason}`, thrown)
  }
  throw new RunError(RunExitCode.USAGE, `--file ${path}: ${file} is not a regular file`)
}
