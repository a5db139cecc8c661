import { javaDate } from '../../base/times.ts'
import { webApplicationException } from '../../base/http-errors.ts'
import { listLogFiles, type LogFile } from '../log-files.ts'
import type { WebViews } from '../views.ts'
import { containerIdOf } from './containers.ts'
import { logAccess } from './log-access.ts'

/**
 * `/ws/v1/node/containers/{containerid}/logs`. In this answer a list of one is written as the one, and an empty list
 * is left out, as the clients of Java's Jersey 1 know it. Fields and their order: ContainerLogsInfo.
 */
export async function containerLogs(views: WebViews, text: string): Promise<object> {
  const id = containerIdOf(text)
  const access = logAccess(views.containers, id)
  if (!access.isAllowed)
    throw webApplicationException(
      503,
      `org.apache.hadoop.yarn.webapp.NotFoundException: java.lang.Exception: ${access.reason}`,
    )
  const files = (await listLogFiles(views.logs.logDirs, id)).map(fields)
  const [first, ...others] = files
  return {
    containerLogsInfo: {
      ...(first === undefined ? {} : { containerLogInfo: others.length === 0 ? first : files }),
      logAggregationType: 'LOCAL',
      containerId: id,
      nodeId: views.node().nodeId,
    },
  }
}

function fields({ name, sizeBytes, modifiedTime }: LogFile): object {
  return { fileName: name, fileSize: String(sizeBytes), lastModifiedTime: javaDate(modifiedTime) }
}
