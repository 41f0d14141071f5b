// Which word of a page stands out in a frame.

import { isShownAt } from '../caption/timing-field.ts';
import { litTimes } from '../caption/words/phrases.ts';
import type { Bar } from '../layout/layout.ts';

/** The bar as the frame at this time shows it. */
export function litAt(bar: Bar, milliseconds: number): Bar {
  const { look, page } = bar;
  if (look.highlight === undefined || page.words === undefined) return bar;
  const { words } = page;
  if (look.highlight.mode === 'reveal') {
    const appeared = words.filter(({ start }) => isShownAt({ start }, milliseconds)).length;
    return appeared === words.length ? bar : { ...bar, lit: appeared };
  }
  const lit = litTimes(words, page.end ?? Number.POSITIVE_INFINITY).findIndex((times) =>
    isShownAt(times, milliseconds),
  );
  return lit < 0 ? bar : { ...bar, lit };
}
