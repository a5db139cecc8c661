/** Which links the script makes in the work dir. Source: ContainerExecutor.resolveSymLinks. */
import { readdir } from 'node:fs/promises'
import { basename, join, posix } from 'node:path'
import type { ResourceLinks } from '../container-resources.ts'
import { LaunchRefusal } from './refusal.ts'

export interface Link {
  readonly target: string
  /** Relative to the work dir, and inside it. */
  readonly name: string
}

/** As a link's last part: every entry of the resource, under its own name, in the work dir itself. */
const WILDCARD = '*'

/** @throws LaunchRefusal for a name that would leave the work dir, or lie inside what another name links to */
export async function resolveLinks(resources: readonly ResourceLinks[]): Promise<Link[]> {
  const links: Link[] = []
  for (const { path, names } of resources)
    for (const name of names) {
      if (basename(name) === WILDCARD)
        for (const entry of await readdir(path)) links.push({ target: join(path, entry), name: entry })
      else links.push({ target: path, name: checkedName(name) })
    }
  refuseNested(links)
  return links
}

function checkedName(name: string): string {
  const normal = posix.normalize(name)
  const isInside =
    name !== '' && !name.includes('\0') && !normal.startsWith('/') && normal !== '.' && normal.split('/')[0] !== '..'
  if (!isInside)
    throw new LaunchRefusal(
      `Link name '${printable(name)}' leaves the work dir: give a name relative to it, without '..'`,
    )
  return normal.replace(/\/$/, '')
}

/** A link below another link would be made inside the other's target: in a cache that others share. */
function refuseNested(links: readonly Link[]): void {
  const names = new Set(links.map(({ name }) => name))
  for (const { name } of links)
    for (let slash = name.indexOf('/'); slash !== -1; slash = name.indexOf('/', slash + 1)) {
      const outer = name.slice(0, slash)
      if (names.has(outer))
        throw new LaunchRefusal(
          `Link name '${printable(name)}' lies inside '${printable(outer)}', which is a link itself: give it a name of its own`,
        )
    }
}

function printable(name: string): string {
  return name.replaceAll('\0', '\\0')
}
