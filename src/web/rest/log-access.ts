import { applicationOfContainer, type ContainerId } from '../../protocol/ids.ts'
import type { ContainerViews } from '../views.ts'

export type LogAccess = { readonly isAllowed: true } | { readonly isAllowed: false; readonly reason: string }

const NOT_YET_RUNNING: ReadonlySet<string> = new Set(['NEW', 'LOCALIZING', 'SCHEDULED'])

/**
 * Whether logs of a container are served. The container itself need not be known, only its application: a completed
 * container leaves the node's table before its logs go. Source: ContainerLogsUtils.getContainerLogDirs.
 */
export function logAccess(views: ContainerViews, id: ContainerId): LogAccess {
  if (views.findApplication(applicationOfContainer(id)) === undefined)
    return {
      isAllowed: false,
      reason:
        'Unknown container. Container either has not started or has already completed ' +
        "or doesn't belong to this node at all.",
    }
  const state = views.findContainer(id)?.state ?? 'DONE'
  if (NOT_YET_RUNNING.has(state))
    return { isAllowed: false, reason: `Container is not yet running. Current state is ${state}` }
  if (state === 'LOCALIZATION_FAILED')
    return { isAllowed: false, reason: "Container wasn't started. Localization failed." }
  return { isAllowed: true }
}
