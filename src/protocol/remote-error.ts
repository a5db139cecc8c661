/**
 * A failure that crosses the wire: thrown by a handler, it becomes the error of the call; received from the other
 * side, it is what the call rejects with. `className` is the Java class, for Java clients rebuild the exception by
 * reflection and match on it: an invented name degrades to a plain YarnException there.
 */
export class RemoteError extends Error {
  override readonly name = 'RemoteError'
  readonly className: string
  constructor(className: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.className = className
  }
}

/** The Java classes that Bobbin sends or looks for. */
export const JavaClass = {
  ACCESS_CONTROL: 'org.apache.hadoop.security.AccessControlException',
  APPLICATION_ATTEMPT_NOT_FOUND: 'org.apache.hadoop.yarn.exceptions.ApplicationAttemptNotFoundException',
  APPLICATION_MASTER_NOT_REGISTERED: 'org.apache.hadoop.yarn.exceptions.ApplicationMasterNotRegisteredException',
  APPLICATION_NOT_FOUND: 'org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException',
  CONTAINER_NOT_FOUND: 'org.apache.hadoop.yarn.exceptions.ContainerNotFoundException',
  EOF: 'java.io.EOFException',
  FEATURE_NOT_ENABLED: 'org.apache.hadoop.yarn.exceptions.YARNFeatureNotEnabledException',
  ILLEGAL_ARGUMENT: 'java.lang.IllegalArgumentException',
  INVALID_APPLICATION_MASTER_REQUEST: 'org.apache.hadoop.yarn.exceptions.InvalidApplicationMasterRequestException',
  INVALID_AUX_SERVICE: 'org.apache.hadoop.yarn.exceptions.InvalidAuxServiceException',
  INVALID_CONTAINER: 'org.apache.hadoop.yarn.exceptions.InvalidContainerException',
  INVALID_CONTAINER_RELEASE: 'org.apache.hadoop.yarn.exceptions.InvalidContainerReleaseException',
  INVALID_LABEL_REQUEST: 'org.apache.hadoop.yarn.exceptions.InvalidLabelResourceRequestException',
  INVALID_RESOURCE_BLACKLIST: 'org.apache.hadoop.yarn.exceptions.InvalidResourceBlacklistRequestException',
  INVALID_RESOURCE_REQUEST: 'org.apache.hadoop.yarn.exceptions.InvalidResourceRequestException',
  INVALID_TOKEN: 'org.apache.hadoop.security.token.SecretManager$InvalidToken',
  IO: 'java.io.IOException',
  NM_NOT_YET_READY: 'org.apache.hadoop.yarn.exceptions.NMNotYetReadyException',
  RETRIABLE: 'org.apache.hadoop.ipc.RetriableException',
  RUNTIME: 'java.lang.RuntimeException',
  SASL: 'javax.security.sasl.SaslException',
  STANDBY: 'org.apache.hadoop.ipc.StandbyException',
  VERSION_MISMATCH: 'org.apache.hadoop.ipc.RPC$VersionMismatch',
  YARN: 'org.apache.hadoop.yarn.exceptions.YarnException',
} as const
