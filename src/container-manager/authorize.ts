/** Who may do what to which container. Source: ContainerManagerImpl's select… and authorize… methods. */
import { applicationOfAttempt, applicationOfContainer, attemptOfContainer, type ContainerId } from '../protocol/ids.ts'
import { JavaClass, RemoteError } from '../protocol/remote-error.ts'
import type { Caller } from '../protocol/rpc-caller.ts'
import type { ContainerTokenIdentifier } from '../security/container-token.ts'
import { decodeNMToken, type NMTokenIdentifier } from '../security/nm-token.ts'
import { yarnException } from './failures.ts'

/** @throws RemoteError when the caller has not logged in with an NM token */
export function nmTokenOf(caller: Caller): NMTokenIdentifier {
  if (caller.authentication !== 'TOKEN' || caller.tokenIdentifier === undefined) throw yarnException('Invalid NMToken')
  return decodeNMToken(caller.tokenIdentifier)
}

/** The caller acts as the attempt that its token is for. The missing blank is Hadoop's. */
export function authorizeUser(caller: Caller, { attemptId }: NMTokenIdentifier): void {
  if (caller.user === attemptId) return
  throw yarnException(`Expected applicationAttemptId: ${caller.user}Found: ${attemptId}`)
}

export interface StartChecks {
  readonly nmToken: NMTokenIdentifier
  readonly token: ContainerTokenIdentifier
  /** Whether a container was started with this very token. */
  readonly hasStarted: boolean
  /** Of the ResourceManager that the node is registered with; −1 while it is not. */
  readonly rmIdentifier: number
  /** Milliseconds. */
  readonly now: number
}

/** Of the first three checks only the first that fails is told. */
export function authorizeStart({ nmToken, token, hasStarted, rmIdentifier, now }: StartChecks): void {
  const { containerId, expiryTime } = token
  if (applicationOfAttempt(nmToken.attemptId) !== applicationOfContainer(containerId)) {
    throw unauthorized(
      `\nNMToken for application attempt : ${nmToken.attemptId} was used for starting container with container token` +
        ` issued for application attempt : ${attemptOfContainer(containerId)}`,
    )
  }
  if (hasStarted) throw unauthorized(`\n Attempt to relaunch the same container with id ${containerId}.`)
  if (expiryTime < now) {
    throw unauthorized(
      `\nThis token is expired. current time is ${now} found ${expiryTime}` +
        '\nNote: System times on machines may be out of sync. Check system time and time zones.',
    )
  }
  if (token.rmIdentifier !== rmIdentifier) {
    throw new RemoteError(
      JavaClass.INVALID_CONTAINER,
      `\nContainer ${containerId} rejected as it is allocated by a previous RM`,
    )
  }
}

/** Linux NAME_MAX. */
const MAX_NAME_BYTES = 255

/**
 * The user's name becomes that of directories below `usercache` and a field of the audit log. Whoever submits to an
 * unsecured cluster chooses it freely.
 */
export function checkUserName({ containerId, user }: ContainerTokenIdentifier): void {
  const isName = user !== '' && user !== '.' && user !== '..' && Buffer.byteLength(user) <= MAX_NAME_BYTES
  if (isName && !/[/\p{Cc}]/u.test(user)) return
  throw unauthorized(
    `\nContainer ${containerId} is for the user ${JSON.stringify(user)}, whose name can't be that of a directory: ` +
      `it must have 1 to ${MAX_NAME_BYTES} bytes, without '/' and control characters, and not be '.' or '..'`,
  )
}

/** Only an attempt of the container's own application may stop it or ask about it. */
export function ownsContainer({ attemptId }: NMTokenIdentifier, containerId: ContainerId): boolean {
  return applicationOfAttempt(attemptId) === applicationOfContainer(containerId)
}

function unauthorized(reason: string): RemoteError {
  return yarnException(`Unauthorized request to start container.${reason}`)
}
