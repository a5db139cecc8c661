import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import protobuf from 'protobufjs'
import { applicationClient } from '../../../src/protocol/application-client.ts'
import { applicationMaster } from '../../../src/protocol/application-master.ts'
import { containerManagement } from '../../../src/protocol/container-management.ts'
import { hadoop } from '../../../src/protocol/messages.ts'
import { resourceTracker } from '../../../src/protocol/resource-tracker.ts'
import type { RpcProtocol } from '../../../src/protocol/rpc-protocol.ts'
import { fixture, projectRoot } from '../../helpers/fixtures.ts'

interface WireField {
  readonly name: string
  readonly number: number
  readonly type: string
  readonly label: string
  readonly default?: string | number | boolean
}
interface Wire {
  readonly messages: { readonly [name: string]: { readonly file: string; readonly fields: readonly WireField[] } }
  readonly enums: { readonly [name: string]: { readonly values: { readonly [name: string]: number } } }
  readonly services: {
    readonly [name: string]: {
      readonly methods: { readonly [name: string]: { readonly in: string; readonly out: string } }
    }
  }
}

const wire = fixture<Wire>('wire-3.4.2.json')
const folder = join(projectRoot(), 'src', 'protocol')
const files = readdirSync(folder).filter((name) => name.endsWith('.proto'))

/** Everything that a text declares, in the form of the fixture. */
function declared(): { messages: Map<string, WireField[]>; enums: Map<string, object>; services: Map<string, object> } {
  const root = new protobuf.Root()
  for (const file of files) protobuf.parse(readFileSync(join(folder, file), 'utf8'), root, { keepCase: true })
  root.resolveAll()
  const found = { messages: new Map(), enums: new Map(), services: new Map() }
  const visit = (parent: protobuf.NamespaceBase): void => {
    for (const child of parent.nestedArray) {
      const name = child.fullName.slice(1)
      if (child instanceof protobuf.Type) found.messages.set(name, child.fieldsArray.map(fieldOf))
      if (child instanceof protobuf.Enum) found.enums.set(name, child.values)
      if (child instanceof protobuf.Service) found.services.set(name, methodsOf(child))
      if (child instanceof protobuf.Namespace) visit(child)
    }
  }
  visit(root)
  return found
}

function fieldOf(field: protobuf.Field): WireField {
  const { name, id: number } = field
  const type = field.resolvedType?.fullName.slice(1) ?? field.type
  const label = field.repeated ? 'repeated' : field.required ? 'required' : 'optional'
  const value: unknown = field.options?.['default']
  return value === undefined
    ? { name, number, type, label }
    : { name, number, type, label, default: value as string | number | boolean }
}

function methodsOf(service: protobuf.Service): object {
  return Object.fromEntries(
    service.methodsArray.map((method) => [
      method.name,
      { in: method.resolvedRequestType?.fullName.slice(1), out: method.resolvedResponseType?.fullName.slice(1) },
    ]),
  )
}

const texts = declared()

test('every message that we declare has the fields, numbers, types, labels and defaults of Hadoop', () => {
  assert.ok(texts.messages.size > 200)
  for (const [name, fields] of texts.messages) {
    const theirs = wire.messages[name]
    assert.ok(theirs !== undefined, `${name} is not a message of Hadoop`)
    const byNumber = (a: WireField, b: WireField) => a.number - b.number
    assert.deepEqual([...fields].sort(byNumber), [...theirs.fields].sort(byNumber), name)
  }
})

test('every enum that we declare has the values of Hadoop', () => {
  assert.ok(texts.enums.size > 20)
  for (const [name, values] of texts.enums) assert.deepEqual({ ...values }, wire.enums[name]?.values, name)
})

test('every service that we declare takes and gives the messages of Hadoop', () => {
  for (const [name, methods] of texts.services) {
    const theirs = wire.services[name]?.methods
    assert.ok(theirs !== undefined, name)
    for (const [method, messages] of Object.entries(methods))
      assert.deepEqual(messages, theirs[method], `${name}.${method}`)
  }
})

const tables: readonly (readonly [RpcProtocol, string])[] = [
  [applicationClient, 'hadoop.yarn.ApplicationClientProtocolService'],
  [applicationMaster, 'hadoop.yarn.ApplicationMasterProtocolService'],
  [containerManagement, 'hadoop.yarn.ContainerManagementProtocolService'],
  [resourceTracker, 'hadoop.yarn.ResourceTrackerService'],
]

for (const [protocol, service] of tables) {
  test(`the methods of ${service} are tied to their messages`, () => {
    const theirs = wire.services[service]?.methods ?? {}
    for (const [name, { request, response }] of Object.entries(protocol.methods)) {
      assert.equal(request, codecOf(theirs[name]?.in), `${name} request`)
      assert.equal(response, codecOf(theirs[name]?.out), `${name} response`)
    }
  })
}

function codecOf(name = ''): unknown {
  let found: unknown = { hadoop }
  for (const part of name.split('.')) found = (found as { readonly [part: string]: unknown })[part]
  assert.ok(found !== undefined, `no codec for ${name}`)
  return found
}
