import { BobbinError } from '../base/errors.ts'
import type { LocalResource } from '../localization/localization.ts'
import type { hadoop } from '../protocol/messages.ts'
import { toNumber } from '../protocol/messages.ts'

type ResourceEntry = hadoop.yarn.StringLocalResourceMapProto.$Properties

/** A localized path and the names under which it is linked in the work dir. */
export interface ResourceLinks {
  readonly path: string
  readonly names: readonly string[]
}

interface Wanted {
  readonly resource: LocalResource
  readonly names: string[]
  path: string | undefined
}

/** What a container asked to be localized, and what of it is there. Source: ResourceSet. */
export class ContainerResources {
  readonly #wanted = new Map<LocalResource, Wanted>()
  #pending = 0

  /**
   * Takes the launch context's map: a repeated name counts once, the last; the same resource under two names is asked
   * for once and linked twice.
   * @returns what to localize
   * @throws BobbinError ERR_BAD_RESOURCE for one without a usable address
   */
  request(entries: readonly ResourceEntry[]): readonly LocalResource[] {
    const byName = new Map(entries.map(({ key, value }) => [key ?? '', value]))
    const byIdentity = new Map<string, Wanted>()
    for (const [name, resource] of byName) {
      const identity = identityOf(name, resource)
      const known = byIdentity.get(identity.key)
      if (known === undefined)
        byIdentity.set(identity.key, { resource: identity.resource, names: [name], path: undefined })
      else known.names.push(name)
    }
    for (const wanted of byIdentity.values()) this.#wanted.set(wanted.resource, wanted)
    this.#pending = this.#wanted.size
    return [...this.#wanted.keys()]
  }

  /** @returns how many are still awaited */
  localized(resource: LocalResource, path: string): number {
    const wanted = this.#wanted.get(resource)
    if (wanted !== undefined && wanted.path === undefined) {
      wanted.path = path
      this.#pending--
    }
    return this.#pending
  }

  get links(): readonly ResourceLinks[] {
    return [...this.#wanted.values()].flatMap(({ path, names }) => (path === undefined ? [] : [{ path, names }]))
  }
}

/** Two requests are for one thing when address, time, type and pattern are equal. Source: LocalResourceRequest.equals. */
function identityOf(
  name: string,
  resource: LocalResource | null | undefined,
): { readonly key: string; readonly resource: LocalResource } {
  const url = resource?.resource
  if (resource === null || resource === undefined || url === null || url === undefined || (url.file ?? '') === '')
    throw new BobbinError(
      'ERR_BAD_RESOURCE',
      `Local resource '${name}' has no path in its URL: give scheme, host, port and file`,
    )
  const key = [
    [url.scheme ?? '', url.userInfo ?? '', url.host ?? '', url.port ?? -1, url.file],
    toNumber(resource.timestamp, 0),
    resource.type ?? 0,
    resource.pattern ?? '',
  ]
  return { key: JSON.stringify(key), resource }
}
