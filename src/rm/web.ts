import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { BobbinError, messageOf } from '../base/errors.ts'
import { addResource, listen, newHttpApp, parameter, queryValues, sendJson } from '../base/http.ts'
import { badRequest, notFound } from '../base/http-errors.ts'
import type { Log } from '../base/log.ts'
import type { Service } from '../base/service.ts'
import { addressText } from '../config/addresses.ts'
import { parseApplicationId, type ApplicationId, type NodeId } from '../protocol/ids.ts'
import type { RmApplication } from './application.ts'
import { shownState } from './application-report.ts'
import {
  applicationInfo,
  applicationList,
  attemptList,
  clusterInfo,
  clusterMetrics,
  nodeInfo,
  nodeList,
  type RestContext,
} from './rest-views.ts'

export interface RmWebOptions {
  /** `yarn.resourcemanager.webapp.address`, with `yarn.resourcemanager.bind-host`. */
  readonly listen: { readonly bindHost: string; readonly port: number }
  readonly context: () => RestContext
  readonly log: Log
}

const ROOT = '/ws/v1/cluster'

/** The read-only part of RMWebServices, as JSON. */
export class RmWeb implements Service {
  readonly name = 'ResourceManager web'
  readonly #options: RmWebOptions
  #app: FastifyInstance | undefined
  #port: number

  constructor(options: RmWebOptions) {
    this.#options = options
    this.#port = options.listen.port
  }

  /** The real one once started. */
  get port(): number {
    return this.#port
  }

  /** Rejects when the address cannot be bound. */
  async start(): Promise<void> {
    const { bindHost, port } = this.#options.listen
    const app = await newHttpApp(this.#options.log)
    this.#app = app
    this.#addResources(app)
    this.#addPages(app)
    try {
      this.#port = await listen(app, { bindHost, port })
    } catch (thrown) {
      throw new BobbinError(
        'ERR_RM_WEB_ADDRESS',
        `cannot serve HTTP on ${addressText({ host: bindHost, port })} (yarn.resourcemanager.webapp.address): ${messageOf(thrown)}`,
        thrown,
      )
    }
    this.#options.log.info(
      `ResourceManager's web interface is served on ${addressText({ host: bindHost, port: this.#port })}`,
    )
  }

  async stop(): Promise<void> {
    await this.#app?.close()
  }

  #addResources(app: FastifyInstance): void {
    const get = (path: string, answer: (context: RestContext, request: FastifyRequest) => object) =>
      addResource(app, `${ROOT}${path}`, (request, reply) => sendJson(reply, answer(this.#options.context(), request)))
    get('', clusterInfo)
    get('/info', clusterInfo)
    get('/metrics', clusterMetrics)
    get('/nodes', ({ nodes }, request) => {
      const states = listOf(query(request, 'states'))
      // Without states: those that heartbeat.
      const all = states.length === 0 ? nodes.active : [...nodes.active, ...nodes.inactive]
      return nodeList([...all].filter(({ state }) => states.length === 0 || states.includes(state)))
    })
    get('/nodes/:id', ({ nodes }, request) => {
      const id = parameter(request, 'id')
      const node = nodes.find(id as NodeId)
      if (node === undefined) throw notFound(`nodeId, ${id}, is not found`)
      return { node: nodeInfo(node) }
    })
    get('/apps', (context, request) =>
      applicationList(
        [...context.applications.all].filter((application) => isAsked(application, request)),
        context,
      ),
    )
    get('/apps/:id', (context, request) => ({
      app: applicationInfo(applicationOf(context, request), context),
    }))
    get('/apps/:id/state', (context, request) => ({ state: shownState[applicationOf(context, request).state] }))
    get('/apps/:id/appattempts', (context, request) => attemptList(applicationOf(context, request)))
  }

  /**
   * Where tracking URLs lead: to the master's own address, for on one machine it may be asked directly, or to what REST
   * shows of the application. Source: WebAppProxyServlet, which passes on what it fetches instead.
   */
  #addPages(app: FastifyInstance): void {
    addResource(app, '/', (_request, reply) => reply.redirect(ROOT))
    addResource(app, '/cluster', (_request, reply) => reply.redirect(ROOT))
    addResource(app, '/cluster/app/:id', (request, reply) =>
      reply.redirect(`${ROOT}/apps/${encodeURIComponent(parameter(request, 'id'))}`),
    )
    const proxy = (request: FastifyRequest, reply: FastifyReply) =>
      reply.redirect(proxied(trackedApplication(this.#options.context(), parameter(request, 'id')), request))
    addResource(app, '/proxy/:id', proxy)
    addResource(app, '/proxy/:id/*', proxy)
  }
}

function applicationOf({ applications }: RestContext, request: FastifyRequest): RmApplication {
  const text = parameter(request, 'id')
  const application = applications.find(idOf(text))
  if (application === undefined) throw notFound(`app with id: ${text} not found`)
  return application
}

function trackedApplication({ applications }: RestContext, text: string): RmApplication {
  if (!/^application_\d+_\d+$/.test(text)) throw notFound(`${text} appears to be formatted incorrectly.`)
  const application = applications.find(idOf(text))
  if (application !== undefined) return application
  throw notFound(`Application ${text} could not be found in RM or history server`)
}

/** The rest of the path and the query go along. */
function proxied(application: RmApplication, request: FastifyRequest): string {
  const original = application.currentAttempt?.originalTrackingUrl ?? 'N/A'
  if (original === 'N/A') return `${ROOT}/apps/${application.id}`
  const base = /^https?:\/\//.test(original) ? original : `http://${original}`
  const rest = request.url.slice(`/proxy/${application.id}`.length)
  return rest === '' || rest === '/' ? base : base.replace(/\/$/, '') + rest
}

function idOf(text: string): ApplicationId {
  try {
    return parseApplicationId(text)
  } catch (thrown) {
    throw badRequest(messageOf(thrown))
  }
}

function isAsked(application: RmApplication, request: FastifyRequest): boolean {
  const states = [...listOf(query(request, 'states')), ...listOf(query(request, 'state'))]
  const user = query(request, 'user')
  const types = listOf(query(request, 'applicationTypes')).map((type) => type.toLowerCase())
  return (
    (states.length === 0 || states.includes(shownState[application.state])) &&
    (user === undefined || user === application.user) &&
    (types.length === 0 || types.includes(application.submission.type.toLowerCase()))
  )
}

/** Several of one name count as one list. */
function query(request: FastifyRequest, name: string): string | undefined {
  const values = queryValues(request, name)
  return values.length === 0 ? undefined : values.join(',')
}

function listOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
