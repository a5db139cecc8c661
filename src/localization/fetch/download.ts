import { createWriteStream } from 'node:fs'
import { chmod, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { iso8601 } from '../../base/times.ts'
import { LocalizationError } from '../errors.ts'
import type { LocalizedFile } from '../localized-resource.ts'
import type { ResourceRequest } from '../resource-request.ts'
import type { ResourceUrl } from '../resource-url.ts'
import type { FileSource, ReadContext, SourceStatus } from './file-source.ts'
import { FileTree, PRIVATE_MODES, PUBLIC_MODES } from './file-tree.ts'
import { untar } from './untar.ts'
import { unzip, unzipMatching } from './unzip.ts'

/** Of the directory that bears the number. Source: FSDownload.cachePerms. */
const SLOT_MODE = 0o755
const TAR = /\.(tar\.gz|tgz|tar)$/

export interface DownloadOptions {
  readonly source: FileSource
  readonly clock: Clock
  readonly log: Log
}

/**
 * Brings one resource to `<slot>/<name>` by way of `<slot>_tmp`, which is gone afterwards, also when it fails.
 * Source: FSDownload.
 * @param slot a directory that does not exist yet, in one that does
 * @throws LocalizationError; or the signal's reason
 */
export async function download(
  request: ResourceRequest,
  slot: string,
  context: ReadContext,
  options: DownloadOptions,
): Promise<LocalizedFile> {
  const temporary = `${slot}_tmp`
  await mkdir(temporary, SLOT_MODE)
  try {
    await chmod(temporary, SLOT_MODE)
    const status = await verify(request, context, options)
    const sizeBytes = await fill(request, status, temporary, context, options)
    context.signal.throwIfAborted()
    await rename(temporary, slot)
    const isWhole = status.kind === 'file' && request.type === 'FILE'
    return { path: join(slot, request.url.name), sizeBytes, sourceBytes: isWhole ? status.sizeBytes : undefined }
  } catch (thrown) {
    await rm(temporary, { recursive: true, force: true })
    throw thrown
  }
}

/** Hadoop checks the time only; the size that a master gave is held against the source when it is answered. */
async function verify(
  request: ResourceRequest,
  context: ReadContext,
  { source, clock }: DownloadOptions,
): Promise<SourceStatus> {
  const { url, timestamp, visibility } = request
  const status = await source.stat(url, context)
  if (status.modifiedMs !== timestamp)
    throw new LocalizationError(
      `Resource ${url.text} changed on src filesystem - expected: "${iso8601(timestamp)}", ` +
        `was: "${iso8601(status.modifiedMs)}", current time: "${iso8601(clock.now())}"`,
    )
  if (visibility === 'PUBLIC' && !(await source.isPublic(url, context)))
    throw new LocalizationError(
      `Resource ${url.text} is not publicly accessible and as such cannot be part of the public cache.`,
    )
  return status
}

/** @returns the bytes that it takes */
async function fill(
  request: ResourceRequest,
  status: SourceStatus,
  temporary: string,
  context: ReadContext,
  options: DownloadOptions,
): Promise<number> {
  const { url, visibility } = request
  const tree = new FileTree(join(temporary, url.name), visibility === 'PUBLIC' ? PUBLIC_MODES : PRIVATE_MODES)
  try {
    if (request.type === 'FILE' || status.kind === 'directory') await options.source.copy(url, tree, '', context)
    else await unpack(request, tree, context, options)
  } catch (thrown) {
    context.signal.throwIfAborted()
    throw new LocalizationError('Download and unpack failed', thrown, 'org.apache.hadoop.yarn.exceptions.YarnException')
  }
  return tree.sizeBytes
}

/** By the name, in lower case. Source: FSDownload.unpack. */
async function unpack(
  request: ResourceRequest,
  tree: FileTree,
  context: ReadContext,
  { source, log }: DownloadOptions,
): Promise<void> {
  const { url, type, pattern } = request
  const lower = url.name.toLowerCase()
  const isJar = lower.endsWith('.jar')
  const isTar = TAR.test(lower)
  if (!isJar && !isTar && !lower.endsWith('.zip')) {
    log.warn(`Cannot unpack ${url.text}`)
    return await source.copy(url, tree, '', context)
  }
  const isPattern = type === 'PATTERN'
  if (isPattern && !isJar) log.warn(`Treating [${url.text}] as an archive even though it was specified as PATTERN`)
  await tree.makeRoot()
  if (isTar) await untar(await source.open(url, context), lower.endsWith('gz'), tree)
  else
    await withLocalCopy(source, url, tree, context, async (path) => {
      if (isPattern && isJar && pattern !== undefined) await unzipMatching(path, pattern, tree, context.signal)
      else await unzip(path, tree, context.signal)
    })
  await tree.checkLinks(context.signal)
  // A jar goes beside its own entries, for those who put it on the class path as a whole.
  if (isPattern && isJar) await source.copy(url, tree, url.name, context)
}

/** The directory of a zip stands at its end, so it must be here as a whole. */
async function withLocalCopy(
  source: FileSource,
  url: ResourceUrl,
  tree: FileTree,
  context: ReadContext,
  use: (path: string) => Promise<void>,
): Promise<void> {
  const local = source.localPath(url)
  if (local !== undefined) return await use(local)
  const copy = `${tree.root}.download`
  await pipeline(await source.open(url, context), createWriteStream(copy, { flags: 'wx' }), { signal: context.signal })
  await use(copy)
  await rm(copy)
}
