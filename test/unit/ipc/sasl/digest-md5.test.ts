import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DigestClient } from '../../../../src/ipc/sasl/digest-client.ts'
import { DigestServer } from '../../../../src/ipc/sasl/digest-server.ts'
import { digests, md5, newNonce, type Qop } from '../../../../src/ipc/sasl/digest.ts'
import { parseDirectives } from '../../../../src/ipc/sasl/directives.ts'
import type { CipherName } from '../../../../src/ipc/sasl/ciphers.ts'
import { securityLayer, type SecurityLayer } from '../../../../src/ipc/sasl/layers.ts'
import { SaslError } from '../../../../src/ipc/sasl/sasl-error.ts'
import { fixture } from '../../../helpers/fixtures.ts'

interface Wrapped {
  readonly direction: 'client' | 'server'
  readonly plain: string
  readonly wrappedHex: string
}
interface Case {
  readonly challenge: string
  readonly challengeAsSentByJdk?: string
  readonly username: string
  readonly password: string
  readonly response: string
  readonly rspauth: string
  readonly negotiatedQop: Qop
  readonly rawSendSizeClient: string
  readonly wrapped?: readonly Wrapped[]
}
interface Capture {
  readonly digestMd5: {
    readonly [name: string]: string
  }
}

const { cases } = fixture<{ cases: readonly Case[] }>('vectors/digest-md5-jdk.json')

function directive(text: string, key: string): string {
  return parseDirectives(Buffer.from(text)).get(key)?.[0] ?? ''
}

function factsOf({ username, password, response, negotiatedQop }: Case) {
  return {
    username,
    password,
    realm: 'default',
    nonce: directive(response, 'nonce'),
    cnonce: directive(response, 'cnonce'),
    nonceCount: '00000001',
    qop: negotiatedQop,
    digestUri: '/default',
  }
}

function layerOf(exchange: Case, side: 'client' | 'server'): SecurityLayer | undefined {
  const cipher = directive(exchange.response, 'cipher')
  const { sessionKey } = digests(factsOf(exchange))
  return securityLayer(exchange.negotiatedQop, cipher === '' ? undefined : (cipher as CipherName), {
    side,
    sessionKey,
    maxBuffer: 65_536,
  })
}

function nameOf(exchange: Case): string {
  return [exchange.negotiatedQop, directive(exchange.response, 'cipher')].join(' ').trim()
}

test('the digests are those of the JDK', () => {
  assert.equal(cases.length, 8)
  for (const exchange of cases) {
    const computed = digests(factsOf(exchange))
    assert.equal(computed.response, directive(exchange.response, 'response'), nameOf(exchange))
    assert.equal(`rspauth=${computed.rspauth}`, exchange.rspauth, nameOf(exchange))
  }
})

test('every step of a captured login is recomputed', () => {
  const captured = fixture<Capture>('vectors/capture-startcontainers-am.json').digestMd5
  const fact = (name: string) => captured[name] ?? ''
  const computed = digests({
    username: fact('username'),
    password: fact('password'),
    realm: fact('realm'),
    nonce: fact('nonce'),
    cnonce: fact('cnonce'),
    nonceCount: fact('nc'),
    qop: 'auth',
    digestUri: fact('digestUri'),
  })
  assert.equal(computed.sessionKey.toString('hex'), fact('hexA1'))
  assert.equal(md5(`AUTHENTICATE:${fact('digestUri')}`).toString('hex'), fact('hexA2client'))
  assert.equal(computed.response, fact('response'))
  assert.equal(computed.rspauth, fact('rspauth'))
  assert.equal(Buffer.from(fact('nmTokenIdentifierHex'), 'hex').toString('base64'), fact('username'))
})

for (const exchange of cases.filter(({ wrapped }) => wrapped !== undefined)) {
  test(`messages are wrapped and unwrapped as by the JDK with ${nameOf(exchange)}`, () => {
    for (const side of ['client', 'server'] as const) {
      const sender = layerOf(exchange, side)
      const receiver = layerOf(exchange, side === 'client' ? 'server' : 'client')
      assert.ok(sender !== undefined && receiver !== undefined)
      assert.equal(String(sender.maxPlainBytes), exchange.rawSendSizeClient)
      for (const { plain, wrappedHex } of exchange.wrapped?.filter(({ direction }) => direction === side) ?? []) {
        assert.equal(sender.wrap(Buffer.from(plain)).toString('hex'), wrappedHex)
        assert.equal(receiver.unwrap(Buffer.from(wrappedHex, 'hex')).toString(), plain)
      }
    }
  })

  test(`a changed, repeated, missing or cut message is refused with ${nameOf(exchange)}`, () => {
    const [first, second] = [Buffer.from('first message'), Buffer.from('second')]
    const fresh = () => {
      const sender = layerOf(exchange, 'client')
      const receiver = layerOf(exchange, 'server')
      assert.ok(sender !== undefined && receiver !== undefined)
      return { sender, receiver }
    }
    const length = fresh().sender.wrap(first).length
    for (let at = 0; at < length; at++) {
      const { sender, receiver } = fresh()
      const token = sender.wrap(first)
      token.writeUInt8(token.readUInt8(at) ^ 0x10, at)
      assert.throws(() => receiver.unwrap(token), SaslError, `byte ${at}`)
    }
    for (let cut = 0; cut < length; cut++) {
      const { sender, receiver } = fresh()
      assert.throws(() => receiver.unwrap(sender.wrap(first).subarray(0, cut)), SaslError, `cut to ${cut}`)
    }
    const repeated = fresh()
    const token = repeated.sender.wrap(first)
    repeated.receiver.unwrap(token)
    assert.throws(() => repeated.receiver.unwrap(token), SaslError)
    const missing = fresh()
    missing.sender.wrap(first)
    assert.throws(() => missing.receiver.unwrap(missing.sender.wrap(second)), SaslError)
    assert.throws(() => fresh().receiver.unwrap(fresh().receiver.wrap(first)), SaslError, 'own message sent back')
  })
}

