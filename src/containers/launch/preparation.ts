import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { systemCode } from '../../base/errors.ts'
import { isInert } from '../../base/shell-quoting.ts'
import type { LaunchConfig } from '../../config/node-manager-config.ts'
import type { LaunchRequest } from '../../executors/executor.ts'
import { replaceFile } from '../../executors/replace-file.ts'
import type { LocalDirs } from '../../health/local-dirs.ts'
import { ContainerExitStatus } from '../../protocol/container-exit-status.ts'
import { nodeParts, type NodeId } from '../../protocol/ids.ts'
import { emptyCredentials, readCredentials, writeCredentials, type Credentials } from '../../security/credentials.ts'
import type { Container } from '../container.ts'
import { launchEnvironment, type EnvironmentOptions, type LaunchEnvironment, type Variable } from './environment.ts'
import { expandMarkers, JDK_17_OPTIONS } from './expansion.ts'
import { JdkVersions } from './jdk.ts'
import { resolveLinks } from './links.ts'
import { LaunchRefusal } from './refusal.ts'
import { launchScript } from './script.ts'

/** How the node is known to others; the ports are only certain once the services listen. */
export interface NodeIdentity {
  readonly nodeId: NodeId
  readonly httpPort: number
}

export interface PreparationOptions extends EnvironmentOptions, Pick<LaunchConfig, 'userHomeDir'> {
  readonly dirs: LocalDirs
  readonly node: () => NodeIdentity
  /** By the auxiliary service's name. */
  readonly auxServiceMetaData: () => ReadonlyMap<string, Uint8Array>
  /** The daemon's own environment. */
  readonly daemonEnvironment: Readonly<Record<string, string | undefined>>
}

export interface PreparedLaunch {
  readonly request: Omit<LaunchRequest, 'cancel'>
  /** The one of the container's log dirs that its markers and scripts name. */
  readonly logDir: string
}

const KEYSTORE = { alias: 'yarn.application.am.keystore', file: 'yarn_provided.keystore', variable: 'KEYSTORE' }
const TRUSTSTORE = { alias: 'yarn.application.am.truststore', file: 'yarn_provided.truststore', variable: 'TRUSTSTORE' }

/** Chooses a container's directories and writes what its launch needs into the node's private one. Source: ContainerLaunch.call. */
export class LaunchPreparation {
  readonly #options: PreparationOptions
  readonly #jdks = new JdkVersions()

  constructor(options: PreparationOptions) {
    this.#options = options
  }

  /** @throws LaunchRefusal when the container cannot be launched as it is; others when a file cannot be written */
  async prepare(container: Container, hasDebugInfo: boolean): Promise<PreparedLaunch> {
    const { dirs } = this.#options
    const { id, applicationId, user } = container
    const logDir = await dirs.logPathForWrite(join(applicationId, id))
    const workDir = await dirs.localPathForWrite(join('usercache', user, 'appcache', applicationId, id))
    const [scriptFile, tokensFile, pidFile] = await Promise.all(
      ['launch_container.sh', `${id}.tokens`, `${id}.pid`].map((name) => this.#privatePath(container, name)),
    )
    if (scriptFile === undefined || tokensFile === undefined || pidFile === undefined)
      throw new LaunchRefusal(`No private directory for ${id}`)
    if (!dirs.areDisksHealthy())
      throw new LaunchRefusal(`Most of the disks failed. ${dirs.report()}`, ContainerExitStatus.DISKS_FAILED)

    const credentials =
      container.spec.credentials.length === 0 ? emptyCredentials() : readCredentials(container.spec.credentials)
    const { extraFiles, secrets } = await this.#writeStores(container, workDir, credentials)
    const expansions = { logDir, addOpens: await this.#addOpens(container) }
    const environment = launchEnvironment(
      {
        requested: container.spec.launchContext.environment ?? [],
        tokenFile: join(workDir, 'container_tokens'),
        nodeVariables: this.#nodeVariables(container, workDir),
        secrets,
        daemon: this.#options.daemonEnvironment,
        expansions,
      },
      this.#options,
    )
    const script = launchScript({
      logDir,
      environment,
      links: await resolveLinks(container.resourceLinks),
      commands: (container.spec.launchContext.command ?? []).map((text) => expandMarkers(text, expansions)),
      hasDebugInfo,
    })
    await replaceFile(scriptFile, script, 0o644)
    await replaceFile(tokensFile, writeCredentials(credentials), 0o644)
    const { localDirs, logDirs } = dirs
    return {
      logDir,
      request: {
        containerId: id,
        applicationId,
        user,
        workDir,
        scriptFile,
        tokensFile,
        extraFiles,
        pidFile,
        environment: plainVariables(environment),
        localDirs,
        logDirs,
      },
    }
  }

  /** Each file may lie on another disk. */
  async #privatePath(container: Container, name: string): Promise<string> {
    const relative = join('nmPrivate', container.applicationId, container.id, name)
    const path = await this.#options.dirs.localPathForWrite(relative)
    // The top one keeps everything below it from others.
    const nmPrivate = join(path.slice(0, -relative.length), 'nmPrivate')
    await makeUnlessThere(nmPrivate, 0o700)
    await mkdir(dirname(path), { recursive: true, mode: 0o755 })
    return path
  }

  /** Key and trust store of an ApplicationMaster that serves HTTPS. */
  async #writeStores(container: Container, workDir: string, { secrets }: Credentials) {
    const extraFiles: string[] = []
    const variables: Variable[] = []
    for (const { alias, file, variable } of [KEYSTORE, TRUSTSTORE]) {
      const content = secrets.get(alias)
      if (content === undefined) continue
      const path = await this.#privatePath(container, file)
      await replaceFile(path, content, 0o600)
      extraFiles.push(path)
      variables.push(
        [`${variable}_FILE_LOCATION`, join(workDir, file)],
        [`${variable}_PASSWORD`, secrets.get(`${alias}.password`)?.toString('utf8') ?? ''],
      )
    }
    return { extraFiles, secrets: variables }
  }

