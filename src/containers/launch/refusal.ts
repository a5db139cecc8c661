import { BobbinError } from '../../base/errors.ts'
import { ExitCode } from '../../executors/exit-code.ts'

/** A launch that is given up before there is a process; the message becomes the container's diagnostics. */
export class LaunchRefusal extends BobbinError {
  override readonly name = 'LaunchRefusal'
  /** What the container's exit status becomes: what Hadoop's would be, where it would have failed in the script. */
  readonly exitCode: number
  constructor(message: string, exitCode: number = ExitCode.NOT_STARTED) {
    super('ERR_LAUNCH_REFUSED', message)
    this.exitCode = exitCode
  }
}
