import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { BobbinError, messageOf } from '../base/errors.ts'
import { addResource, listen, newHttpApp, parameter, pathOf, queryValues, sendJson } from '../base/http.ts'
import { webApplicationException, type WebError } from '../base/http-errors.ts'
import type { Log } from '../base/log.ts'
import type { Service } from '../base/service.ts'
import { addressText } from '../config/addresses.ts'
import { acceptsJson } from './accept.ts'
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
    const app = await newHttpApp(this.#options.log)
    this.#app = app
    this.#addResources(app)
    try {
      this.#port = await listen(app, { bindHost, port })
    } catch (thrown) {
      throw new BobbinError(
        'ERR_WEB_ADDRESS',
        `Cannot serve HTTP on ${addressText({ host: bindHost, port })} (yarn.nodemanager.webapp.address): ${messageOf(thrown)}`,
        thrown,
      )
    }
    this.#options.log.info(`Web interface is served on ${addressText({ host: bindHost, port: this.#port })}`)
  }

  /** Ends every connection, those in the middle of an answer too. */
  async stop(): Promise<void> {
    await this.#app?.close()
  }

  #addResources(app: FastifyInstance): void {
    const views = this.#options
    const { containers } = views
    const json = (url: string, answer: (request: FastifyRequest) => object | Promise<object>) =>
      addResource(app, url, async (request, reply) => {
        if (!acceptsJson(request.headers.accept)) throw notAcceptable(request)
        return sendJson(reply, await answer(request))
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
      addResource(app, url, (request, reply) => this.#sendLog(request, reply))
    addResource(app, '/', async (_request, reply) =>
      reply.header('content-type', 'text/html;charset=utf-8').send(frontPage(views.node())),
    )
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

function notAcceptable(request: FastifyRequest): WebError {
  return webApplicationException(
    406,
    `Only application/json is served on ${pathOf(request)}, asked for was: ${request.headers.accept ?? ''}`,
  )
}

/** Scheme and host as the client has named them. */
function baseUrl(request: FastifyRequest): string {
  const { localAddress, localPort } = request.socket
  return `http://${request.host === '' ? `${localAddress}:${localPort}` : request.host}`
}

/** Of a parameter that is given twice, the first value, as in Java. */
function query(request: FastifyRequest, name: string): string | undefined {
  return queryValues(request, name)[0]
}
