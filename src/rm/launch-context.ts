import { Bug } from '../base/errors.ts'
import { emptyCredentials, readCredentials, writeCredentials } from '../security/credentials.ts'
import type { Token } from '../security/token.ts'
import type { RmApplication } from './application.ts'
import type { RmAttempt } from './attempt.ts'
import type { LaunchContext } from './submission.ts'

/**
 * The submitted launch context, with what an ApplicationMaster finds in its environment and the token that lets it log
 * in to us. Source: AMLauncher.createAMContainerLaunchContext.
 * @throws RemoteError IOException when the client's credentials do not parse
 */
export function masterLaunchContext(application: RmApplication, attempt: RmAttempt): LaunchContext {
  const { launchContext } = application
  if (launchContext === undefined || attempt.token === undefined)
    throw new Bug(`${attempt.id} is to be launched, but its application is over`)
  const added = [
    { key: 'APPLICATION_WEB_PROXY_BASE', value: `/proxy/${application.id}` },
    { key: 'APP_SUBMIT_TIME_ENV', value: String(application.startTime) },
  ]
  const names = new Set(added.map(({ key }) => key))
  const kept = (launchContext.environment ?? []).filter(({ key }) => !names.has(key ?? ''))
  return {
    ...launchContext,
    environment: [...kept, ...added],
    tokens: withToken(launchContext.tokens, attempt.token),
  }
}

/** Under the empty alias: the master's library puts the service in, from its own configuration. */
function withToken(stream: Uint8Array | null | undefined, token: Token): Buffer {
  const credentials =
    stream === null || stream === undefined || stream.length === 0 ? emptyCredentials() : readCredentials(stream)
  credentials.tokens.set('', token)
  return writeCredentials(credentials)
}
