import { deprecatedKeys, keys } from './keys.ts'
import type { Key } from './keys.ts'

interface Group {
  readonly title: string
  readonly text: string
  readonly prefixes: readonly string[]
}

/** In the order of the page; a key stands in the first group that it fits. */
const GROUPS: readonly Group[] = [
  { title: 'Bobbin’s own keys', text: 'Hadoop has none of these.', prefixes: ['bobbin.'] },
  {
    title: 'Resources of the node',
    text: 'What the node offers and how it is measured.',
    prefixes: [
      'yarn.nodemanager.resource',
      'yarn.nodemanager.pmem',
      'yarn.nodemanager.vmem',
      'yarn.nodemanager.container-monitor',
      'yarn.nodemanager.elastic',
      'yarn.nodemanager.numa',
      'yarn.nodemanager.pluggable',
    ],
  },
  {
    title: 'Disks and health',
    text: 'When the node takes work.',
    prefixes: ['yarn.nodemanager.disk', 'yarn.nodemanager.health'],
  },
  {
    title: 'Executors and runtimes',
    text: 'How processes of containers are started and contained.',
    prefixes: [
      'yarn.nodemanager.container-executor',
      'yarn.nodemanager.default-container',
      'yarn.nodemanager.linux-',
      'yarn.nodemanager.runtime',
      'yarn.nodemanager.windows',
      'yarn.nodemanager.network',
    ],
  },
  {
    title: 'Logs',
    text: 'Of containers.',
    prefixes: [
      'yarn.nodemanager.log',
      'yarn.nodemanager.remote-app',
      'yarn.nodemanager.container-log',
      'yarn.log',
      'yarn.app.',
    ],
  },
  { title: 'The node, all else', text: '', prefixes: ['yarn.nodemanager.'] },
  {
    title: 'ResourceManager and its clients',
    text: 'Keys that name the embedded ResourceManager mean nothing to a node of a real cluster.',
    prefixes: ['yarn.resourcemanager.', 'yarn.client.', 'yarn.scheduler.', 'yarn.am.', 'yarn.nm.'],
  },
  { title: 'YARN, all else', text: '', prefixes: ['yarn.'] },
  { title: 'RPC', text: 'Of core-site.xml.', prefixes: ['ipc.', 'rpc.', 'hadoop.rpc.'] },
  { title: 'Hadoop, all else', text: 'Of core-site.xml.', prefixes: ['hadoop.', 'fs.', 'io.', 'net.'] },
  { title: 'Shuffle', text: 'Of mapred-site.xml.', prefixes: ['mapreduce.'] },
]

const HEAD = `# Configuration

Bobbin reads \`core-site.xml\` and \`yarn-site.xml\` of one folder, as Hadoop does: \`--config DIR\`, else \`YARN_CONF_DIR\`,
\`HADOOP_CONF_DIR\`, \`$HADOOP_HOME/etc/hadoop\`, \`/etc/hadoop/conf\`, \`/etc/hadoop\`. A file that is not there says nothing.
\`-D name=value\` is stronger than any file.

* The last property of a name counts, unless an earlier one is \`<final>true</final>\`. An empty value counts as none.
* \`\${name}\` is a system property (\`user.name\`, \`java.io.tmpdir\`, …, and every \`-D\`) or another key, \`\${env.NAME}\` a variable
  of the environment, \`\${env.NAME:-text}\` one with a default. Twenty replacements at most.
* \`<xi:include href="other.xml"/>\` takes in a file of the configuration folder; nothing outside it, and no DOCTYPE.
* A wrong value of a key that Bobbin uses keeps it from starting: every one is named with file, line and the form expected. A
  wrong boolean, as in Hadoop, is warned about and the default is used.
* A key of \`yarn.nodemanager.\` or \`bobbin.\` that is not below is warned about, with the nearest one that is.
* Times are whole numbers in the unit named below. Only where the type is *duration* may another unit be written (\`10s\`).

**used**: this version acts on it. **known**: accepted, and nothing happens. In a name, \`<…>\` stands for anything.
This page is made from the table in \`src/config/keys\`: after a change there run \`npm run docs\`.
`

/** The page as Markdown. A test compares it with the file. */
export function configurationDocs(): string {
  const rest = new Map<string, Key>(Object.entries(keys).sort(([a], [b]) => (a < b ? -1 : 1)))
  const sections = GROUPS.map(({ title, text, prefixes }) => {
    const names = [...rest.keys()].filter((name) => prefixes.some((prefix) => name.startsWith(prefix)))
    const rows = names.map((name) => {
      const key = rest.get(name)
      rest.delete(name)
      return key === undefined ? '' : row(name, key)
    })
    return [`## ${title}\n`, ...(text === '' ? [] : [`${text}\n`]), ...TABLE_HEAD, ...rows, ''].join('\n')
  })
  return `${[HEAD, ...sections, deprecatedSection()].join('\n')}\n`
}

const TABLE_HEAD = ['| Key | Default | Type | Meaning | |', '|---|---|---|---|---|']

function row(name: string, { default: value, type, unit, oneOf, meaning, isUsed }: Key): string {
  const typeText = unit === undefined ? type : `${type}, ${unit}`
  const words = oneOf === undefined ? '' : ` One of ${oneOf.map(code).join(', ')}.`
  const cells = [code(name), defaultText(value), typeText, escape(meaning) + words, isUsed ? '**used**' : 'known']
  return `| ${cells.join(' | ')} |`
}

function defaultText(value: string | undefined): string {
  if (value === undefined) return '–'
  if (value === '') return 'empty'
  return value.startsWith('=') ? `that of ${code(value.slice(1))}` : code(value)
}

function deprecatedSection(): string {
  const rows = Object.entries(deprecatedKeys).map(([old, name]) => `| ${code(old)} | ${code(name)} |`)
  return ['## Old names\n', 'They still work.\n', '| Old | New |', '|---|---|', ...rows].join('\n')
}

function code(text: string): string {
  return `\`${escape(text)}\``
}

/** A bar would end the cell. */
function escape(text: string): string {
  return text.replaceAll('|', '\\|')
}
