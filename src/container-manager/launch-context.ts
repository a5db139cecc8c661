/** What a launch context must hold before its container is accepted. Source: ContainerManagerImpl. */
import type { AuxiliaryServices } from '../aux-services/registry.ts'
import { hadoop, type Int64 } from '../protocol/messages.ts'
import { JavaClass, RemoteError } from '../protocol/remote-error.ts'
import { readCredentials } from '../security/credentials.ts'
import { yarnException } from './failures.ts'

export type LaunchContext = hadoop.yarn.ContainerLaunchContextProto.$Properties
type LocalResource = hadoop.yarn.LocalResourceProto.$Properties

const { LocalResourceTypeProto, LocalResourceVisibilityProto } = hadoop.yarn

/** Every service that the container has data for runs here. */
export function checkServices(context: LaunchContext, services: Pick<AuxiliaryServices, 'has'>): void {
  for (const { key } of context.serviceData ?? []) {
    if (!services.has(key ?? '')) {
      throw new RemoteError(JavaClass.INVALID_AUX_SERVICE, `The auxService:${key ?? ''} does not exist`)
    }
  }
}

/** Each local resource says what it is, of which type and for whom. */
export function checkResources(context: LaunchContext): void {
  for (const { key, value } of context.localResources ?? []) {
    const { resource, type, visibility } = value ?? {}
    if (isAbsent(resource)) throw nullField('URL', key, value)
    if (isAbsent(type)) throw nullField('type', key, value)
    if (isAbsent(visibility)) throw nullField('visibility', key, value)
  }
}

/**
 * @returns the tokens as they came, an HDTS stream; undefined when there are none
 * @throws RemoteError IOException when they are not what a container could read
 */
export function checkCredentials(context: LaunchContext): Buffer | undefined {
  const { tokens } = context
  if (tokens === null || tokens === undefined) return undefined
  readCredentials(tokens)
  return Buffer.from(tokens.buffer, tokens.byteOffset, tokens.byteLength)
}

function isAbsent(field: unknown): boolean {
  return field === null || field === undefined
}

function nullField(
  field: string,
  key: string | null | undefined,
  value: LocalResource | null | undefined,
): RemoteError {
  return yarnException(`Null resource ${field} for local resource ${key ?? ''} : ${protoText(value ?? {})}`)
}

/** The message as protobuf's short text, which is how Java prints it. */
function protoText({ resource, size, timestamp, type, visibility, pattern }: LocalResource): string {
  return joined(
    isAbsent(resource) ? '' : `resource { ${urlText(resource ?? {})} }`,
    plain('size', size),
    plain('timestamp', timestamp),
    plain('type', type && LocalResourceTypeProto[type]),
    plain('visibility', visibility && LocalResourceVisibilityProto[visibility]),
    quoted('pattern', pattern),
  )
}

function urlText({ scheme, host, port, file, userInfo }: hadoop.yarn.URLProto.$Properties): string {
  return joined(
    quoted('scheme', scheme),
    quoted('host', host),
    plain('port', port),
    quoted('file', file),
    quoted('userInfo', userInfo),
  )
}

function joined(...fields: readonly string[]): string {
  return fields.filter((field) => field !== '').join(' ')
}

function plain(name: string, value: Int64 | string | null | undefined): string {
  return isAbsent(value) ? '' : `${name}: ${value}`
}

function quoted(name: string, value: string | null | undefined): string {
  return isAbsent(value) ? '' : `${name}: ${JSON.stringify(value)}`
}
