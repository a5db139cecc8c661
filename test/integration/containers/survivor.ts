/** Launches one container through the default executor, for a test that kills this process meanwhile. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DefaultContainerExecutor } from '../../../src/executors/default.ts'
import type { LaunchRequest } from '../../../src/executors/executor.ts'
import { APPLICATION, token } from '../../helpers/container-node.ts'

/** The same for both processes. @param command given by the one that writes the files */
export async function launchRequest(root: string, command?: string): Promise<LaunchRequest> {
  const { containerId } = token(1)
  const privateDir = join(root, 'local0', 'nmPrivate', APPLICATION, containerId)
  const request = {
    containerId,
    applicationId: APPLICATION,
    user: 'alice',
    workDir: join(root, 'local0', 'usercache', 'alice', 'appcache', APPLICATION, containerId),
    scriptFile: join(privateDir, 'launch_container.sh'),
    tokensFile: join(privateDir, `${containerId}.tokens`),
    extraFiles: [],
    pidFile: join(privateDir, `${containerId}.pid`),
    environment: {},
    localDirs: [join(root, 'local0')],
    logDirs: [join(root, 'logs')],
    cancel: new AbortController().signal,
  }
  if (command !== undefined) {
    await mkdir(privateDir, { recursive: true })
    await writeFile(request.scriptFile, `#!/bin/bash\n${command}\n`)
    await writeFile(request.tokensFile, '')
  }
  return request
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const executor = new DefaultContainerExecutor({
    niceAdjustment: undefined,
    logDirMode: 0o710,
    searchPath: '/usr/bin:/bin',
  })
  await executor.init()
  await executor.launch(await launchRequest(process.argv[2] ?? ''))
}
