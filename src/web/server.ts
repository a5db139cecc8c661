import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { asError, BobbinError, Bug, messageOf } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Service } from '../base/service.ts'
import { addressText } from '../config/addresses.ts'
import { acceptsJson } from './accept.ts'
import { notFound, remoteException, webApplicationException, WebError } from './errors.ts'
import { frontPage } from './pages/front.ts'
import { appById, appList } from './rest/apps.ts'
import { containerLogs } from './rest/container-logs.ts'
import { containerById, containerList } from './rest/containers.ts'
import { logFile } from './rest/log-file.ts'
import { nodeInfo } from './rest/node-info.ts'
import type { WebViews } from './views.ts'

export interface WebServerOptions extends WebViews {
  /** `yarn.nodemanager.webapp.address`, with `yarn.nodemanager.bind-host`. */
  readonly web: { readonly bindHost: string; readonly port: number }
  readonly log: Log
}

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

/** On every answer. Source: Hadoop's HttpServer2 and its NoCacheFilter. */
const HEADERS = {
  'cache-control': 'no-cache',
  pragma: 'no-cache',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
  'x-xss-protection': '1; mode=block',
}

/** The node's HTTP interface. fastify is loaded when it starts. Source: WebServer, NMWebServices. */
export class WebServer implements Service {
  readonly name = 'web'
  readonly #options: WebServerOptions
  #app: FastifyInstance | undefined
  #port = 0

  constructor(options: WebServerOptions) {
    this.#options = options
  }

  /** The port that is served, once started: the configured one, or what the system gave for 0. */
  get port(): number {
    return this.#port
  }

  /** Rejects when the address cannot be bound. */
  async start(): Promise<void> {
    const { bindHost, port } = this.#options.web
    const app = await newApp()
    this.#app = app
    this.#addRules(app)
    this.#addResources(app)
    try {
      await app.listen({ host: bindHost, port })
    } catch (thrown) {
      throw new BobbinError(
        'ERR_WEB_ADDRESS',
        `Cannot serve HTTP on ${addressText({ host: bindHost, port })} (yarn.nodemanager.webapp.address): ${messageOf(thrown)}`,
        thrown,
      )
    }
    app.server.maxConnections = MAX_CONNECTIONS
    const address = app.server.address()
    this.#port = typeof address === 'object' && address !== null ? address.port : port
    this.#options.log.info(`Web interface is served on ${addressText({ host: bindHost, port: this.#port })}`)
  }

  /** Ends every connection, those in the middle of an answer too. */
  async stop(): Promise<void> {
    await this.#app?.close()
  }

  #addRules(app: FastifyInstance): void {
    const refuseUnknown = (request: FastifyRequest, reply: FastifyReply) =>
      sendError(reply, notFound(`${pathOf(request)} not found`))
    app.addHook('onRequest', async (request, reply) => {
      addHeaders(reply)
      // Answered here, before fastify looks at a body. Returning nothing goes on to the handler.
      if (request.is404) return refuseUnknown(request, reply)
      if (request.method !== 'GET' && request.method !== 'HEAD') return refuseMethod(request, reply)
      return undefined
    })
    app.setNotFoundHandler(refuseUnknown)
    app.setErrorHandler((thrown, request, reply) => {
      const error = this.#errorOf(thrown, request)
      return sendError(reply, error)
    })
  }

  #errorOf(thrown: unknown, request: FastifyRequest): WebError {
    if (thrown instanceof WebError) return thrown
    const error = asError(thrown)
    // What fastify itself has found wrong with a request.
    const status = 'statusCode' in error ? Number(error.statusCode) : 500
    if (status >= 400 && status < 500) return webApplicationException(status, error.message)
    this.#options.log.warn({ err: error }, `${request.method} ${request.url} failed: ${error.message}`)
    return new WebError(503, 'java.lang.RuntimeException', error.message)
  }

  #addResources(app: FastifyInstance): void {
    const views = this.#options
    const { containers } = views
    const json = (url: string, answer: (request: FastifyRequest) => object | Promise<object>) =>
      app.route({
        method: METHODS,
        url,
        handler: async (request, reply) => {
          if (!acceptsJson(request.headers.accept)) throw notAcceptable(request)
          return sendJson(reply, await answer(request))
        },
      })
    const root = '/ws/v1/node'
    json(root, () => nodeInfo(views.node()))
    json(`${root}/info`, () => nodeInfo(views.node()))
    json(`${root}/apps`, (request) =>
      appList(containers, { state: query(request, 'state'), user: query(request, 'user') }),
    )
    json(`${root}/apps/:app`, (request) => appById(containers, parameter(request, 'app')))
    json(`${root}/containers`, (request) => containerList(views, baseUrl(request)))
    json(`${root}/containers/:container`, (request) =>
      containerById(views, parameter(request, 'container'), baseUrl(request)),
    )
    json(`${root}/containers/:container/logs`, (request) => containerLogs(views, parameter(request, 'container')))
    for (const url of [`${root}/containers/:container/logs/:file`, `${root}/containerlogs/:container/:file`])
      app.route({ method: METHODS, url, handler: (request, reply) => this.#sendLog(request, reply) })
    app.route({
      method: METHODS,
      url: '/',
      handler: async (_request, reply) =>
        reply.header('content-type', 'text/html;charset=utf-8').send(frontPage(views.node())),
    })
  }

  async #sendLog(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { statusCode, contentType, body } = await logFile(this.#options, {
      containerId: parameter(request, 'container'),
      fileName: parameter(request, 'file'),
      format: query(request, 'format'),
      size: query(request, 'size'),
    })
    reply.code(statusCode).header('content-type', contentType)
    if (request.method !== 'HEAD' || typeof body === 'string') return reply.send(body)
    body.destroy()
    return reply.send('')
  }
}

async function newApp(): Promise<FastifyInstance> {
  const { fastify } = await import('fastify')
  return fastify({
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
}

function addHeaders(reply: FastifyReply): void {
  reply.headers({ ...HEADERS, expires: new Date().toUTCString() })
}

function noSchemas(): never {
  throw new Bug('no route of the web interface has a schema')
}

function refuseMethod(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.header('allow', ALLOWED)
  if (request.method === 'OPTIONS') return reply.send('')
  // The body, if there is one, is not read.
  reply.header('connection', 'close')
  return sendError(reply, webApplicationException(405, `${request.method} is not allowed on ${pathOf(request)}`))
}

function notAcceptable(request: FastifyRequest): WebError {
  return webApplicationException(
    406,
    `Only application/json is served on ${pathOf(request)}, asked for was: ${request.headers.accept ?? ''}`,
  )
}

function sendJson(reply: FastifyReply, body: object): FastifyReply {
  return reply.header('content-type', JSON_TYPE).send(JSON.stringify(body))
}

function sendError(reply: FastifyReply, error: WebError): FastifyReply {
  return sendJson(reply.code(error.statusCode), remoteException(error))
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? ''
}

/** Scheme and host as the client has named them. */
function baseUrl(request: FastifyRequest): string {
  const { localAddress, localPort } = request.socket
  return `http://${request.host === '' ? `${localAddress}:${localPort}` : request.host}`
}

function parameter(request: FastifyRequest, name: string): string {
  return valueOf(request.params, name) ?? ''
}

/** Of a parameter that is given twice, the first value, as in Java. */
function query(request: FastifyRequest, name: string): string | undefined {
  return valueOf(request.query, name)
}

function valueOf(values: unknown, name: string): string | undefined {
  if (typeof values !== 'object' || values === null) return undefined
  const value: unknown = Object.entries(values).find(([key]) => key === name)?.[1]
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' ? first : undefined
}
