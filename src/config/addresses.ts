import type { HostFacts } from './host.ts'
import type { Address, ListenAddress } from './node-manager-config.ts'
import type { Settings } from './settings.ts'

type ServedKey = 'yarn.nodemanager.address' | 'yarn.nodemanager.webapp.address'

/**
 * A port of the node. Others are told the canonical name of the address key's host, also where
 * `yarn.nodemanager.bind-host` says what to bind to. Source: ContainerManagerImpl.serviceStart, buildNodeId.
 */
export async function listenAddress(settings: Settings, name: ServedKey, host: HostFacts): Promise<ListenAddress> {
  const { host: configured, port } = settings.read(name)
  const bindHost = settings.read('yarn.nodemanager.bind-host')
  // The value was wrong, and so is nothing that could be looked up.
  if (configured === '') return { bindHost: '', host: '', port }
  const canonical = isWildcard(configured) ? await host.localName() : await host.canonicalName(configured)
  if (canonical === undefined)
    settings.fail(name, `the host '${configured}' has no address: correct it, or its name service`)
  return { bindHost: bindHost || configured, host: canonical ?? configured, port }
}

/** Says where a node would be known by a name that its ResourceManager can't use. */
export function warnOfLoopback(settings: Settings, node: ListenAddress, tracker: Address): void {
  if (isWildcard(tracker.host)) {
    settings.warn(
      `the ResourceManager's host is ${tracker.host}, which means this machine: set yarn.resourcemanager.hostname`,
    )
  } else if (isLoopback(node.host) && !isLoopback(tracker.host)) {
    settings.warn(
      `this node would register as ${node.host} with a ResourceManager on ${tracker.host}, which can't reach it by` +
        ' that name: set yarn.nodemanager.hostname or correct /etc/hosts',
    )
  }
}

/** `host:port` as messages and URLs have it; an IPv6 address in brackets. */
export function addressText({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || /^[0:]+$/.test(host)
}

function isLoopback(host: string): boolean {
  return host === '::1' || /^127(\.\d+){3}$/.test(host) || /^(localhost|ip6-localhost)(\.|$)/i.test(host)
}
