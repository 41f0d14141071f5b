// Sets of code points as sorted ranges, and their compact text encoding in the generated coverage table.

export type Ranges = readonly (readonly [first: number, last: number])[];

export function includes(ranges: Ranges, codePoint: number): boolean {
  let low = 0;
  let high = ranges.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const range = ranges[middle];
    if (range === undefined) return false;
    if (codePoint < range[0]) high = middle - 1;
    else if (codePoint > range[1]) low = middle + 1;
    else return true;
  }
  return false;
}

export function toRanges(codePoints: Iterable<number>): Ranges {
  const ranges: [number, number][] = [];
  for (const codePoint of [...new Set(codePoints)].toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last && last[1] === codePoint - 1) last[1] = codePoint;
    else ranges.push([codePoint, codePoint]);
  }
  return ranges;
}

/** Encodes the gap and length of each range in base 36, in a tenth of the space of the plain numbers. */
export function encodeRanges(ranges: Ranges): string {
  let previous = 0;
  return ranges
    .map(([first, last]) => {
      const text = last === first ? gap(first, previous) : `${gap(first, previous)}.${(last - first).toString(36)}`;
      previous = last;
      return text;
    })
    .join(' ');
}

function gap(first: number, previous: number): string {
  return (first - previous).toString(36);
}

export function decodeRanges(encoded: string): Ranges {
  if (encoded === '') return [];
  let previous = 0;
  return encoded.split(' ').map((item) => {
    const [step = '0', length = '0'] = item.split('.');
    const first = previous + Number.parseInt(step, 36);
    previous = first + Number.parseInt(length, 36);
    return [first, previous] as const;
  });
}

/** Parses the notation of font packages, such as `U+0E01-0E5B,U+200C`. */
export function parseUnicodeRange(text: string): Ranges {
  return text
    .split(',')
    .map((item) => item.trim().replace(/^U\+/iu, ''))
    .map((item) => {
      const [first = '', last = first] = item.split('-');
      return [Number.parseInt(first, 16), Number.parseInt(last, 16)] as const;
    })
    .toSorted((a, b) => a[0] - b[0]);
}
