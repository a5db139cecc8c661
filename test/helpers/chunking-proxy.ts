import { connect, createServer, type Server, type Socket } from 'node:net'

/** Passes bytes on in pieces of one size, both ways, each in a packet of its own. */
export class ChunkingProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(targetPort: number, size: number): Promise<ChunkingProxy> {
    const server = createServer()
    const proxy = new ChunkingProxy(server)
    server.on('connection', (client) => {
      const target = connect({ port: targetPort, host: '127.0.0.1', noDelay: true })
      client.setNoDelay(true)
      proxy.#pass(client, target, size)
      proxy.#pass(target, client, size)
    })
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    return proxy
  }

  get port(): number {
    const address = this.#server.address()
    return address === null || typeof address === 'string' ? 0 : address.port
  }

  stop(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #pass(from: Socket, to: Socket, size: number): void {
    this.#sockets.add(from)
    from.on('data', (chunk: Buffer) => {
      for (let at = 0; at < chunk.length; at += size) to.write(chunk.subarray(at, at + size))
    })
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
  }
}
