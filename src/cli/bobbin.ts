#!/usr/bin/env node
/** The command line: looks at the first word and loads only what that command needs. */
import { holdYoungGeneration } from '../base/young-generation.ts'
import { commands, findCommand } from './commands.ts'

const [first, ...others] = process.argv.slice(2)
// `bobbin help run` is `bobbin run --help`.
const [word, ...rest] = first === 'help' && others.length > 0 ? [...others, '--help'] : [first, ...others]

if (word === undefined || word === '--help' || word === '-h' || word === 'help') {
  process.stdout.write(usage())
  process.exitCode = word === undefined ? 2 : 0
} else if (word === '--version' || word === '-V') {
  const { version } = await import('../project.ts')
  process.stdout.write(`bobbin ${version}\n`)
} else {
  const command = findCommand(word)
  if (command === undefined) {
    process.stderr.write(`bobbin: no command called '${word}'\n\n${usage()}`)
    process.exitCode = 2
  } else {
    if (command.isDaemon) holdYoungGeneration()
    const run = await command.load()
    process.exitCode = await run(rest, process.env)
    // A daemon that has stopped ends even if something forgotten still holds the event loop.
    if (command.isDaemon) process.exit()
  }
}

function usage(): string {
  const width = Math.max(...commands.map((command) => command.name.length))
  const lines = commands.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`)
  return `bobbin: a YARN NodeManager for Linux hosts

Usage: bobbin COMMAND [OPTION...]

${lines.join('\n')}

'bobbin COMMAND --help' tells more. Configuration: core-site.xml and yarn-site.xml in the folder that --config,
YARN_CONF_DIR or HADOOP_CONF_DIR names.
`
}
