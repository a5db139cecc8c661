import { APPLICATION_STATES, type ApplicationView } from '../../applications/application-view.ts'
import { parseApplicationId, type ApplicationId } from '../../protocol/ids.ts'
import { badRequest, illegalArgument, notFound } from '../../base/http-errors.ts'
import type { ContainerViews } from '../views.ts'

export interface AppsQuery {
  readonly state: string | undefined
  readonly user: string | undefined
}

/**
 * `/ws/v1/node/apps`. As in Java a filter's value is looked at for each application: on a node without applications
 * any value is accepted.
 */
export function appList(views: ContainerViews, query: AppsQuery): object {
  const app = [...views.applications].filter((application) => matches(application, query)).map(fields)
  return { apps: app.length === 0 ? {} : { app } }
}

/** `/ws/v1/node/apps/{appid}` */
export function appById(views: ContainerViews, text: string): object {
  const application = views.findApplication(applicationIdOf(text))
  if (application === undefined) throw notFound(`app with id ${text} not found`)
  return { app: fields(application) }
}

/** Fields and their order: AppInfo. */
function fields({ id, state, user, containerIds }: ApplicationView): object {
  return { id, state, user, ...(containerIds.length === 0 ? {} : { containerids: containerIds }) }
}

function matches(application: ApplicationView, { state, user }: AppsQuery): boolean {
  if (state !== undefined && state !== '') {
    if (!(APPLICATION_STATES as readonly string[]).includes(state))
      throw illegalArgument(
        'No enum constant ' +
          `org.apache.hadoop.yarn.server.nodemanager.containermanager.application.ApplicationState.${state}`,
      )
    if (application.state !== state) return false
  }
  if (user === '') throw badRequest('Error: You must specify a non-empty string for the user')
  return user === undefined || application.user === user
}

function applicationIdOf(text: string): ApplicationId {
  const cause = 'java.lang.IllegalArgumentException'
  if (!text.startsWith('application_'))
    throw badRequest(
      `Invalid ApplicationId prefix: ${text}. The valid ApplicationId should start with prefix application`,
      cause,
    )
  try {
    return parseApplicationId(text)
  } catch {
    // Hadoop's words say which text is wrong; the reason adds nothing.
    throw badRequest(`Invalid ApplicationId: ${text}`, cause)
  }
}
