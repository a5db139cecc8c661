/** What all HTTP interfaces have in common. fastify is loaded when the first one starts. Source: Hadoop's HttpServer2. */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { asError, Bug } from './errors.ts'
import { notFound, remoteException, webApplicationException, WebError } from './http-errors.ts'
import type { Log } from './log.ts'

const JSON_TYPE = 'application/json;charset=utf-8'
/** No call has a body. */
const BODY_LIMIT_BYTES = 1024
const MAX_HEADER_BYTES = 16_384
/** For the whole request to arrive. */
const REQUEST_TIMEOUT_MS = 30_000
/** Of a connection on which nothing moves, a reader of a long log that has stopped reading too. */
const IDLE_TIMEOUT_MS = 120_000
const KEEP_ALIVE_TIMEOUT_MS = 30_000
const MAX_CONNECTIONS = 1000
/** Encoded: a file name of 255 bytes may take three characters a byte. */
const MAX_PARAMETER_LENGTH = 1024
const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH', 'TRACE']
const ALLOWED = 'GET,HEAD,OPTIONS'

/** On every answer. Source: HttpServer2 and its NoCacheFilter. */
const HEADERS = {
  'cache-control': 'no-cache',
  pragma: 'no-cache',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
  'x-xss-protection': '1; mode=block',
}

/** Without resources yet: what is asked for and not there, or with a method that changes things, is refused. */
export async function newHttpApp(log: Log): Promise<FastifyInstance> {
  const { fastify } = await import('fastify')
  const app = fastify({
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: IDLE_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAMETER_LENGTH },
    http: { maxHeaderSize: MAX_HEADER_BYTES },
    frameworkErrors: (error, _request, reply) => {
      addHeaders(reply)
      void sendError(reply, webApplicationException(error.statusCode ?? 400, error.message))
    },
    // Given these two, fastify does not load its own validator and serializer, 3.5 MB.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  })
  app.addHook('onRequest', async (request, reply) => {
    addHeaders(reply)
    // Answered here, before fastify looks at a body. Returning nothing goes on to the handler.
    if (request.is404) return refuseUnknown(request, reply)
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuseMethod(request, reply)
    return undefined
  })
  app.setNotFoundHandler(refuseUnknown)
  app.setErrorHandler((thrown, request, reply) => sendError(reply, errorOf(thrown, request, log)))
  return app
}

/** Adds a resource. It is there for every method, so that those that are refused are told so. */
export function addResource(app: FastifyInstance, url: string, handler: RouteHandlerMethod): void {
  app.route({ method: METHODS, url, handler })
}

/** @returns the port that is served; rejects when the address cannot be bound */
export async function listen(app: FastifyInstance, at: { bindHost: string; port: number }): Promise<number> {
  await app.listen({ host: at.bindHost, port: at.port })
  app.server.maxConnections = MAX_CONNECTIONS
  const address = app.server.address()
  return typeof address === 'object' && address !== null ? address.port : at.port
}

export function sendJson(reply: FastifyReply, body: object): FastifyReply {
  return reply.header('content-type', JSON_TYPE).send(JSON.stringify(body))
}

/** The URL without its query. */
export function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? ''
}

/** A parameter of the path. */
export function parameter(request: FastifyRequest, name: string): string {
  return valuesOf(request.params, name)[0] ?? ''
}

/** A parameter of the query, as often as it is given. */
export function queryValues(request: FastifyRequest, name: string): readonly string[] {
  return valuesOf(request.query, name)
}

function valuesOf(values: unknown, name: string): readonly string[] {
  if (typeof values !== 'object' || values === null) return []
  const value: unknown = Object.entries(values).find(([key]) => key === name)?.[1]
  return [value].flat().filter((one) => typeof one === 'string')
}

function errorOf(thrown: unknown, request: FastifyRequest, log: Log): WebError {
  if (thrown instanceof WebError) return thrown
  const error = asError(thrown)
  // What fastify itself has found wrong with a request.
  const status = 'statusCode' in error ? Number(error.statusCode) : 500
  if (status >= 400 && status < 500) return webApplicationException(status, error.message)
  log.warn({ err: error }, `${request.method} ${request.url} failed: ${error.message}`)
  return new WebError(503, 'java.lang.RuntimeException', error.message)
}

function refuseUnknown(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return sendError(reply, notFound(`${pathOf(request)} not found`))
}

function refuseMethod(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.header('allow', ALLOWED)
  if (request.method === 'OPTIONS') return reply.send('')
  // The body, if there is one, is not read.
  reply.header('connection', 'close')
  return sendError(reply, webApplicationException(405, `${request.method} is not allowed on ${pathOf(request)}`))
}

function sendError(reply: FastifyReply, error: WebError): FastifyReply {
  return sendJson(reply.code(error.statusCode), remoteException(error))
}

function addHeaders(reply: FastifyReply): void {
  reply.headers({ ...HEADERS, expires: new Date().toUTCString() })
}

function noSchemas(): never {
  throw new Bug('no resource has a schema')
}
