import { Readable } from 'node:stream'
import { javaDate } from '../../base/times.ts'
import { parseContainerId, type ContainerId } from '../../protocol/ids.ts'
import { openLogFile, type OpenLogFile } from '../log-files.ts'
import type { WebViews } from '../views.ts'
import { logAccess } from './log-access.ts'

export interface LogFileRequest {
  readonly containerId: string
  readonly fileName: string
  readonly format: string | undefined
  readonly size: string | undefined
}

/** Errors are plain text here, not a RemoteException. */
export interface TextAnswer {
  readonly statusCode: number
  readonly contentType: string
  readonly body: string | Readable
}

const TEXT = 'text/plain;charset=utf-8'
/** Source: WebAppUtils.getSupportedLogContentType. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  text: TEXT,
  'octet-stream': 'application/octet-stream; charset=utf-8',
}
const CHUNK_BYTES = 65_536
const LONG_MAX = 2n ** 63n - 1n

/**
 * `/ws/v1/node/containers/{containerid}/logs/{filename}` and `/ws/v1/node/containerlogs/{containerid}/{filename}`:
 * the file between header and trailer lines that log clients parse. Source: NMWebServices.getLogs, LogToolUtils.
 */
export async function logFile(views: WebViews, request: LogFileRequest): Promise<TextAnswer> {
  const id = containerId(request.containerId)
  if (id === undefined) return failure(400, '')
  const access = logAccess(views.containers, id)
  if (!access.isAllowed) return failure(404, `java.lang.Exception: ${access.reason}`)
  const size = parseSize(request.size)
  if (size === undefined) return failure(400, `The parameter size must be a whole number, got: ${request.size}`)
  const contentType = CONTENT_TYPES[(request.format ?? '').toLowerCase() || 'text']
  if (contentType === undefined)
    return failure(400, 'The valid values for the parameter : format are [text, octet-stream]')
  const file = await openLogFile(views.logs.logDirs, id, request.fileName)
  if (file === undefined) return failure(404, 'java.lang.Exception: Cannot find this log on the local disk.')
  const isRunning = views.containers.findContainer(id)?.state === 'RUNNING'
  const lines = content(file, size, { id, nodeId: views.node().nodeId, isRunning })
  // One chunk is read ahead, no more: the memory of an answer does not depend on the file.
  const body = Readable.from(lines, { objectMode: false, highWaterMark: CHUNK_BYTES })
  // A stream that is destroyed before its first read never runs the generator, which would close the file.
  body.once('close', () => {
    file.handle.close().catch(() => undefined) // Only read: nothing can be lost.
  })
  return { statusCode: 200, contentType, body }
}

interface Subject {
  readonly id: ContainerId
  readonly nodeId: string
  readonly isRunning: boolean
}

async function* content(file: OpenLogFile, size: bigint, subject: Subject): AsyncGenerator<Buffer> {
  const title = `Container: ${subject.id} on ${subject.nodeId}`
  const header = [
    title,
    'LogAggregationType: LOCAL',
    '='.repeat(title.length),
    `LogType:${file.name}`,
    `LogLastModifiedTime:${javaDate(file.modifiedTime)}`,
    `LogLength:${file.sizeBytes}`,
    'LogContents:',
  ]
  yield Buffer.from(`${header.join('\n')}\n`)
  yield* bytes(file, size)
  const end = `End of LogType:${file.name}`
  const running = `This log file belongs to a running container (${subject.id}) and so may not be complete.`
  yield Buffer.from(`${end}.${subject.isRunning ? running : ''}\n${'*'.repeat(end.length + 50)}\n\n`)
}

/** The first `size` bytes, or the last ones when it is negative; a file that shrinks meanwhile gives fewer. */
async function* bytes({ handle, sizeBytes }: OpenLogFile, size: bigint): AsyncGenerator<Buffer> {
  const wanted = Number(size < 0n ? -size : size)
  let left = Math.min(wanted, sizeBytes)
  let position = size < 0n ? sizeBytes - left : 0
  while (left > 0) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, left))
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position)
    if (bytesRead === 0) return
    yield chunk.subarray(0, bytesRead)
    left -= bytesRead
    position += bytesRead
  }
}

/** @returns the whole file for an absent or empty text; undefined for what Java's Long.parseLong refuses. */
function parseSize(text: string | undefined): bigint | undefined {
  if (text === undefined || text === '') return LONG_MAX
  if (!/^[+-]?\d{1,30}$/.test(text)) return undefined
  const value = BigInt(text.replace('+', ''))
  return value > LONG_MAX || value < -LONG_MAX - 1n ? undefined : value
}

function containerId(text: string): ContainerId | undefined {
  try {
    return parseContainerId(text)
  } catch {
    // Answered with 400 and no text, as Java does.
    return undefined
  }
}

function failure(statusCode: number, body: string): TextAnswer {
  return { statusCode, contentType: TEXT, body }
}
