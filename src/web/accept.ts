/** Types that are answered with JSON. A browser, which asks for HTML, is shown the JSON too. */
const SERVED = ['application/json', 'text/html']

/** @returns false when an Accept header leaves JSON out. Source: RFC 9110 §12.5.1; no header accepts everything. */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === '') return true
  const ranges = accept.split(',').map(parseRange)
  return SERVED.some((type) => quality(ranges, type) > 0)
}

interface Range {
  readonly type: string
  readonly quality: number
}

function parseRange(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  const quality = weight === undefined ? 1 : Number(weight)
  return { type, quality: Number.isNaN(quality) ? 1 : quality }
}

/** The most specific range that fits decides. */
function quality(ranges: readonly Range[], type: string): number {
  const candidates = [type, `${type.slice(0, type.indexOf('/'))}/*`, '*/*']
  for (const candidate of candidates) {
    const range = ranges.find((other) => other.type === candidate)
    if (range !== undefined) return range.quality
  }
  return 0
}
