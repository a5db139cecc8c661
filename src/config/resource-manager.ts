import type { Configuration } from './configuration.ts'
import { freeze } from './freeze.ts'
import type { Address, ResourceManagerConfig, ResourceManagerMember, RetryConfig } from './node-manager-config.ts'
import { Settings } from './settings.ts'

type Caller = 'client' | 'node'

/**
 * How a client of the cluster, such as `bobbin run`, finds its ResourceManager.
 * @throws ConfigError
 */
export function resourceManagerConfig(configuration: Configuration): ResourceManagerConfig {
  const settings = new Settings(configuration)
  const config = readResourceManager(settings, 'client')
  settings.finish()
  return freeze(config)
}

/** @param caller a node has keys of its own for how long it insists. Source: RMProxy, ServerRMProxy, HAUtil */
export function readResourceManager(settings: Settings, caller: Caller): ResourceManagerConfig {
  const isHa = settings.read('yarn.resourcemanager.ha.enabled')
  return { members: isHa ? haMembers(settings) : [singleMember(settings)], isHa, retry: readRetry(settings, caller) }
}

function singleMember(settings: Settings): ResourceManagerMember {
  return {
    id: '',
    resourceTracker: settings.read('yarn.resourcemanager.resource-tracker.address'),
    client: settings.read('yarn.resourcemanager.address'),
    scheduler: settings.read('yarn.resourcemanager.scheduler.address'),
    web: settings.read('yarn.resourcemanager.webapp.address'),
  }
}

function haMembers(settings: Settings): readonly ResourceManagerMember[] {
  const key = 'yarn.resourcemanager.ha.rm-ids'
  const ids = settings.read(key).filter((id) => id !== '')
  if (ids.length === 0) settings.fail(key, 'yarn.resourcemanager.ha.enabled is true, so the ids must be here: rm1,rm2')
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index)
  if (repeated !== undefined) settings.fail(key, `the id '${repeated}' is there twice`)
  return ids.map((id) => ({
    id,
    resourceTracker: memberAddress(settings, 'yarn.resourcemanager.resource-tracker.address.<rm-id>', id, 8031),
    client: memberAddress(settings, 'yarn.resourcemanager.address.<rm-id>', id, 8032),
    scheduler: memberAddress(settings, 'yarn.resourcemanager.scheduler.address.<rm-id>', id, 8030),
    web: memberAddress(settings, 'yarn.resourcemanager.webapp.address.<rm-id>', id, 8088),
  }))
}

type MemberKey =
  | 'yarn.resourcemanager.resource-tracker.address.<rm-id>'
  | 'yarn.resourcemanager.address.<rm-id>'
  | 'yarn.resourcemanager.scheduler.address.<rm-id>'
  | 'yarn.resourcemanager.webapp.address.<rm-id>'

function memberAddress(settings: Settings, name: MemberKey, id: string, defaultPort: number): Address {
  const address = settings.read(name, id)
  if (address !== undefined) return address
  const host = settings.read('yarn.resourcemanager.hostname.<rm-id>', id)
  if (host === undefined && !settings.isSet(name, id)) {
    settings.fail(name, `set it, or yarn.resourcemanager.hostname.${id}: '${id}' is one of the rm-ids`, id)
  }
  return { host: host ?? '', port: defaultPort }
}

function readRetry(settings: Settings, caller: Caller): RetryConfig {
  const ofNode = caller === 'node'
  return {
    maxWaitMs: settings.read(
      ofNode ? 'yarn.nodemanager.resourcemanager.connect.max-wait.ms' : 'yarn.resourcemanager.connect.max-wait.ms',
    ),
    retryIntervalMs: settings.read(
      ofNode
        ? 'yarn.nodemanager.resourcemanager.connect.retry-interval.ms'
        : 'yarn.resourcemanager.connect.retry-interval.ms',
    ),
    failoverMaxAttempts: settings.read('yarn.client.failover-max-attempts'),
    failoverSleepBaseMs: failoverSleepMs(settings, 'yarn.client.failover-sleep-base-ms', ofNode),
    failoverSleepMaxMs: failoverSleepMs(settings, 'yarn.client.failover-sleep-max-ms', ofNode),
    failoverRetries: settings.read('yarn.client.failover-retries'),
    failoverRetriesOnTimeouts: settings.read('yarn.client.failover-retries-on-socket-timeouts'),
  }
}

type SleepKey = 'yarn.client.failover-sleep-base-ms' | 'yarn.client.failover-sleep-max-ms'

/** Unset, it is the caller's own retry interval, which for a node may be another than the general one. */
function failoverSleepMs(settings: Settings, name: SleepKey, ofNode: boolean): number {
  if (ofNode && !settings.isSet(name))
    return settings.read('yarn.nodemanager.resourcemanager.connect.retry-interval.ms')
  return settings.read(name)
}