  async #addOpens(container: Container): Promise<string> {
    const { launchContext } = container.spec
    const asked = new Map((launchContext.environment ?? []).map(({ key, value }) => [key, value ?? undefined]))
    const texts = [...(launchContext.command ?? []), ...asked.values()]
    // Looked for only where it is needed.
    if (!texts.some((text) => text?.includes('<ADD_OPENS>'))) return ''
    const { daemonEnvironment } = this.#options
    const version = await this.#jdks.majorVersion({
      javaHomes: [asked.get('JAVA_HOME'), daemonEnvironment['JAVA_HOME']],
      searchPaths: [asked.get('PATH'), daemonEnvironment['PATH']],
    })
    return version !== undefined && version >= 17 ? JDK_17_OPTIONS : ''
  }

  /** In Hadoop's order. Source: ContainerLaunch.sanitizeEnv. */
  #nodeVariables(container: Container, workDir: string): Variable[] {
    const { dirs, node, userHomeDir, auxServiceMetaData } = this.#options
    const { id, applicationId, user } = container
    const { nodeId, httpPort } = node()
    const { host, port } = nodeParts(nodeId)
    const userDirs = dirs.localDirs.map((dir) => `${dir}/usercache/${user}/`)
    return [
      ['CONTAINER_ID', id],
      ['NM_PORT', String(port)],
      ['NM_HOST', host],
      ['NM_HTTP_PORT', String(httpPort)],
      ['LOCAL_DIRS', userDirs.map((dir) => `${dir}appcache/${applicationId}`).join(',')],
      ['LOCAL_USER_DIRS', userDirs.join(',')],
      ['LOG_DIRS', dirs.logDirs.map((dir) => `${dir}/${applicationId}/${id}`).join(',')],
      ['USER', user],
      ['LOGNAME', user],
      ['HOME', userHomeDir],
      ['PWD', workDir],
      ['LOCALIZATION_COUNTERS', container.localizationCounters],
      ['JVM_PID', '$$'],
      ...Array.from(auxServiceMetaData(), ([name, data]): Variable => [
        `NM_AUX_SERVICE_${name}`,
        Buffer.from(data).toString('base64'),
      ]),
    ]
  }
}

/**
 * What may be laid over the process's own environment before its script has run: values in which nothing acts. The
 * others are set by the script alone, so that `PATH=$PATH:/x` refers to the daemon's PATH and not to itself.
 */
function plainVariables({ ofNode, ofContainer }: LaunchEnvironment): Record<string, string> {
  return Object.fromEntries([...ofContainer, ...ofNode].filter(([, value]) => isInert(value)))
}

async function makeUnlessThere(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode })
  } catch (thrown) {
    if (systemCode(thrown) !== 'EEXIST') throw thrown
  }
}
