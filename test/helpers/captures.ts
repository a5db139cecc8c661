import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { hadoop } from '../../src/protocol/messages.ts'
import type { AnyCodec } from '../../src/protocol/rpc-protocol.ts'
import { fixture, projectRoot } from './fixtures.ts'

/** A frame as the captures describe it; `messageType` where its message was decoded when it was captured. */
export interface CapturedFrame {
  readonly direction: 'client->server' | 'server->client'
  /** With the 4-byte length. */
  readonly frameHex: string
  readonly messageType?: string
  readonly message?: object
  readonly requestHeader?: { readonly methodName: string }
}

/** Each captured frame of all files, in order, by the file's name. */
export function capturedFrames(): { file: string; frame: CapturedFrame }[] {
  const files = readdirSync(join(projectRoot(), 'test/fixtures/vectors')).filter((name) => name.startsWith('capture-'))
  return files.flatMap((file) => framesIn(fixture<unknown>(`vectors/${file}`)).map((frame) => ({ file, frame })))
}

function framesIn(value: unknown): CapturedFrame[] {
  if (typeof value !== 'object' || value === null) return []
  const inside = Object.values(value).flatMap(framesIn)
  return 'frameHex' in value ? [value as CapturedFrame, ...inside] : inside
}

/** `hadoop.yarn.NodeIdProto` → its codec. */
export function codecNamed(name: string): AnyCodec {
  let found: unknown = { hadoop }
  for (const part of name.split('.')) found = (found as { readonly [part: string]: unknown } | undefined)?.[part]
  if (found === undefined) throw new Error(`no codec for ${name}`)
  return found as AnyCodec
}
