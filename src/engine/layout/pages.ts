// Splits a phrase of timed words into pages. As few pages as possible, and among those ways the one whose pages end with
// clauses and have similar lengths. Widths of words tell what fits; the layout of each page then has the last word.

import type { Overlay, Paging } from '../caption/overlay.ts';
import { endsClause } from '../caption/words/phrases.ts';
import { sliceWords, type TimedWord, type WordedText } from '../caption/words/timed-words.ts';
import { must } from '../../shared/must.ts';

/** A page as an overlay of its own, and which words of the phrase it has. */
export interface PhrasePage {
  readonly overlay: Overlay;
  readonly firstWord: number;
}

/** What the fonts know about a phrase. */
export interface PageMeasurer {
  /** The width of a line. */
  readonly wrapWidth: number;
  widthOf(text: string): number;
  /** Returns true if a page has no more lines than that at the size of its style. */
  fits(page: Overlay, maxLines: number): boolean;
}

/** What is worse by how much: another page, a page that ends inside a clause, and one of another length. */
const PAGE_COST = 1;
const CLAUSE_COST = 0.3;
const LENGTH_COST = 0.8;

export function pagesOf(overlay: Overlay, measurerFor: () => PageMeasurer): PhrasePage[] {
  const { words, paging } = overlay;
  if (words === undefined || paging === undefined) return [{ overlay, firstWord: 0 }];
  const measurer = measurerFor();
  const phrase = new PhrasePages({ text: overlay.text, words }, paging, measurer);
  const starts = phrase.starts();
  const split = starts.flatMap((first, index) => {
    const end = starts[index + 1] ?? words.length;
    return phrase.fitting(first, end, (from, to) => pageOf(overlay, words, from, to));
  });
  return split.map(({ first, end }) => ({ overlay: pageOf(overlay, words, first, end), firstWord: first }));
}

function pageOf(overlay: Overlay, words: readonly TimedWord[], first: number, end: number): Overlay {
  const { paging: _paging, ...rest } = overlay;
  const start = first === 0 ? overlay.start : must(words[first], 'the first word').start;
  const pageEnd = words[end]?.start ?? overlay.end;
  return {
    ...rest,
    ...sliceWords({ text: overlay.text, words }, first, end),
    ...(start !== undefined && { start }),
    ...(pageEnd !== undefined && { end: pageEnd }),
  };
}

class PhrasePages {
  readonly #phrase: WordedText;
  readonly #paging: Paging;
  readonly #measurer: PageMeasurer;
  readonly #widths: readonly number[];
  /** What is between a word and the one before it: its width, or undefined for a line break. */
  readonly #gaps: readonly (number | undefined)[];

  constructor(phrase: WordedText, paging: Paging, measurer: PageMeasurer) {
    const { text, words } = phrase;
    this.#phrase = phrase;
    this.#paging = paging;
    this.#measurer = measurer;
    const space = measurer.widthOf(' ');
    this.#widths = words.map(({ from, to }) => measurer.widthOf(text.slice(from, to)));
    this.#gaps = words.map(({ from }, index) => {
      const gap = text.slice(words[index - 1]?.to ?? from, from);
      return gap.includes('\n') ? undefined : gap.length * space;
    });
  }

  /** The first word of each page. From the end to the start, determines what the rest costs if a page starts at a word. */
  starts(): number[] {
    const count = this.#widths.length;
    const costs = Array.from<number>({ length: count + 1 }).fill(0);
    const ends = Array.from<number>({ length: count }).fill(count);
    const usual = this.#usualLength();
    for (let first = count - 1; first >= 0; first -= 1) {
      let best = Number.POSITIVE_INFINITY;
      for (const { end, length } of this.#candidates(first)) {
        const isInsideClause = end < count && !endsClause(this.#phrase, end - 1);
        const difference = (length - usual) / usual;
        const cost = PAGE_COST + (isInsideClause ? CLAUSE_COST : 0) + LENGTH_COST * difference * difference;
        const total = cost + must(costs[end], 'the cost of the rest');
        if (total > best) continue;
        best = total;
        ends[first] = end;
      }
      costs[first] = best;
    }
    const starts: number[] = [];
    for (let first = 0; first < count; first = must(ends[first], 'the end of the page')) starts.push(first);
    return starts;
  }

  /** The mean length of as few pages as possible. */
  #usualLength(): number {
    let pages = 0;
    let total = 0;
    for (let first = 0; first < this.#widths.length; pages += 1) {
      const last = must(this.#candidates(first).at(-1), 'the longest page');
      first = last.end;
      total += last.length;
    }
    return Math.max(1, total / Math.max(1, pages));
  }

  /** The pages that can start at a word, by their words and the width of all. One word always fits. */
  #candidates(first: number): { readonly end: number; readonly length: number }[] {
    const { maxWords = Number.POSITIVE_INFINITY, maxLines } = this.#paging;
    const found: { end: number; length: number }[] = [];
    let [lines, line, length] = [1, 0, 0];
    for (let index = first; index < this.#widths.length && index - first < maxWords; index += 1) {
      const width = must(this.#widths[index], 'the width of the word');
      const gap = index === first ? 0 : this.#gaps[index];
      if (gap === undefined || (index > first && line + gap + width > this.#measurer.wrapWidth)) {
        lines += 1;
        line = width;
      } else line += gap + width;
      length += (gap ?? 0) + width;
      if (lines > maxLines && index > first) break;
      found.push({ end: index + 1, length });
    }
    return found;
  }

  /** Halves a page that has too many lines after all, because lines can't break at every word. */
  fitting(
    first: number,
    end: number,
    pageAt: (first: number, end: number) => Overlay,
  ): { readonly first: number; readonly end: number }[] {
    if (end - first === 1 || this.#measurer.fits(pageAt(first, end), this.#paging.maxLines)) return [{ first, end }];
    const middle = (first + end) >> 1;
    return [...this.fitting(first, middle, pageAt), ...this.fitting(middle, end, pageAt)];
  }
}
