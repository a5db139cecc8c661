/** The seven bytes that open a connection, and what a server says to those it can't serve. Source: Server.Connection. */
import { JavaClass } from '../protocol/remote-error.ts'
import { AuthProtocol, CallId, IPC_VERSION, NO_RETRY, PREAMBLE_LENGTH } from './wire.ts'
import { ErrorDetail, FatalRpcError, fatalFrame } from './responses.ts'

export type Preamble =
  | { readonly kind: 'accepted'; readonly authProtocol: number }
  /** Sent as it is; then the connection is closed. */
  | { readonly kind: 'refused'; readonly reply: Buffer; readonly why: string }

const HTTP_REPLY = Buffer.from(
  'HTTP/1.1 404 Not Found\r\nContent-type: text/plain\r\n\r\n' +
    'It looks like you are making an HTTP request to a Hadoop IPC port. ' +
    'This is not the correct port for the web interface on this daemon.\r\n',
)

/** @param bytes exactly PREAMBLE_LENGTH of them: Java too waits for all before it looks at the first. */
export function readPreamble(bytes: Buffer): Preamble {
  const magic = bytes.toString('latin1', 0, 4)
  if (magic === 'GET ') return { kind: 'refused', reply: HTTP_REPLY, why: 'an HTTP request' }
  const version = bytes.readInt8(4)
  if (magic !== 'hrpc' || version !== IPC_VERSION) return versionMismatch(version)
  const authProtocol = bytes.readInt8(PREAMBLE_LENGTH - 1)
  if (authProtocol === AuthProtocol.NONE || authProtocol === AuthProtocol.SASL)
    return { kind: 'accepted', authProtocol }
  return refused(
    new FatalRpcError(
      ErrorDetail.FATAL_UNAUTHORIZED,
      'org.apache.hadoop.ipc.IpcException',
      `Unknown auth protocol:${authProtocol}`,
    ),
  )
}

/** Each version is answered in the form that its clients understand. */
function versionMismatch(version: number): Preamble {
  const message = `Server IPC version ${IPC_VERSION} cannot communicate with client version ${version}`
  if (version >= 9)
    return refused(new FatalRpcError(ErrorDetail.FATAL_VERSION_MISMATCH, JavaClass.VERSION_MISMATCH, message))
  // 3 to 8: call id −1 and fatal status −1. Before: call id 0 and a boolean that says "error".
  const head = version >= 3 ? Buffer.alloc(8, 0xff) : Buffer.from([0, 0, 0, 0, 1])
  return {
    kind: 'refused',
    reply: Buffer.concat([head, writtenString(JavaClass.VERSION_MISMATCH), writtenString(message)]),
    why: message,
  }
}

function refused(error: FatalRpcError): Preamble {
  return { kind: 'refused', reply: fatalFrame(CallId.NONE, NO_RETRY, error), why: error.message }
}

function writtenString(text: string): Buffer {
  const bytes = Buffer.from(text)
  const length = Buffer.allocUnsafe(4)
  length.writeInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
