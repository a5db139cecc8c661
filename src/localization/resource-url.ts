import { posix } from 'node:path'
import type { hadoop } from '../protocol/messages.ts'
import { LocalizationError } from './errors.ts'

type URLProto = hadoop.yarn.URLProto.$Properties

/** Where a resource lies. Source: org.apache.hadoop.yarn.api.records.URL and org.apache.hadoop.fs.Path. */
export interface ResourceUrl {
  /** As Hadoop prints the path: `hdfs://host:1/a/b`, `file:/a/b`, and `/a/b` where the master named no scheme. */
  readonly text: string
  /** Lower case; the default file system's where the master named none. */
  readonly scheme: string
  /** `[userInfo@]host[:port]`; empty when there is none. */
  readonly authority: string
  /** Absolute and normalised. */
  readonly path: string
  /** The last part of the path: the name under which the resource lies in the cache. */
  readonly name: string
}

/** `scheme://authority` of `fs.defaultFS`. */
const FILE_SYSTEM = /^([A-Za-z][A-Za-z0-9+.-]*):(?:\/\/([^/]*))?/

/** @throws LocalizationError `Invalid resource` for what is not an absolute path with a name */
export function parseResourceUrl(url: URLProto | null | undefined, defaultFileSystem: string): ResourceUrl {
  const file = url?.file ?? ''
  const ownScheme = url?.scheme ?? ''
  const described = `${ownScheme === '' ? '' : `${ownScheme}:`}${file}`
  if (!file.startsWith('/') || file.includes('\0'))
    throw new LocalizationError(`Invalid resource: "${described}" is not an absolute path`)
  const path = withoutTrailingSlash(posix.normalize(file).replace(/^\/+/, '/'))
  const name = posix.basename(path)
  if (name === '') throw new LocalizationError(`Invalid resource: "${described}" has no file name`)
  if (ownScheme !== '') {
    const scheme = ownScheme.toLowerCase()
    const authority = authorityOf(url)
    const text = authority === '' ? `${ownScheme}:${path}` : `${ownScheme}://${authority}${path}`
    return { text, scheme, authority, path, name }
  }
  const match = FILE_SYSTEM.exec(defaultFileSystem)
  if (match === null)
    throw new LocalizationError(`Invalid resource: ${path} has no scheme and fs.defaultFS is "${defaultFileSystem}"`)
  return { text: path, scheme: (match[1] ?? '').toLowerCase(), authority: match[2] ?? '', path, name }
}

function authorityOf(url: URLProto | null | undefined): string {
  const host = url?.host ?? ''
  if (host === '') return ''
  const userInfo = url?.userInfo ?? ''
  const port = url?.port ?? -1
  return `${userInfo === '' ? '' : `${userInfo}@`}${host}${port > 0 ? `:${port}` : ''}`
}

function withoutTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}
