import assert from 'node:assert/strict'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ConfigFileError } from '../../../src/config/errors.ts'
import { readResources } from '../../../src/config/resources.ts'
import { readFolder, site, withFolder } from './support.ts'

const run = promisify(execFile)

function including(...hrefs: readonly string[]): string {
  const includes = hrefs.map((href) => `<xi:include href="${href}"/>`).join('\n')
  return `<configuration xmlns:xi="http://www.w3.org/2001/XInclude">\n${includes}\n</configuration>`
}

/** What reading a yarn-site.xml with these includes says. */
async function refusal(folder: string): Promise<string> {
  try {
    await readResources(folder, ['yarn-site.xml'])
  } catch (thrown) {
    assert.ok(thrown instanceof ConfigFileError, String(thrown))
    return thrown.message
  }
  return assert.fail('it was accepted')
}

test('a site file that is not there says nothing', async () => {
  await withFolder({ 'yarn-site.xml': site({ a: '1' }) }, async (folder) => {
    const configuration = await readFolder(folder)
    assert.deepEqual(configuration.setNames(), ['a'])
  })
})

test('a value knows the file and line that it came from, also through an include', async () => {
  const files = { 'yarn-site.xml': including('more.xml'), 'more.xml': site({ a: '1', b: '2' }) }
  await withFolder(files, async (folder) => {
    const configuration = await readFolder(folder)
    assert.deepEqual(configuration.sourceOf('b'), { file: join(folder, 'more.xml'), line: 3 })
    assert.equal(configuration.resourceOf('b'), 'yarn-site.xml')
  })
})

test('yarn-site.xml overrides core-site.xml, and the files to read are a choice', async () => {
  const files = {
    'core-site.xml': site({ a: 'core' }),
    'yarn-site.xml': site({ a: 'yarn' }),
    'mapred-site.xml': site({ a: 'mapred' }),
  }
  await withFolder(files, async (folder) => {
    assert.equal((await readFolder(folder)).get('a'), 'yarn')
    const properties = await readResources(folder, ['core-site.xml', 'yarn-site.xml', 'mapred-site.xml'])
    assert.deepEqual(
      properties.map(({ value }) => value),
      ['core', 'yarn', 'mapred'],
    )
  })
})

test('an include of a sub-folder and of a file: URI inside the folder work', async () => {
  await withFolder(
    { 'sub/a.xml': including('b.xml'), 'sub/b.xml': site({ b: '1' }), 'c.xml': site({ c: '1' }) },
    async (folder) => {
      await writeFile(join(folder, 'yarn-site.xml'), including('sub/a.xml', `file://${folder}/c.xml`))
      assert.deepEqual((await readFolder(folder)).setNames(), ['b', 'c'])
    },
  )
})

test('a folder of links, as Kubernetes mounts one, works with includes', async () => {
  await withFolder(
    { 'data/yarn-site.xml': including('more.xml'), 'data/more.xml': site({ a: '1' }) },
    async (folder) => {
      for (const name of ['yarn-site.xml', 'more.xml']) await symlink(`data/${name}`, join(folder, name))
      assert.equal((await readFolder(folder)).get('a'), '1')
    },
  )
})

test('an include outside the folder is refused, whichever way it is written', async () => {
  await withFolder({ 'secret.xml': site({ s: '1' }) }, async (outside) => {
    const conf = join(outside, 'conf')
    await mkdir(join(conf, 'sub'), { recursive: true })
    await symlink(join(outside, 'secret.xml'), join(conf, 'link.xml'))
    await symlink(outside, join(conf, 'folder'))
    const hrefs = [
      '../secret.xml',
      'sub/../../secret.xml',
      join(outside, 'secret.xml'),
      `file://${outside}/secret.xml`,
      'link.xml',
      'folder/secret.xml',
    ]
    for (const href of hrefs) {
      await writeFile(join(conf, 'yarn-site.xml'), including(href))
      assert.match(
        await refusal(conf),
        /yarn-site\.xml:2:0: xi:include of '.*': .* is outside the configuration folder/,
        href,
      )
    }
  })
})

test('a neighbour folder whose name begins like the configuration folder is outside it', async () => {
  await withFolder(
    { 'conf/yarn-site.xml': including('../conf2/a.xml'), 'conf2/a.xml': site({ a: '1' }) },
    async (folder) => {
      assert.match(await refusal(join(folder, 'conf')), /outside the configuration folder/)
    },
  )
})

test('an include from the network is refused', async () => {
  for (const href of ['http://127.0.0.1:1/a.xml', 'jar:file:/a.jar!/a.xml', 'ftp://host/a']) {
    await withFolder({ 'yarn-site.xml': including(href) }, async (folder) => {
      assert.match(await refusal(folder), /only files of the configuration folder can be included/)
    })
  }
})

test('a file that includes itself, directly or through another, is refused', async () => {
  await withFolder({ 'yarn-site.xml': including('yarn-site.xml') }, async (folder) => {
    assert.match(await refusal(folder), /the file includes itself/)
  })
  await withFolder(
    { 'yarn-site.xml': including('a.xml'), 'a.xml': including('b.xml'), 'b.xml': including('a.xml') },
    async (folder) => {
      assert.match(await refusal(folder), /b\.xml:2:0: xi:include of 'a\.xml': the file includes itself/)
    },
  )
})

test('the same file may be included twice', async () => {
  await withFolder({ 'yarn-site.xml': including('a.xml', 'a.xml'), 'a.xml': site({ a: '1' }) }, async (folder) => {
    assert.equal((await readFolder(folder)).get('a'), '1')
  })
})

test('includes that double at each step are stopped', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [`f${i}.xml`, including(`f${i + 1}.xml`, `f${i + 1}.xml`)]),
  )
  await withFolder({ ...files, 'yarn-site.xml': including('f0.xml'), 'f20.xml': site({}) }, async (folder) => {
    assert.match(await refusal(folder), /more than 1000 includes/)
  })
})

test('a missing include is told of in the words of Hadoop', async () => {
  await withFolder({ 'yarn-site.xml': including('none.xml') }, async (folder) => {
    const file = join(folder, 'yarn-site.xml')
    assert.equal(
      await refusal(folder),
      `${file}:2:0: Fetch fail on include for 'none.xml' with no fallback while loading '${file}'`,
    )
  })
})

test('a folder or a named pipe in place of a file is refused and not waited for', async () => {
  await withFolder({ 'yarn-site.xml/x': '' }, async (folder) => {
    assert.match(await refusal(folder), /yarn-site\.xml: not a regular file/)
  })
  await withFolder({ 'yarn-site.xml': including('pipe') }, async (folder) => {
    await run('mkfifo', [join(folder, 'pipe')])
    assert.match(await refusal(folder), /pipe: not a regular file/)
  })
})
