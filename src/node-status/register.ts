import { BobbinError } from '../base/errors.ts'
import { applicationIdToProto, nodeIdToProto } from '../protocol/ids.ts'
import { hadoop } from '../protocol/messages.ts'
import { resourceToProto, type Resource } from '../protocol/resource.ts'
import type { ManagedContainers } from './managed-node.ts'
import { nodeStatus, type NodeStatusParts } from './node-status.ts'
import { compareVersions } from './version.ts'

type Request = hadoop.yarn.RegisterNodeManagerRequestProto.$Properties
type Response = hadoop.yarn.RegisterNodeManagerResponseProto.$Properties

export interface RegistrationInput extends NodeStatusParts {
  readonly containers: Pick<ManagedContainers, 'applications'>
  readonly httpPort: number
  readonly resource: Resource
  readonly physicalResource: Resource
  readonly hadoopVersion: string
}

/** Source: NodeStatusUpdaterImpl.registerWithRM; response id 0 starts a new sequence of heartbeats. */
export function registrationRequest(input: RegistrationInput): Request {
  const containerStatuses = input.completed.registrationStatuses()
  return {
    nodeId: nodeIdToProto(input.report.nodeId()),
    httpPort: input.httpPort,
    resource: resourceToProto(input.resource),
    nmVersion: input.hadoopVersion,
    containerStatuses,
    runningApplications: [...input.containers.applications]
      .filter((application) => application.state !== 'FINISHED')
      .map((application) => applicationIdToProto(application.id)),
    physicalResource: resourceToProto(input.physicalResource),
    nodeStatus: nodeStatus(input, 0),
  }
}

export interface VersionRule {
  readonly hadoopVersion: string
  /** `NONE`, `EqualToNM`, or the lowest version that is accepted. */
  readonly minimumResourceManagerVersion: string
}

/** @throws BobbinError ERR_REGISTRATION_REFUSED with Hadoop's words. */
export function checkRegistration(response: Response, rule: VersionRule): void {
  if (response.nodeAction === hadoop.yarn.NodeActionProto.SHUTDOWN)
    throw refused(
      'Received SHUTDOWN signal from Resourcemanager, Registration of NodeManager failed, ' +
        `Message from ResourceManager: ${response.diagnosticsMessage ?? ''}`,
    )
  const minimum =
    rule.minimumResourceManagerVersion === 'EqualToNM' ? rule.hadoopVersion : rule.minimumResourceManagerVersion
  if (minimum === 'NONE') return
  const version = response.rmVersion ?? undefined
  if (version === undefined)
    throw refused(
      "Shutting down the Node Manager. The Resource Manager's did not return a version. " +
        'Valid version cannot be checked.',
    )
  if (compareVersions(version, minimum) < 0)
    throw refused(
      "Shutting down the Node Manager on RM version error, The Resource Manager's version " +
        `(${version}) is less than the minimum allowed version ${minimum}`,
    )
}

function refused(message: string): BobbinError {
  return new BobbinError('ERR_REGISTRATION_REFUSED', message)
}
