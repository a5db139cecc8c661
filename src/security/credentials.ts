/**
 * The "HDTS" stream: tokens and secrets by alias, as launch contexts, the `container_tokens` file and the application's
 * record carry them. Source: org.apache.hadoop.security.Credentials.
 */
import protobuf from 'protobufjs/minimal.js'
import { BobbinError, messageOf } from '../base/errors.ts'
import { hadoop } from '../protocol/messages.ts'
import { JavaClass, RemoteError } from '../protocol/remote-error.ts'
import { WritableReader, WritableWriter } from '../protocol/writable.ts'
import { readToken, tokenFromProto, writeToken, type Token } from './token.ts'

const { CredentialsProto } = hadoop.common

const MAGIC = Buffer.from('HDTS')
const WRITABLE = 0
const PROTOBUF = 1

/** Both maps are in the order of the stream. An alias is a service, or any name. */
export interface Credentials {
  readonly tokens: Map<string, Token>
  readonly secrets: Map<string, Buffer>
}

export function emptyCredentials(): Credentials {
  return { tokens: new Map(), secrets: new Map() }
}

/**
 * Reads version 0 and version 1; whatever follows the content is ignored, for Java stores its whole buffer.
 * @throws RemoteError IOException with Hadoop's words, EOFException when the stream ends early
 */
export function readCredentials(stream: Uint8Array): Credentials {
  const reader = new WritableReader(stream)
  if (reader.remaining < MAGIC.length + 1) throw truncated()
  if (!reader.bytes(MAGIC.length).equals(MAGIC)) {
    throw new RemoteError(JavaClass.IO, 'Bad header found in token storage.')
  }
  const version = reader.uint8()
  if (version === WRITABLE) return readContent(() => readWritable(reader))
  if (version === PROTOBUF) return readContent(() => readProtobuf(reader.bytes(reader.remaining)))
  // Java prints the byte with its sign.
  const signed = (version << 24) >> 24
  throw new RemoteError(JavaClass.IO, `java.lang.IllegalArgumentException: Unknown credential format: ${signed}`)
}

/** Version 0, which every Hadoop reads and writes by default. */
export function writeCredentials({ tokens, secrets }: Credentials): Buffer {
  const writer = new WritableWriter().bytes(MAGIC).uint8(WRITABLE).vint(tokens.size)
  for (const [alias, token] of tokens) writeToken(writer.text(alias), token)
  writer.vint(secrets.size)
  for (const [alias, secret] of secrets) writer.text(alias).vbytes(secret)
  return writer.finish()
}

function readWritable(reader: WritableReader): Credentials {
  const credentials = emptyCredentials()
  for (let left = reader.vint(); left > 0; left--) credentials.tokens.set(reader.text(), readToken(reader))
  for (let left = reader.vint(); left > 0; left--) credentials.secrets.set(reader.text(), Buffer.from(reader.vbytes()))
  return credentials
}

/** One message behind its length, as writeDelimitedTo puts it. */
function readProtobuf(bytes: Uint8Array): Credentials {
  const credentials = emptyCredentials()
  // parseDelimitedFrom takes the end of the stream for an empty message.
  if (bytes.length === 0) return credentials
  const message = CredentialsProto.decode(protobuf.Reader.create(bytes).bytes())
  for (const { alias, token } of message.tokens) {
    if (token !== null && token !== undefined) credentials.tokens.set(alias, tokenFromProto(token))
  }
  for (const { alias, secret } of message.secrets) credentials.secrets.set(alias, Buffer.from(secret ?? []))
  return credentials
}

/** What the readers complain of is, for Java, a stream that ends early or a message that does not parse. */
function readContent(read: () => Credentials): Credentials {
  try {
    return read()
  } catch (thrown) {
    if (thrown instanceof BobbinError) throw truncated(thrown)
    throw new RemoteError(JavaClass.IO, messageOf(thrown), thrown)
  }
}

/** Java's EOFException of a stream has no message. */
function truncated(cause?: unknown): RemoteError {
  return new RemoteError(JavaClass.EOF, '', cause)
}