test('a layer carries messages of any size', () => {
  for (const exchange of cases.filter(({ negotiatedQop }) => negotiatedQop !== 'auth')) {
    const sender = layerOf(exchange, 'server')
    const receiver = layerOf(exchange, 'client')
    for (const size of [0, 1, 5, 6, 7, 8, 9, 65_510, 200_000]) {
      const plain = Buffer.alloc(size, 'x')
      assert.deepEqual(receiver?.unwrap(sender?.wrap(plain) ?? plain), plain, `${nameOf(exchange)}, ${size} bytes`)
    }
  }
})

test('our server accepts the response of the JDK and proves itself as the JDK does', () => {
  for (const exchange of cases.filter(({ response }) => !/cipher="(?!3des)/.test(response))) {
    const offered = directive(exchange.challenge, 'qop').split(',') as Qop[]
    const server = new DigestServer(directive(exchange.challenge, 'nonce'), offered)
    const asked: string[] = []
    const { proof, layer } = server.accept(Buffer.from(exchange.response), (username) => {
      asked.push(username)
      return exchange.password
    })
    assert.deepEqual(asked, [exchange.username])
    assert.equal(proof.toString(), exchange.rspauth)
    assert.equal(layer === undefined, exchange.negotiatedQop === 'auth')
    // Our own offer names only the cipher that we have.
    assert.equal(server.challenge.toString(), exchange.challenge.replace(/3des,[^"]*/, '3des'))
  }
})

test('our client answers the challenge of the JDK as the JDK does, and accepts its proof', () => {
  for (const exchange of cases.filter(({ challenge }) => !/cipher="(?!3des)/.test(challenge))) {
    const options = {
      username: exchange.username,
      password: exchange.password,
      digestUri: '/default',
      cnonce: directive(exchange.response, 'cnonce'),
    }
    const client = new DigestClient(options)
    assert.equal(
      client.respond(Buffer.from(exchange.challengeAsSentByJdk ?? exchange.challenge)).toString(),
      exchange.response,
    )
    const layer = client.verify(Buffer.from(exchange.rspauth))
    assert.equal(layer === undefined, exchange.negotiatedQop === 'auth')
    assert.throws(() => client.verify(Buffer.from(exchange.rspauth.replace(/.$/, 'x'))), SaslError)
    assert.throws(() => client.verify(Buffer.from('')), SaslError)
  }
})

test('the client takes the first protection of the server that it can', () => {
  const answer = (qop: string, cipher: string) => {
    const client = new DigestClient({ username: 'u', password: 'p', digestUri: '/default', cnonce: 'c' })
    const challenge = `realm="default",nonce="n",qop="${qop}",cipher="${cipher}",charset=utf-8,algorithm=md5-sess`
    return directive(client.respond(Buffer.from(challenge)).toString(), 'qop')
  }
  assert.equal(answer('auth-conf,auth-int,auth', 'rc4,3des'), 'auth-conf')
  assert.equal(answer('auth-conf,auth-int,auth', 'rc4,des'), 'auth-int')
  assert.equal(answer('auth', ''), 'auth')
  assert.throws(() => answer('auth-conf', 'rc4-40'), /nothing in common.*auth-conf.*rc4-40/)
})

test('a response that breaks a rule is refused with the words of the JDK', () => {
  const [exchange] = cases
  assert.ok(exchange !== undefined)
  const nonce = directive(exchange.challenge, 'nonce')
  const accept = (response: string) =>
    new DigestServer(nonce, ['auth']).accept(Buffer.from(response), () => exchange.password)
  accept(exchange.response)
  const begin = 'DIGEST-MD5: digest response format violation. '
  const broken: readonly (readonly [string, string | RegExp, string])[] = [
    ['Missing username.', /username="[^"]*",/, ''],
    ['Nonexistent realm: other', 'realm="default"', 'realm="other"'],
    ['Mismatched nonce.', `nonce="${nonce}"`, 'nonce="other"'],
    ['Nonce count does not match: 00000002', 'nc=00000001', 'nc=00000002'],
    ['Missing cnonce.', /cnonce="[^"]*",/, ''],
    ['Mismatched URI: /other', '"/default"', '"/other"'],
    ['Quality of protection auth-int is not offered.', 'qop=auth', 'qop=auth-int'],
    ['Incompatible charset value.', 'utf-8', 'latin-1'],
    ['Mismatched response.', /response=./, 'response=!'],
    ['Missing response.', /response=[^,]*,/, ''],
  ]
  for (const [message, from, to] of broken) {
    assert.throws(() => accept(exchange.response.replace(from, to)), { name: 'SaslError', message: begin + message })
  }
})

test('a nonce has thirty random bytes', () => {
  assert.equal(Buffer.from(newNonce(), 'base64').length, 30)
  assert.notEqual(newNonce(), newNonce())
})
