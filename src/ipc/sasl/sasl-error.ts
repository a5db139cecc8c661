/** Authentication failed. A server sends the message as that of a javax.security.sasl.SaslException. */
export class SaslError extends Error {
  override readonly name = 'SaslError'
}
