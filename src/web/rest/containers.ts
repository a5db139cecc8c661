import type { ContainerView } from '../../containers/container-view.ts'
import { parseContainerId, type ContainerId } from '../../protocol/ids.ts'
import { badRequest, notFound } from '../../base/http-errors.ts'
import { listLogFiles } from '../log-files.ts'
import type { WebViews } from '../views.ts'
import { logAccess } from './log-access.ts'

/** `/ws/v1/node/containers`. @param baseUrl scheme and host as the client has named them */
export async function containerList(views: WebViews, baseUrl: string): Promise<object> {
  const container: object[] = []
  for (const view of [...views.containers.containers]) container.push(await fields(views, view, baseUrl))
  return { containers: container.length === 0 ? {} : { container } }
}

/** `/ws/v1/node/containers/{containerid}` */
export async function containerById(views: WebViews, text: string, baseUrl: string): Promise<object> {
  const view = views.containers.findContainer(containerIdOf(text))
  if (view === undefined) throw notFound(`container with id, ${text}, not found`)
  return { container: await fields(views, view, baseUrl) }
}

export function containerIdOf(text: string): ContainerId {
  try {
    return parseContainerId(text)
  } catch {
    // Hadoop's words say which text is wrong; the reason adds nothing.
    throw badRequest(`invalid container id, ${text}`)
  }
}

/** Fields and their order: ContainerInfo. */
async function fields(views: WebViews, view: ContainerView, baseUrl: string): Promise<object> {
  const { id, state, exitStatus, diagnostics, user, resource, executionType } = view
  const files = logAccess(views.containers, id).isAllowed ? await listLogFiles(views.logs.logDirs, id) : []
  return {
    id,
    state,
    exitCode: exitStatus,
    diagnostics,
    user,
    totalMemoryNeededMB: resource.memoryMb,
    totalVCoresNeeded: resource.vcores,
    executionType,
    containerLogsLink: `${baseUrl}/node/containerlogs/${id}/${user}`,
    nodeId: views.node().nodeId,
    ...(files.length === 0 ? {} : { containerLogFiles: files.map((file) => file.name) }),
  }
}
