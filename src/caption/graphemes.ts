// User-perceived characters (UAX #29). The one place that splits text into them, so the length limit, the line breaker and
// the tests agree on what a character is.

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** In these, every character is one by itself; the segmenter would find that out a hundred times slower. */
const PLAIN = /^[ -~]*$/u;

export function graphemes(text: string): string[] {
  if (PLAIN.test(text)) return text.split('');
  return Array.from(segmenter.segment(text), (part) => part.segment);
}

export function countGraphemes(text: string): number {
  return graphemes(text).length;
}
