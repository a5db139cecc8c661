import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigFileError } from '../../../src/config/errors.ts'
import { decodeXml } from '../../../src/config/resources.ts'
import { parseConfigurationXml } from '../../../src/config/xml.ts'

function refusal(text: string): string {
  try {
    parseConfigurationXml(text, '/conf/yarn-site.xml')
  } catch (thrown) {
    assert.ok(thrown instanceof ConfigFileError)
    return thrown.message
  }
  return assert.fail('it was accepted')
}

test('a property keeps the line of its tag', () => {
  const text =
    '<?xml version="1.0"?>\n<configuration>\n\n  <property>\n<name>a</name>\n<value>1</value></property>\n</configuration>'
  assert.deepEqual(parseConfigurationXml(text, 'f'), [
    { kind: 'property', name: 'a', value: '1', isFinal: false, line: 4 },
  ])
})

test('an include keeps its line and its fallback', () => {
  const text = `<configuration xmlns:xi="http://www.w3.org/2001/XInclude">
    <xi:include href="a.xml"><xi:fallback><property name="f" value="1"/></xi:fallback></xi:include>
    <xi:include href="b.xml"/>
    <xi:include/>
  </configuration>`
  assert.deepEqual(parseConfigurationXml(text, 'f'), [
    {
      kind: 'include',
      href: 'a.xml',
      line: 2,
      fallback: [{ kind: 'property', name: 'f', value: '1', isFinal: false, line: 2 }],
    },
    { kind: 'include', href: 'b.xml', line: 3, fallback: undefined },
  ])
})

test('a DOCTYPE is refused with its place', () => {
  const message = refusal(
    '<?xml version="1.0"?>\n<!DOCTYPE configuration SYSTEM "file:///etc/passwd">\n<configuration/>',
  )
  assert.match(message, /^\/conf\/yarn-site\.xml:2:\d+: a DOCTYPE is not accepted/)
})

test('a DOCTYPE that defines entities in entities is refused before any grows', () => {
  const entities = Array.from({ length: 30 }, (_, i) => `<!ENTITY e${i + 1} "&e${i};&e${i};">`).join('')
  assert.match(refusal(`<!DOCTYPE c [<!ENTITY e0 "x">${entities}]><c>&e30;</c>`), /DOCTYPE/)
})

test('an end tag that is missing is told of with file, line and column', () => {
  assert.match(
    refusal('<configuration>\n<property>\n<name>a</name>\n</configuration>'),
    /^\/conf\/yarn-site\.xml:4:\d+: not well-formed XML: /,
  )
})

test('elements that nest without end are refused at once', () => {
  const nested = (depth: number) => '<a>'.repeat(depth) + '<property name="k" value="v"/>' + '</a>'.repeat(depth)
  assert.equal(parseConfigurationXml(nested(99), 'f').length, 1)
  assert.match(refusal(nested(100_000)), /elements are nested more than 100 deep/)
})

test('bytes that are not UTF-8 are refused with advice', () => {
  assert.throws(
    () => decodeXml(Buffer.from([0x3c, 0xe9, 0x3e]), 'f'),
    /f: holds bytes that are not utf-8; save the file/,
  )
})

test('the encoding of the prolog is used', () => {
  const text = '<?xml version="1.0" encoding="windows-1251"?><a>\xe0</a>'
  assert.match(decodeXml(Buffer.from(text, 'latin1'), 'f'), /<a>а<\/a>/)
})

test('an encoding that nobody knows is refused by name', () => {
  assert.throws(() => decodeXml(Buffer.from('<?xml version="1.0" encoding="klingon"?><a/>'), 'f'), /encoding 'klingon'/)
})
