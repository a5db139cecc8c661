import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { messageOf, systemCode } from '../base/errors.ts'
import { ConfigFileError } from './errors.ts'
import type { Source } from './errors.ts'
import { parseConfigurationXml } from './xml.ts'
import type { XmlInclude, XmlItem } from './xml.ts'

/** A property of a site file, includes resolved. */
export interface Property {
  readonly name: string
  readonly value: string | undefined
  readonly isFinal: boolean
  readonly source: Source
  /** Base name of the site file through which it came, also for an included one: decides how Java would rank it. */
  readonly resource: string
}

/** Includes in all files together; more can only be files that include each other twice over. */
const MAX_INCLUDES = 1000

/**
 * The properties of the named files of one folder, in order. A site file that does not exist has none.
 * @throws ConfigFileError for a file that can't be read or parsed and for an include that is not allowed
 */
export async function readResources(confDir: string, names: readonly string[]): Promise<readonly Property[]> {
  const perFile = await Promise.all(
    names.map((name) =>
      new ResourceReader(confDir, name).read(join(confDir, name)).catch(noneIfMissing(name, confDir)),
    ),
  )
  return perFile.flat()
}

class MissingFile extends Error {}

function noneIfMissing(name: string, confDir: string): (thrown: unknown) => readonly Property[] {
  return (thrown) => {
    if (thrown instanceof MissingFile && thrown.message === join(confDir, name)) return []
    throw thrown
  }
}

class ResourceReader {
  readonly #confDir: string
  readonly #resource: string
  #includeCount = 0

  constructor(confDir: string, resource: string) {
    this.#confDir = confDir
    this.#resource = resource
  }

  /** @throws MissingFile when there is no such file; its message is the path */
  async read(file: string): Promise<readonly Property[]> {
    const text = await readText(file)
    const items = parseConfigurationXml(text, file)
    if (items.every((item) => item.kind === 'property')) return this.#properties(items, file)
    return this.#flatten(items, file, [await realpath(file)])
  }

  /** @param chain real paths of the files that are being read, outermost first */
  async #flatten(items: readonly XmlItem[], file: string, chain: readonly string[]): Promise<readonly Property[]> {
    const properties: Property[] = []
    for (const item of items) {
      if (item.kind === 'property') properties.push(...this.#properties([item], file))
      else properties.push(...(await this.#include(item, file, chain)))
    }
    return properties
  }

  #properties(items: readonly XmlItem[], file: string): readonly Property[] {
    return items
      .filter((item) => item.kind === 'property')
      .map(({ name, value, isFinal, line }) => {
        return { name, value, isFinal, source: { file, line }, resource: this.#resource }
      })
  }

  async #include(include: XmlInclude, file: string, chain: readonly string[]): Promise<readonly Property[]> {
    const fail = (reason: string): never => {
      throw new ConfigFileError(file, { line: include.line, column: 0 }, `xi:include of '${include.href}': ${reason}`)
    }
    if (++this.#includeCount > MAX_INCLUDES) fail(`more than ${MAX_INCLUDES} includes`)
    const target = await this.#locate(include.href, file, fail)
    if (target === undefined) {
      if (include.fallback !== undefined) return this.#flatten(include.fallback, file, chain)
      // The text of Configuration.Parser, which operators search for.
      throw new ConfigFileError(
        file,
        { line: include.line, column: 0 },
        `Fetch fail on include for '${include.href}' with no fallback while loading '${file}'`,
      )
    }
    if (chain.includes(target)) fail('the file includes itself')
    const items = parseConfigurationXml(await readText(target), target)
    return this.#flatten(items, target, [...chain, target])
  }

  /**
   * Real path of the file; undefined when there is none. Looked for in the configuration folder first (Hadoop asks
   * its class path, whose first entry that is), then beside the including file.
   */
  async #locate(href: string, file: string, fail: (reason: string) => never): Promise<string | undefined> {
    const path = includePath(href, fail)
    const candidates = isAbsolute(path) ? [path] : [resolve(this.#confDir, path), resolve(dirname(file), path)]
    const root = await realpath(this.#confDir)
    for (const candidate of candidates) {
      const target = await realPathIfAny(candidate)
      if (target === undefined) continue
      if (!target.startsWith(root.endsWith(sep) ? root : root + sep))
        return fail(`${target} is outside the configuration folder ${root}`)
      return target
    }
    return undefined
  }
}

function includePath(href: string, fail: (reason: string) => never): string {
  if (/^file:/i.test(href)) {
    try {
      return fileURLToPath(href)
    } catch (thrown) {
      return fail(messageOf(thrown))
    }
  }
  if (/^[A-Za-z][A-Za-z0-9+.-]*:/.test(href)) return fail('only files of the configuration folder can be included')
  if (href.includes('\0')) return fail('not a file name')
  return href
}

async function realPathIfAny(path: string): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch (thrown) {
    const code = systemCode(thrown)
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new ConfigFileError(path, undefined, messageOf(thrown))
  }
}

async function readText(file: string): Promise<string> {
  let bytes: Buffer
  try {
    // A named pipe would keep the read waiting for ever.
    if (!(await stat(file)).isFile()) throw new ConfigFileError(file, undefined, 'not a regular file')
    bytes = await readFile(file)
  } catch (thrown) {
    if (thrown instanceof ConfigFileError) throw thrown
    if (systemCode(thrown) === 'ENOENT') throw new MissingFile(file)
    throw new ConfigFileError(file, undefined, `can't be read: ${messageOf(thrown)}`)
  }
  return decodeXml(bytes, file)
}

/** Decodes by byte-order mark or by the encoding of the prolog; UTF-8 else. A byte that does not fit is refused. */
export function decodeXml(bytes: Uint8Array, file: string): string {
  const encoding = encodingOf(bytes)
  let decoder
  try {
    decoder = new TextDecoder(encoding, { fatal: true })
  } catch (thrown) {
    throw new ConfigFileError(file, undefined, `encoding '${encoding}' is not known: ${messageOf(thrown)}`)
  }
  try {
    return decoder.decode(bytes)
  } catch (thrown) {
    const reason = `holds bytes that are not ${encoding}; save the file in that encoding or name the right one in <?xml …?>`
    throw new ConfigFileError(file, undefined, `${reason} (${messageOf(thrown)})`)
  }
}

function encodingOf(bytes: Uint8Array): string {
  const [first, second] = bytes
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  const prolog = /^(?:\u00EF\u00BB\u00BF)?<\?xml[^>]*?encoding\s*=\s*["']([^"']+)["']/.exec(
    Buffer.from(bytes.subarray(0, 256)).toString('latin1'),
  )
  const named = prolog?.[1] ?? 'utf-8'
  // A file whose prolog can be read byte by byte is not in UTF-16, whatever the prolog says.
  return /^utf-?16/i.test(named) ? 'utf-8' : named
}
