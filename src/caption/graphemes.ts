// Grapheme clusters (UAX #29). The length limit, the line breaker and the tests all split text here, so they agree on what
// a character is.

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });

/**
 * Printable ASCII, where every character is its own grapheme, so we can skip the segmenter, which is 100 times slower.
 */
const PRINTABLE_ASCII = /^[ -~]*$/u;

export function graphemes(text: string): string[] {
  if (PRINTABLE_ASCII.test(text)) return text.split('');
  return Array.from(segmenter.segment(text), (part) => part.segment);
}

export function countGraphemes(text: string): number {
  return graphemes(text).length;
}
