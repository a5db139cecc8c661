/**
 * Ids in Hadoop's text form, which is how the code names things: as map keys, in paths, logs and environment.
 * A brand keeps one kind from being passed for another; only this file makes them.
 * Source: ApplicationId, ApplicationAttemptId, ContainerId, NodeId of hadoop-yarn-api.
 */
import Long from 'long'
import { BobbinError } from '../base/errors.ts'
import { toNumber, type hadoop, type Int64 } from './messages.ts'

/** `application_<clusterTimestamp>_<id, at least 4 digits>` */
export type ApplicationId = string & { readonly __kind: 'application' }
/** `appattempt_<clusterTimestamp>_<id4>_<attempt, at least 6 digits>` */
export type ApplicationAttemptId = string & { readonly __kind: 'attempt' }
/** `container_[e<epoch>_]<clusterTimestamp>_<id4>_<attempt2>_<sequence6>` */
export type ContainerId = string & { readonly __kind: 'container' }
/** `host:port` */
export type NodeId = string & { readonly __kind: 'node' }

type ApplicationIdProto = hadoop.yarn.ApplicationIdProto.$Properties
type AttemptIdProto = hadoop.yarn.ApplicationAttemptIdProto.$Properties
type ContainerIdProto = hadoop.yarn.ContainerIdProto.$Properties
type NodeIdProto = hadoop.yarn.NodeIdProto.$Properties

/** The parts of a container id. `sequence` is the low 40 bits of Hadoop's 64-bit id, `epoch` the rest. */
export interface ContainerIdParts {
  readonly clusterTimestamp: number
  readonly application: number
  readonly attempt: number
  readonly epoch: number
  readonly sequence: number
}

const SEQUENCE_BITS = 40

const pad = (value: number, width: number): string => String(value).padStart(width, '0')

function badId(kind: string, text: string): BobbinError {
  return new BobbinError('ERR_BAD_ID', `Invalid ${kind}: ${text}`)
}

// ---- application -----------------------------------------------------------------------------------------------

export function applicationId(clusterTimestamp: number, id: number): ApplicationId {
  return `application_${clusterTimestamp}_${pad(id, 4)}` as ApplicationId
}

/** @throws BobbinError ERR_BAD_ID with Hadoop's words. */
export function parseApplicationId(text: string): ApplicationId {
  const { clusterTimestamp, id } = applicationParts(text)
  return applicationId(clusterTimestamp, id)
}

function applicationParts(text: string): { clusterTimestamp: number; id: number } {
  const match = /^application_(\d+)_(\d+)$/.exec(text)
  if (match === null) throw badId('ApplicationId', text)
  return {
    clusterTimestamp: wholeNumber(match[1], 'ApplicationId', text),
    id: wholeNumber(match[2], 'ApplicationId', text),
  }
}

export function applicationIdFromProto(proto: ApplicationIdProto | null | undefined): ApplicationId {
  return applicationId(toNumber(proto?.clusterTimestamp, 0), proto?.id ?? 0)
}

export function applicationIdToProto(id: ApplicationId): ApplicationIdProto {
  const parts = applicationParts(id)
  return { id: parts.id, clusterTimestamp: parts.clusterTimestamp }
}

// ---- attempt ---------------------------------------------------------------------------------------------------

export function attemptId(application: ApplicationId, attempt: number): ApplicationAttemptId {
  return `appattempt_${application.slice('application_'.length)}_${pad(attempt, 6)}` as ApplicationAttemptId
}

/** @throws BobbinError ERR_BAD_ID */
export function parseAttemptId(text: string): ApplicationAttemptId {
  const parts = attemptParts(text)
  return attemptId(applicationId(parts.clusterTimestamp, parts.application), parts.attempt)
}

export function attemptParts(text: string): { clusterTimestamp: number; application: number; attempt: number } {
  const match = /^appattempt_(\d+)_(\d+)_(\d+)$/.exec(text)
  if (match === null) throw badId('ApplicationAttemptId', text)
  const number = (index: number) => wholeNumber(match[index], 'ApplicationAttemptId', text)
  return { clusterTimestamp: number(1), application: number(2), attempt: number(3) }
}

export function applicationOfAttempt(attempt: ApplicationAttemptId): ApplicationId {
  return `application_${attempt.slice('appattempt_'.length, attempt.lastIndexOf('_'))}` as ApplicationId
}

