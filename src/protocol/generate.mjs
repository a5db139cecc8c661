// Build step: turns the .proto texts beside this file into protobufjs' static codec and its types.
//   node src/protocol/generate.mjs            writes src/protocol/generated/ when a .proto text is newer
//   node src/protocol/generate.mjs --install [DIR]  copies the codec beside the compiled code (in dist, unless told), and
//                                             makes the command executable, which the compiler does not
// Nothing that it writes is committed.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '..', '..')
const generated = join(here, 'generated')
const codec = join(generated, 'hadoop.js')
const types = join(generated, 'hadoop.d.ts')

if (process.argv.includes('--install')) {
  const output = join(root, process.argv[3] ?? 'dist')
  const target = join(output, relative(root, generated))
  mkdirSync(target, { recursive: true })
  write(join(target, 'hadoop.js'), readFileSync(codec))
} else if (isStale()) {
  await generate()
}

function isStale() {
  if (!existsSync(codec) || !existsSync(types)) return true
  const written = Math.min(statSync(codec).mtimeMs, statSync(types).mtimeMs)
  const sources = [fileURLToPath(import.meta.url), join(root, 'package-lock.json'), ...protoFiles()]
  return sources.some((file) => statSync(file).mtimeMs > written)
}

function protoFiles() {
  return readdirSync(here)
    .filter((name) => name.endsWith('.proto'))
    .sort()
    .map((name) => join(here, name))
}

async function generate() {
  const { default: cli } = await import('protobufjs-cli')
  const run = (tool, args) =>
    new Promise((resolve, reject) => tool.main(args, (error, output) => (error ? reject(error) : resolve(output))))
  // Null for an absent field: presence matters on this wire, and prototypes would otherwise answer with zero.
  const options = [
    '-t',
    'static-module',
    '-w',
    'esm',
    '--null-semantics',
    '--no-create',
    '--no-convert',
    '--no-verify',
  ].concat(['--no-delimited', '--no-service', '--no-typeurl'])
  mkdirSync(generated, { recursive: true })
  const commented = join(generated, 'commented.mjs')
  writeFileSync(commented, await run(cli.pbjs, [...options, ...protoFiles()]))
  const declarations = await run(cli.pbts, [commented])
  const code = await run(cli.pbjs, [...options, '--no-comments', ...protoFiles()])
  write(types, declarations)
  write(codec, code)
}

/** Whole or not at all: the build may be interrupted, or run twice at a time. */
function write(file, content) {
  const temporary = `${file}.${process.pid}`
  writeFileSync(temporary, content)
  renameSync(temporary, file)
}
