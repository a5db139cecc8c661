import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { Configuration } from '../../config/configuration.ts'
import { ipcClientConfig } from '../../config/ipc.ts'
import { resourceManagerConfig } from '../../config/resource-manager.ts'
import { IpcConnection } from '../../ipc/client.ts'
import { ResourceManagerConnection } from '../../ipc/failover.ts'
import { applicationClient } from '../../protocol/application-client.ts'
import { applicationMaster } from '../../protocol/application-master.ts'
import { containerManagement } from '../../protocol/container-management.ts'
import { nodeParts } from '../../protocol/ids.ts'
import type { Connections } from './run-command.ts'

export interface ConnectionOptions {
  /** Who submits. */
  readonly user: string
  readonly clock: Clock
  /** Told of each attempt that failed and will be repeated. */
  readonly log: Log
}

/**
 * Connections to the cluster that the configuration names, its ResourceManagers failing over where there are several.
 * @throws ConfigError
 */
export function connectionsFrom(configuration: Configuration, { user, clock, log }: ConnectionOptions): Connections {
  const resourceManager = resourceManagerConfig(configuration)
  const ipcClient = ipcClientConfig(configuration)
  const common = { resourceManager, ipcClient, clock, log }
  return {
    client: () =>
      new ResourceManagerConnection({
        ...common,
        protocol: applicationClient,
        addressOf: (member) => member.client,
        login: { kind: 'simple', user },
      }),
    scheduler: (token) =>
      new ResourceManagerConnection({
        ...common,
        protocol: applicationMaster,
        addressOf: (member) => member.scheduler,
        login: { kind: 'token', token },
      }),
    node: (node, token) =>
      new IpcConnection(
        containerManagement,
        nodeParts(node),
        { kind: 'token', token },
        { config: ipcClient, clock, log },
      ),
  }
}
