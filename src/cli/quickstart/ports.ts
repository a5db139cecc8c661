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
export async function choosePorts(wanted: readonly WantedPort[]): Promise<ChosenPort[]> {
  const held: { readonly port: number; readonly release: () => Promise<void> }[] = []
  try {
    // All are held at once, so that no two get the same.
    for (const { usual } of wanted) held.push((await hold(usual)) ?? (await holdAny()))
    return wanted.map((want, index) => ({ ...want, port: held[index]?.port ?? want.usual }))
  } finally {
    await Promise.all(held.map(({ release }) => release()))
  }
}

async function holdAny() {
  const any = await hold(0)
  if (any === undefined) throw new Error(`no port is free on ${LOOPBACK}`)
  return any
}

/** Undefined: it is taken. */
function hold(port: number): Promise<{ port: number; release: () => Promise<void> } | undefined> {
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
