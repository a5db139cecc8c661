import type { Readable } from 'node:stream'
import type { ResourceUrl } from '../resource-url.ts'
import type { FileTree } from './file-tree.ts'

export interface SourceStatus {
  readonly kind: 'file' | 'directory'
  /** Of a file. */
  readonly sizeBytes: number
  /** Milliseconds, truncated as Hadoop's FileStatus has it. */
  readonly modifiedMs: number
}

/** Who reads, and until when. */
export interface ReadContext {
  readonly user: string
  /** The container's HDTS stream, for sources that ask for tokens. */
  readonly credentials: Buffer
  readonly signal: AbortSignal
}

/** A kind of file system that resources come from. Every call may be slow, and rejects when the signal is aborted. */
export interface FileSource {
  /** Lower case. */
  readonly schemes: readonly string[]
  /** Follows links. Rejects with LocalizationError for what is neither a file nor a directory. */
  stat(url: ResourceUrl, context: ReadContext): Promise<SourceStatus>
  /**
   * Whether everybody may read it: r on a file, r and x on each directory of a tree, x on every directory above.
   * Source: FSDownload.isPublic.
   */
  isPublic(url: ResourceUrl, context: ReadContext): Promise<boolean>
  /** Copies a file or a whole tree to `name` in the tree; empty: to its root, which is new. */
  copy(url: ResourceUrl, to: FileTree, name: string, context: ReadContext): Promise<void>
  /** The bytes of a file. */
  open(url: ResourceUrl, context: ReadContext): Promise<Readable>
  /** Where a file can be read in place; undefined when it has to be copied first for reading back and forth. */
  localPath(url: ResourceUrl): string | undefined
}
