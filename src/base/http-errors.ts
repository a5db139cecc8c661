/** Errors as the clients of Hadoop's REST APIs know them. Source: GenericExceptionHandler, RemoteExceptionData. */

/** Becomes the answer of a request: a RemoteException in JSON. */
export class WebError extends Error {
  override readonly name = 'WebError'
  readonly statusCode: number
  readonly javaClassName: string
  constructor(statusCode: number, javaClassName: string, message: string) {
    super(message)
    this.statusCode = statusCode
    this.javaClassName = javaClassName
  }
}

/** `RemoteException` without its message where there is none. */
export function remoteException(error: WebError): object {
  const exception = error.javaClassName.slice(error.javaClassName.lastIndexOf('.') + 1)
  const message = error.message === '' ? {} : { message: error.message }
  return { RemoteException: { exception, ...message, javaClassName: error.javaClassName } }
}

/** @param cause the Java class that Hadoop wraps the text in, as part of the message */
export function notFound(text: string, cause = 'java.lang.Exception'): WebError {
  return new WebError(404, 'org.apache.hadoop.yarn.webapp.NotFoundException', `${cause}: ${text}`)
}

export function badRequest(text: string, cause = 'java.lang.Exception'): WebError {
  return new WebError(400, 'org.apache.hadoop.yarn.webapp.BadRequestException', `${cause}: ${text}`)
}

export function illegalArgument(text: string): WebError {
  return new WebError(400, 'java.lang.IllegalArgumentException', text)
}

/** What JAX-RS itself answers with. */
export function webApplicationException(statusCode: number, text: string): WebError {
  return new WebError(statusCode, 'javax.ws.rs.WebApplicationException', text)
}
