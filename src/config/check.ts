import type { Configuration } from './configuration.ts'
import { ConfigError, sourceText } from './errors.ts'
import { expectedForm, findKey, nearestKey } from './keys.ts'
import { parseTyped } from './typed-value.ts'

/** Prefixes below which the table has every key that there is. */
const COMPLETE_PREFIXES = ['yarn.nodemanager.', 'bobbin.']

/** What is worth saying about keys that are set and that stops nothing: unknown ones, wrong values of unused ones. */
export function checkSetKeys(configuration: Configuration): readonly string[] {
  return configuration.setNames().flatMap((name) => {
    const source = configuration.sourceOf(name)
    const place = source === undefined ? '' : `${sourceText(source)}: `
    const warning = unknownKey(name) ?? wrongUnusedValue(configuration, name) ?? weakerInJava(configuration, name)
    return warning === undefined ? [] : [place + warning]
  })
}

function unknownKey(name: string): string | undefined {
  if (findKey(name) !== undefined || !COMPLETE_PREFIXES.some((prefix) => name.startsWith(prefix))) return undefined
  const nearest = nearestKey(name)
  return `unknown key ${name}: it is ignored${nearest === undefined ? '' : `; did you mean ${nearest}?`}`
}

function wrongUnusedValue(configuration: Configuration, name: string): string | undefined {
  const key = findKey(name)
  if (key === undefined || key.isUsed) return undefined
  const value = textOf(configuration, name)
  if (value !== undefined && parseTyped(key, value) !== undefined) return undefined
  const reason = value === undefined ? 'its variables refer to each other' : `expected ${expectedForm(key)}`
  return `${name} = ${JSON.stringify(value ?? configuration.getRaw(name))}: ${reason} (this version does not use the key)`
}

/**
 * Java loads yarn-default.xml after core-site.xml and mapred-default.xml after yarn-site.xml, so that a default there
 * beats the value here. A value that somebody wrote is stronger for us.
 */
function weakerInJava(configuration: Configuration, name: string): string | undefined {
  const resource = configuration.resourceOf(name)
  const isWeaker =
    (resource === 'core-site.xml' && /^(yarn|mapreduce)\./.test(name)) ||
    (resource === 'yarn-site.xml' && name.startsWith('mapreduce.'))
  const value = findKey(name)?.default
  if (!isWeaker || value === undefined || value.startsWith('=') || configuration.isFinal(name)) return undefined
  const file = name.startsWith('yarn.') ? 'yarn-site.xml' : 'mapred-site.xml'
  return `${name} in ${resource}: Hadoop's own daemons would use the default '${value}'; write it in ${file}`
}

function textOf(configuration: Configuration, name: string): string | undefined {
  try {
    return configuration.get(name)
  } catch (thrown) {
    if (thrown instanceof ConfigError) return undefined // The caller says that variables refer to each other.
    throw thrown
  }
}
