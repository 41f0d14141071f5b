// Line breaks in real sentences of languages that use Han characters, or no spaces between words.

import { describe, expect, it } from 'vitest';
import { analyzeParagraph, layoutParagraph, type Paragraph } from '../src/engine/layout/paragraph.ts';
import { fakeMeasurer } from './fake-measurer.ts';
import { sentencesIn } from './han-sentences.ts';

const EM = 10;
const COLUMNS = [8, 12, 16, 20, 26, 34];

/** Returns the lines in a column of this many characters, half an em each. */
function linesOf(paragraph: Paragraph, columns: number): string[] {
  const lines = layoutParagraph(paragraph, (columns * EM) / 2, EM, fakeMeasurer);
  return lines.map((line) => line.runs.map((run) => run.text).join(''));
}

function withoutPenalties(paragraph: Paragraph): Paragraph {
  return { ...paragraph, breaks: paragraph.breaks.map((found) => ({ ...found, penalty: 0 })) };
}

describe('line breaks in Korean', () => {
  it('split no word of 100 real sentences that fits on a line', () => {
    const split: string[] = [];
    for (const sentence of sentencesIn('ko')) {
      const paragraph = analyzeParagraph(sentence);
      for (const columns of COLUMNS) {
        const long = new Set(sentence.split(' ').filter((word) => word.length > columns));
        let rest = sentence;
        for (const line of linesOf(paragraph, columns)) {
          // Latin words that are too long have a hyphen.
          rest = rest.slice(rest.startsWith(line) ? line.length : line.length - 1);
          const before = /\S*$/u.exec(sentence.slice(0, sentence.length - rest.length))?.[0] ?? '';
          const word = before + (/^\S*/u.exec(rest)?.[0] ?? '');
          if (/\p{Script=Hangul}$/u.test(line) && /^[\p{L}\p{N}]/u.test(rest) && !long.has(word)) split.push(word);
          rest = rest.trimStart();
        }
      }
    }
    expect(split).toEqual([]);
  });
});

describe('line breaks in Chinese and Japanese', () => {
  const words = new Intl.Segmenter('ja', { granularity: 'word' });

  function endsOfWords(text: string): Set<number> {
    return new Set(Array.from(words.segment(text), ({ index, segment }) => index + segment.length));
  }

  /** Counts the lines that end inside a dictionary word. */
  function brokenWords(text: string, ends: ReadonlySet<number>, lines: readonly string[]): number {
    let at = 0;
    return lines.filter((line) => {
      at = text.indexOf(line, at) + line.length;
      return !ends.has(at);
    }).length;
  }

  it.each(['ja', 'zh-CN', 'zh-TW'] as const)(
    'split few words of 100 real sentences in %s and never add a line',
    (language) => {
      let broken = 0;
      let brokenWithoutPenalties = 0;
      for (const text of sentencesIn(language)) {
        const paragraph = analyzeParagraph(text);
        const equal = withoutPenalties(paragraph);
        const ends = endsOfWords(text);
        for (const columns of COLUMNS.map((count) => count - 2)) {
          const lines = linesOf(paragraph, columns);
          const unweighted = linesOf(equal, columns);
          expect(lines).toHaveLength(unweighted.length);
          broken += brokenWords(text, ends, lines);
          brokenWithoutPenalties += brokenWords(text, ends, unweighted);
        }
      }
      expect(brokenWithoutPenalties).toBeGreaterThan(200);
      expect(broken).toBeLessThan(brokenWithoutPenalties / 2);
    },
  );
});
