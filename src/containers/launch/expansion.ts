/** Markers in commands and environment values, replaced before the script is written. Source: ContainerLaunch.expandEnvironment. */

export interface Expansions {
  /** For `<LOG_DIR>`: the container's log dir. */
  readonly logDir: string
  /** For `<ADD_OPENS>`: JVM options, or nothing. */
  readonly addOpens: string
}

/** What ApplicationConstants.JVM_ADD_OPENS_VAR becomes on JDK 17 and later. */
export const JDK_17_OPTIONS =
  '--add-opens=java.base/java.lang=ALL-UNNAMED ' +
  '--add-exports=java.base/sun.net.dns=ALL-UNNAMED ' +
  '--add-exports=java.base/sun.net.util=ALL-UNNAMED'

/** Plain replacement in this order; `{{X}}` becomes `$X`, which the shell then expands. */
export function expandMarkers(text: string, { logDir, addOpens }: Expansions): string {
  return text
    .replaceAll('<LOG_DIR>', () => logDir)
    .replaceAll('<CPS>', ':')
    .replaceAll('<ADD_OPENS>', () => addOpens)
    .replaceAll('{{', '$$')
    .replaceAll('}}', '')
}
