import { Worker } from 'node:worker_threads'
import { LocalizationError } from '../errors.ts'

/** An expression that needs longer is one that never ends. */
const TIME_LIMIT_MS = 5000

/** Runs beside the event loop, for an expression chosen by a stranger can take for ever. */
const MATCHER = `
  const { parentPort, workerData } = require('node:worker_threads')
  const expression = new RegExp(workerData.source)
  parentPort.postMessage(workerData.names.filter((name) => expression.test(name)))
`

/**
 * The names that match the pattern as a whole. It is a Java expression; what JavaScript does not know of those
 * (possessive quantifiers, \\Q…\\E, flags within) is refused.
 * @throws LocalizationError naming the pattern
 */
export async function matchingNames(
  pattern: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  signal.throwIfAborted()
  const worker = new Worker(MATCHER, { eval: true, workerData: { source: `^(?:${pattern})$`, names } })
  let giveUp: (reason: unknown) => void = () => {}
  const matching = new Promise<ReadonlySet<string>>((resolve, reject) => {
    giveUp = reject
    worker.once('message', (wanted: string[]) => resolve(new Set(wanted)))
    // Not once: a failure that is still on its way when this is over would, without a listener, end the daemon.
    worker.on('error', reject)
  })
  const timer = setTimeout(() => giveUp(new Error(`no result after ${TIME_LIMIT_MS} ms`)), TIME_LIMIT_MS)
  const abort = (): void => giveUp(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await matching
  } catch (thrown) {
    signal.throwIfAborted()
    throw new LocalizationError(`The pattern ${JSON.stringify(pattern)} can't be used`, thrown)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    await worker.terminate()
  }
}
