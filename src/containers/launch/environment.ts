/** The variables of launch_container.sh, in its order. Source: ContainerLaunch.call, sanitizeEnv, addConfigsToEnv. */
import type { LaunchConfig } from '../../config/node-manager-config.ts'
import type { hadoop } from '../../protocol/messages.ts'
import { expandMarkers, type Expansions } from './expansion.ts'
import { variablesUsed } from './shell-word.ts'

export type Variable = readonly [name: string, value: string]

export type EnvironmentOptions = Pick<LaunchConfig, 'environmentWhitelist' | 'adminEnvironment' | 'forcePath'>

export interface EnvironmentSources {
  readonly requested: readonly hadoop.yarn.StringStringMapProto.$Properties[]
  /** HADOOP_TOKEN_FILE_LOCATION: set even where no other variable of the node is. */
  readonly tokenFile: string
  /** In Hadoop's order, without HADOOP_TOKEN_FILE_LOCATION; they outrank the container's. */
  readonly nodeVariables: readonly Variable[]
  /** Added last and never expanded: they hold passwords. */
  readonly secrets: readonly Variable[]
  /** The daemon's own environment. */
  readonly daemon: Readonly<Record<string, string | undefined>>
  readonly expansions: Expansions
}

export interface LaunchEnvironment {
  /** Of the daemon, used where the container's world has none. */
  readonly whitelisted: readonly Variable[]
  readonly ofNode: readonly Variable[]
  /** A variable comes after those that its value uses. */
  readonly ofContainer: readonly Variable[]
}

const TOKEN_FILE = 'HADOOP_TOKEN_FILE_LOCATION'
/** `true`: the image's entry point runs with the user's variables alone. */
const ENTRY_POINT_MODE = 'YARN_CONTAINER_RUNTIME_DOCKER_RUN_OVERRIDE_DISABLE'

export function launchEnvironment(sources: EnvironmentSources, options: EnvironmentOptions): LaunchEnvironment {
  const all = new Map(sources.requested.map(({ key, value }) => [key ?? '', value ?? '']))
  all.set(TOKEN_FILE, sources.tokenFile)
  addAdminVariables(all, sources.daemon, options)
  for (const [name, value] of all) all.set(name, expandMarkers(value, sources.expansions))

  const ofNode = new Map<string, string>()
  const setOfNode = (name: string, value: string) => {
    all.set(name, value)
    ofNode.set(name, value)
  }
  setOfNode(TOKEN_FILE, all.get(TOKEN_FILE) ?? sources.tokenFile)
  if (all.get(ENTRY_POINT_MODE)?.toLowerCase() === 'true') all.delete('WORK_DIR')
  else for (const [name, value] of sources.nodeVariables) setOfNode(name, value)
  for (const [name, value] of sources.secrets) all.set(name, value)

  return {
    whitelisted: options.environmentWhitelist.flatMap((name) => {
      const value = all.has(name) ? undefined : sources.daemon[name]
      return value === undefined ? [] : [[name, value] as const]
    }),
    ofNode: [...ofNode],
    ofContainer: byDependency(all).filter(([name]) => !ofNode.has(name)),
  }
}

/** Forced in, even where the container has them. Source: Apps.setEnvFromInputProperty, addToEnvironment. */
function addAdminVariables(
  all: Map<string, string>,
  daemon: EnvironmentSources['daemon'],
  { adminEnvironment, forcePath }: EnvironmentOptions,
): void {
  for (const { name, value } of adminEnvironment) {
    const substituted = value.replaceAll(
      /\$([A-Za-z_][A-Za-z0-9_]*)/g,
      (_, used: string) => all.get(used) ?? daemon[used] ?? '',
    )
    const had = all.get(name)
    all.set(name, had === undefined ? substituted : `${had}:${substituted}`)
  }
  if (forcePath !== '') all.set('PATH', `${forcePath}:${all.get('PATH') || '$PATH'}`)
}

/** Of two that use each other the one that was given first comes last. Source: ShellScriptBuilder.orderEnvByDependencies. */
function byDependency(variables: ReadonlyMap<string, string>): Variable[] {
  const ordered: Variable[] = []
  const begun = new Set<string>()
  // A stack of our own: a chain may be longer than the call stack is deep.
  const stack: { readonly name: string; readonly value: string; readonly uses: string[] }[] = []
  const begin = (name: string) => {
    const value = variables.get(name)
    if (value === undefined || begun.has(name)) return
    begun.add(name)
    stack.push({ name, value, uses: variablesUsed(value).reverse() })
  }
  for (const name of variables.keys()) {
    begin(name)
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const used = top.uses.pop()
      if (used !== undefined) begin(used)
      else {
        stack.pop()
        ordered.push([top.name, top.value])
      }
    }
  }
  return ordered
}