export function attemptIdFromProto(proto: AttemptIdProto | null | undefined): ApplicationAttemptId {
  return attemptId(applicationIdFromProto(proto?.applicationId), proto?.attemptId ?? 0)
}

export function attemptIdToProto(attempt: ApplicationAttemptId): AttemptIdProto {
  const parts = attemptParts(attempt)
  return {
    applicationId: { id: parts.application, clusterTimestamp: parts.clusterTimestamp },
    attemptId: parts.attempt,
  }
}

// ---- container -------------------------------------------------------------------------------------------------

export function containerId(parts: ContainerIdParts): ContainerId {
  const { clusterTimestamp, application, attempt, epoch, sequence } = parts
  const prefix = epoch > 0 ? `e${pad(epoch, 2)}_` : ''
  return `container_${prefix}${clusterTimestamp}_${pad(application, 4)}_${pad(attempt, 2)}_${pad(sequence, 6)}` as ContainerId
}

/** @throws BobbinError ERR_BAD_ID */
export function parseContainerId(text: string): ContainerId {
  return containerId(containerParts(text))
}

function containerParts(text: string): ContainerIdParts {
  const match = /^container_(?:e(\d+)_)?(\d+)_(\d+)_(\d+)_(\d+)$/.exec(text)
  if (match === null) throw badId('ContainerId', text)
  const number = (index: number) => wholeNumber(match[index], 'ContainerId', text)
  return {
    epoch: match[1] === undefined ? 0 : number(1),
    clusterTimestamp: number(2),
    application: number(3),
    attempt: number(4),
    sequence: number(5),
  }
}

/** Cut out of the text, which has the same digits: this is asked at each call of a master. */
export function applicationOfContainer(container: ContainerId): ApplicationId {
  const prefix = 'container_'.length
  const begin = container[prefix] === 'e' ? container.indexOf('_', prefix) + 1 : prefix
  const end = container.lastIndexOf('_', container.lastIndexOf('_') - 1)
  return `application_${container.slice(begin, end)}` as ApplicationId
}

export function attemptOfContainer(container: ContainerId): ApplicationAttemptId {
  return attemptId(applicationOfContainer(container), containerParts(container).attempt)
}

/** Hadoop writes the application's id into field 1 only in old messages; the attempt's is the one that counts. */
export function containerIdFromProto(proto: ContainerIdProto | null | undefined): ContainerId {
  const attempt = proto?.appAttemptId
  const id = toLong(proto?.id)
  return containerId({
    clusterTimestamp: toNumber(attempt?.applicationId?.clusterTimestamp, 0),
    application: attempt?.applicationId?.id ?? 0,
    attempt: attempt?.attemptId ?? 0,
    epoch: id.shiftRight(SEQUENCE_BITS).toNumber(),
    sequence: id.and(Long.fromNumber(2 ** SEQUENCE_BITS - 1)).toNumber(),
  })
}

export function containerIdToProto(id: ContainerId): ContainerIdProto {
  const parts = containerParts(id)
  return {
    appAttemptId: {
      applicationId: { id: parts.application, clusterTimestamp: parts.clusterTimestamp },
      attemptId: parts.attempt,
    },
    id: Long.fromNumber(parts.epoch).shiftLeft(SEQUENCE_BITS).or(Long.fromNumber(parts.sequence)),
  }
}

function toLong(value: Int64 | null | undefined): Long {
  if (value === null || value === undefined) return Long.ZERO
  return typeof value === 'number' ? Long.fromNumber(value) : value
}

// ---- node ------------------------------------------------------------------------------------------------------

export function nodeId(host: string, port: number): NodeId {
  return `${host}:${port}` as NodeId
}

/** @throws BobbinError ERR_BAD_ID */
export function nodeParts(text: string): { host: string; port: number } {
  const colon = text.lastIndexOf(':')
  const port = text.slice(colon + 1)
  if (colon < 1 || !/^\d{1,5}$/.test(port)) throw badId('NodeId', text)
  return { host: text.slice(0, colon), port: Number(port) }
}

export function nodeIdFromProto(proto: NodeIdProto | null | undefined): NodeId {
  return nodeId(proto?.host ?? '', proto?.port ?? 0)
}

export function nodeIdToProto(id: NodeId): NodeIdProto {
  return nodeParts(id)
}

function wholeNumber(digits: string | undefined, kind: string, text: string): number {
  const value = Number(digits)
  if (!Number.isSafeInteger(value)) throw badId(kind, text)
  return value
}
