// Segments of a text: characters, words or sentences (UAX #29). V8 takes time in proportion to the whole text for each segment, so a
// long text is segmented in windows.

interface Segment {
  readonly segment: string;
  readonly index: number;
}

interface Window {
  /** In UTF-16 units. */
  readonly size: number;
  /** Nothing after the window can move a boundary before this place in it. */
  readonly settledBefore: (part: string) => number;
}

/** A character that starts at a boundary doesn't depend on what is before it. */
export const CHARACTERS: Window = { size: 256, settledBefore: (part) => part.length };
/** A dictionary decides about words. No caption that is one page reaches this length. */
export const WORDS: Window = { size: 2_048, settledBefore: (part) => part.length - 32 };
/** Whether a period ends a sentence depends on the next letter. */
export const SENTENCES: Window = { size: 1_024, settledBefore: (part) => /^.*\p{L}/su.exec(part)?.[0].length ?? 0 };

export function* segmentsIn(text: string, segmenter: Intl.Segmenter, window: Window): Generator<Segment> {
  let start = 0;
  let from = 0;
  while (from < text.length) {
    const part = text.slice(from, atCharacter(text, from + window.size));
    const isLast = from + part.length === text.length;
    const found = Array.from(segmenter.segment(part), ({ index }) => index).slice(1);
    const limit = isLast ? part.length : window.settledBefore(part);
    const settled = found.filter((boundary) => boundary < limit);
    // Where none is settled, the text isn't in a language, and any of them will do.
    const boundaries = settled.length > 0 ? settled : found;
    for (const boundary of boundaries) {
      yield { segment: text.slice(start, from + boundary), index: start };
      start = from + boundary;
    }
    // A segment that is longer than a window continues in the next one, which has the end of this one before it.
    const next = boundaries.length > 0 ? start : atCharacter(text, from + window.size * 0.75);
    from = isLast ? text.length : next;
  }
  if (start < text.length) yield { segment: text.slice(start), index: start };
}

/** Never between the halves of a character. */
function atCharacter(text: string, place: number): number {
  return /[\ud800-\udbff]/.test(text.charAt(place - 1)) ? place + 1 : place;
}
