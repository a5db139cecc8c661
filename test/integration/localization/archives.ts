import { crc32, deflateRawSync } from 'node:zlib'
import { Header, type HeaderData } from 'tar'

export interface ZipEntry {
  readonly name: string
  readonly data?: Buffer | string
  /** Unix mode with its type bits; absent: made on a system without modes. */
  readonly mode?: number
  readonly isDeflated?: boolean
  readonly crc?: number
  readonly flags?: number
}

/** A zip, byte by byte, so that it can say what no tool would write. */
export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, data = '', mode, isDeflated = false, crc, flags = 0 } of entries) {
    const bytes = Buffer.from(data)
    const body = isDeflated ? deflateRawSync(bytes) : bytes
    const nameBytes = Buffer.from(name)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(flags, 2)
    common.writeUInt16LE(isDeflated ? 8 : 0, 4)
    // 2020-01-02 03:04:06
    common.writeUInt16LE((3 << 11) | (4 << 5) | 3, 6)
    common.writeUInt16LE(((2020 - 1980) << 9) | (1 << 5) | 2, 8)
    common.writeUInt32LE(crc ?? crc32(bytes), 10)
    common.writeUInt32LE(body.length, 14)
    common.writeUInt32LE(bytes.length, 18)
    common.writeUInt16LE(nameBytes.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, nameBytes, body])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(((mode ?? 0) << 16) >>> 0, 6)
    tail.writeUInt32LE(offset, 10)
    const madeBy = Buffer.from([20, mode === undefined ? 0 : 3])
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02', 'latin1'), madeBy, common, tail, nameBytes]))
    parts.push(local)
    offset += local.length
  }
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, central, end])
}

export interface TarEntry extends HeaderData {
  readonly data?: Buffer | string
}

/** A tar, header by header, so that it can say what no tool would write. */
export function tarOf(entries: readonly TarEntry[], hasEndMark = true): Buffer {
  const blocks: Buffer[] = []
  for (const { data = '', ...fields } of entries) {
    const bytes = Buffer.from(data)
    const block = Buffer.alloc(512)
    new Header({ mode: 0o644, mtime: new Date(1_577_934_246_000), type: 'File', size: bytes.length, ...fields }).encode(
      block,
    )
    blocks.push(block, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512))
  }
  return Buffer.concat(hasEndMark ? [...blocks, Buffer.alloc(1024)] : blocks)
}
