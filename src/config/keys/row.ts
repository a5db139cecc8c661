import type { Address } from '../node-manager-config.ts'
import type { AccessControlList, EnvironmentVariable, IntegerRange } from '../values.ts'

/** What each type of key reads as. */
export interface ValueTypes {
  /** Trimmed. */
  readonly string: string
  /** As written, blanks and all. */
  readonly text: string
  readonly int: number
  readonly long: number
  readonly float: number
  readonly boolean: boolean
  /** In the unit of its row; may be written with another (`10s`). */
  readonly duration: number
  /** Bytes; may be written with k, m, g, t, p or e. */
  readonly bytes: number
  /** Bytes; must be written with a unit, and may have decimals. */
  readonly 'storage-size': number
  readonly list: readonly string[]
  /** Split at commas only, not trimmed. */
  readonly 'plain-list': readonly string[]
  /** A file mode. */
  readonly octal: number
  readonly address: Address
  readonly acl: AccessControlList
  /** The name of a Java class; a row lists those that are known. */
  readonly class: string
  readonly ranges: readonly IntegerRange[]
  readonly pattern: RegExp
  readonly environment: readonly EnvironmentVariable[]
  /** Absolute, of this machine. */
  readonly path: string
  readonly paths: readonly string[]
}

export type ValueType = keyof ValueTypes

export type Unit = 'ms' | 's' | 'min' | 'MB' | 'bytes' | 'percent' | 'characters' | 'Mbit/s'

export interface Key<T extends ValueType = ValueType, D extends string | undefined = string | undefined> {
  readonly type: T
  /** As Hadoop writes it, with variables; `=other.key`: what that key has. */
  readonly default: D
  readonly unit: Unit | undefined
  readonly meaning: string
  /** False: accepted, and this version does nothing with it. */
  readonly isUsed: boolean
  /** The only values that are accepted; compared without case where `ignoresCase`. */
  readonly oneOf: readonly string[] | undefined
  readonly min: number | undefined
  readonly max: number | undefined
  /** Of an address that is written without one. */
  readonly defaultPort: number | undefined
}

interface Limits {
  readonly oneOf?: readonly string[]
  readonly min?: number
  readonly max?: number
  readonly defaultPort?: number
}

type Spec = ValueType | `${ValueType} ${Unit}`
type TypeOf<S extends Spec> = S extends `${infer T extends ValueType} ${Unit}` ? T : S extends ValueType ? S : never

/** A key that this version acts on. @param spec the type and, after a blank, the unit */
export function used<S extends Spec, D extends string | undefined>(
  spec: S,
  defaultValue: D,
  meaning: string,
  limits: Limits = {},
): Key<TypeOf<S>, D> {
  return row(spec, defaultValue, meaning, limits, true)
}

/** A key that is accepted and that this version does nothing with. */
export function known<S extends Spec, D extends string | undefined>(
  spec: S,
  defaultValue: D,
  meaning: string,
  limits: Limits = {},
): Key<TypeOf<S>, D> {
  return row(spec, defaultValue, meaning, limits, false)
}

function row<S extends Spec, D extends string | undefined>(
  spec: S,
  defaultValue: D,
  meaning: string,
  { oneOf, min, max, defaultPort }: Limits,
  isUsed: boolean,
): Key<TypeOf<S>, D> {
  const [type, unit] = spec.split(' ') as [TypeOf<S>, Unit?]
  return { type, default: defaultValue, unit, meaning, isUsed, oneOf, min, max, defaultPort }
}
