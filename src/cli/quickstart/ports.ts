import { createServer } from 'node:net'
import { systemCode } from '../../base/errors.ts'

export const LOOPBACK = '127.0.0.1'

/** A port that the cluster serves: its key, and the port that people expect. */
export interface WantedPort {
  readonly key: string
  readonly usual: number
}

export interface ChosenPort extends WantedPort {
  readonly port: number
}

export const wantedPorts: readonly WantedPort[] = [
  { key: 'yarn.resourcemanager.scheduler.address', usual: 8030 },
  { key: 'yarn.resourcemanager.resource-tracker.address', usual: 8031 },
  { key: 'yarn.resourcemanager.address', usual: 8032 },
  { key: 'yarn.resourcemanager.webapp.address', usual: 8088 },
  { key: 'yarn.nodemanager.address', usual: 8041 },
  { key: 'yarn.nodemanager.webapp.address', usual: 8042 },
]

/** The usual port of each where it is free, another one where it is taken. */
export function choosePorts(wanted: readonly WantedPort[]): Promise<ChosenPort[]> {
  return choose(wanted, async ({ usual }) => (await hold(usual)) ?? (await holdAny()))
}

/** Ports that nobody else is likely to be given. */
export function anyPorts(wanted: readonly WantedPort[]): Promise<ChosenPort[]> {
  return choose(wanted, holdAny)
}

/** Whether a start failed because a port was taken between its choice and its use. */
export function isPortTaken(thrown: unknown): boolean {
  return systemCode(thrown) === 'EADDRINUSE' || (thrown instanceof Error && isPortTaken(thrown.cause))
}

interface HeldPort {
  readonly port: number
  readonly release: () => Promise<void>
}

async function choose(
  wanted: readonly WantedPort[],
  take: (want: WantedPort) => Promise<HeldPort>,
): Promise<ChosenPort[]> {
  const chosen: { readonly want: WantedPort; readonly held: HeldPort }[] = []
  try {
    // All are held at once, so that no two get the same.
    for (const want of wanted) chosen.push({ want, held: await take(want) })
    return chosen.map(({ want, held }) => ({ ...want, port: held.port }))
  } finally {
    await Promise.all(chosen.map(({ held }) => held.release()))
  }
}

async function holdAny(): Promise<HeldPort> {
  const any = await hold(0)
  if (any === undefined) throw new Error(`no port is free on ${LOOPBACK}`)
  return any
}

/** Undefined: it is taken. */
function hold(port: number): Promise<HeldPort | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error) => {
      if (systemCode(error) === 'EADDRINUSE' || systemCode(error) === 'EACCES') resolve(undefined)
      else reject(error)
    })
    server.listen({ port, host: LOOPBACK, exclusive: true }, () => {
      const address = server.address()
      const release = () => new Promise<void>((done) => server.close(() => done()))
      resolve({ port: typeof address === 'object' && address !== null ? address.port : port, release })
    })
  })
}
