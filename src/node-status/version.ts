/** The order of Hadoop's versions. Source: org.apache.hadoop.util.VersionUtil, which follows Maven's ComparableVersion. */

/** Qualifiers before the release, lowest first; any other one comes after the release. */
const BEFORE_RELEASE = ['alpha', 'beta', 'milestone', 'rc', 'snapshot']
const SHORT: Readonly<Record<string, string>> = { a: 'alpha', b: 'beta', m: 'milestone' }
const RELEASE = ['', 'ga', 'final']

/** @returns negative, 0 or positive, as `a` is older than, equal to or newer than `b`. */
export function compareVersions(a: string, b: string): number {
  const left = partsOf(a)
  const right = partsOf(b)
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = compareParts(left[i] ?? '', right[i] ?? '')
    if (difference !== 0) return difference
  }
  return 0
}

/** `3.4.0-SNAPSHOT` → 3, 4, 0, `snapshot`. Directly before a number, one letter is short for a qualifier. */
function partsOf(version: string): string[] {
  const full = version.toLowerCase().replace(/(?<![a-z])[abm](?=\d)/g, (letter) => SHORT[letter] ?? letter)
  return full.match(/\d+|[a-z]+/g) ?? []
}

function compareParts(a: string, b: string): number {
  const difference = rank(a) - rank(b)
  return difference === 0 && rank(a) === AFTER_RELEASE ? a.localeCompare(b, 'en') : difference
}

/** Of a word that is no known qualifier; numbers above zero come after it, an absent part is the release. */
const AFTER_RELEASE = 1

function rank(part: string): number {
  if (/^\d+$/.test(part)) return Number(part) === 0 ? 0 : Number(part) + AFTER_RELEASE
  if (RELEASE.includes(part)) return 0
  const index = BEFORE_RELEASE.indexOf(part)
  return index === -1 ? AFTER_RELEASE : index - BEFORE_RELEASE.length
}
