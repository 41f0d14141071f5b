// User-perceived characters (UAX #29). The one place that splits text into them, so the length limit, the line breaker and
// the tests agree on what a character is.

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });

export function graphemes(text: string): string[] {
  return Array.from(segmenter.segment(text), (part) => part.segment);
}

/** Counts up to `stopAfter`: a hostile megabyte costs no more than a long caption. */
export function countGraphemes(text: string, stopAfter = Number.POSITIVE_INFINITY): number {
  let count = 0;
  for (const _ of segmenter.segment(text)) {
    count += 1;
    if (count > stopAfter) break;
  }
  return count;
}
