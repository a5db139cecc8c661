import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { CacheDirectories, relativePathOf } from '../../../src/localization/cache-directories.ts'

test('the numbers of directories become paths as Hadoop makes them', () => {
  for (const [number, path] of [
    [0, ''],
    [1, '0'],
    [10, '9'],
    [11, 'a'],
    [36, 'z'],
    [37, '0/0'],
    [38, '0/1'],
    [72, '0/z'],
    [73, '1/0'],
    [36 * 36, 'y/z'],
    [36 * 36 + 1, '0/0/0'],
    [36 * 36 * 36 + 1, '0/0/0/0'],
  ] as const)
    assert.equal(relativePathOf(number), path, String(number))
})

test('with a limit of 37 each directory takes one file and the next follows', () => {
  const directories = new CacheDirectories(37)
  assert.deepEqual(
    Array.from({ length: 39 }, () => directories.take()).filter((_path, index) => index < 3 || index > 35),
    ['', '0', '1', 'z', '0/0', '0/1'],
  )
})

test('a full directory that gets room is filled again after the one that is being filled', () => {
  const directories = new CacheDirectories(38)
  assert.deepEqual(
    Array.from({ length: 3 }, () => directories.take()),
    ['', '', '0'],
  )
  directories.giveBack('')
  directories.giveBack('never seen')
  assert.deepEqual(
    Array.from({ length: 4 }, () => directories.take()),
    ['0', '', '1', '1'],
  )
})

/** The rule word by word: a queue of directories with room, and a count in each. */
class Model {
  readonly #limit: number
  readonly #counts = new Map<string, number>([['', 0]])
  readonly #queue = ['']
  #made = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  take(): string {
    if (this.#queue.length === 0) {
      const text = this.#made.toString(36)
      const first = text.length === 1 ? text : (Number.parseInt(text[0]!, 36) - 1).toString(36)
      const path = [first, ...text.slice(1).split('')].join('/')
      this.#made++
      this.#counts.set(path, 0)
      this.#queue.push(path)
    }
    const path = this.#queue[0]!
    const count = this.#counts.get(path)! + 1
    this.#counts.set(path, count)
    if (count >= this.#limit) this.#queue.shift()
    return path
  }

  giveBack(path: string): void {
    const count = this.#counts.get(path)!
    this.#counts.set(path, count - 1)
    if (count >= this.#limit && count - 1 < this.#limit) this.#queue.push(path)
  }
}

test('any sequence of taking and giving back follows the rule', () => {
  fc.assert(
    fc.property(fc.integer({ min: 37, max: 41 }), fc.array(fc.nat(), { maxLength: 300 }), (limit, steps) => {
      const directories = new CacheDirectories(limit)
      const model = new Model(limit - 36)
      const taken: string[] = []
      for (const step of steps) {
        if (step % 3 === 0 && taken.length > 0) {
          const [path = ''] = taken.splice(step % taken.length, 1)
          directories.giveBack(path)
          model.giveBack(path)
        } else {
          const path = directories.take()
          assert.equal(path, model.take())
          taken.push(path)
        }
      }
    }),
  )
})
