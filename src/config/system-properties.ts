import { userInfo } from 'node:os'
import { messageOf } from '../base/errors.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * What Java's system properties would be for a NodeManager that Hadoop's scripts start, as far as configurations name
 * them. One that has no value is left out, and a key of the same name counts. Source: hadoop-functions.sh.
 */
export function systemProperties(environment: Environment): Readonly<Record<string, string>> {
  const { name, home } = currentUser(environment)
  const hadoopHome = environment['HADOOP_HOME'] || undefined
  const hadoopLogDir = environment['HADOOP_LOG_DIR'] || (hadoopHome === undefined ? undefined : `${hadoopHome}/logs`)
  const values = {
    'user.name': name,
    'user.home': home,
    'user.dir': process.cwd(),
    // Java does not look at TMPDIR on Linux.
    'java.io.tmpdir': '/tmp',
    'hadoop.home.dir': hadoopHome,
    'hadoop.id.str': environment['HADOOP_IDENT_STRING'] || environment['USER'] || name,
    'hadoop.log.dir': hadoopLogDir,
    'yarn.log.dir': environment['YARN_LOG_DIR'] || hadoopLogDir,
  }
  const given = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return Object.fromEntries(given)
}

function currentUser(environment: Environment): { readonly name: string; readonly home: string } {
  try {
    const { username, homedir } = userInfo()
    return { name: username, home: homedir }
  } catch (thrown) {
    // A user id without an entry in the user database, as in some containers. Java says `?` here.
    const name = environment['USER'] ?? environment['LOGNAME']
    if (name === undefined)
      throw new Error(`the user is not known and USER is not set: ${messageOf(thrown)}`, { cause: thrown })
    return { name, home: environment['HOME'] ?? '/' }
  }
}
