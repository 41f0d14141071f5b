import { describe, expect, it } from 'vitest';
import { fakeMeasurer } from '../../../test/fake-measurer.ts';
import { analyzeParagraph, layoutParagraph, type TextLine } from './paragraph.ts';

const EM = 10;

/** Lays out a paragraph in a column of this many characters (half an em each). */
function layout(text: string, columns: number): TextLine[] {
  return layoutParagraph(analyzeParagraph(text), (columns * EM) / 2, EM, fakeMeasurer);
}

function breakPositionsOf(text: string): number[] {
  return analyzeParagraph(text).breaks.map(({ position }) => position);
}

/** Returns the text of each line: its runs from left to right, each in reading order. */
function shown(text: string, columns: number): string[] {
  return layout(text, columns).map((line) => line.runs.map((run) => run.text).join(''));
}

/** Returns the runs of a one-line paragraph from left to right. `<` marks right-to-left runs. */
function runsOf(text: string): string[] {
  const [line, ...others] = layout(text, 1_000);
  expect(others).toEqual([]);
  return (line?.runs ?? []).map((run) => (run.rtl ? `<${run.text}` : run.text));
}

describe('layoutParagraph: lines', () => {
  it('lays out a short paragraph as one line of its measured size', () => {
    expect(layout('hello', 5)).toEqual([
      {
        width: 25,
        ascent: 7.5,
        descent: 2,
        runs: [{ text: 'hello', kind: 'text', rtl: false, x: 0, source: { start: 0, lead: 0 } }],
      },
    ]);
  });

  it('lays out an empty paragraph as one empty line', () => {
    expect(layout('', 5)).toEqual([{ width: 0, ascent: 0, descent: 0, runs: [] }]);
  });

  it('breaks at spaces and drops the space at the end of a line', () => {
    expect(shown('hello world', 5)).toEqual(['hello', 'world']);
    expect(layout('hello    world', 5).map(({ width }) => width)).toEqual([25, 25]);
  });

  it('balances lines and avoids a single word on the last one', () => {
    expect(shown('one two three four', 14)).toEqual(['one two', 'three four']);
    expect(shown('aaa bbb ccc ddd eee fff ggg', 23)).toEqual(['aaa bbb ccc ddd', 'eee fff ggg']);
  });

  it('breaks at a zero-width space but not at a no-break space', () => {
    expect(shown('100\u00a0km a', 6)).toEqual(['100\u00a0km', 'a']);
    expect(shown('aaaa\u200bbbbb', 5)).toEqual(['aaaa', 'bbbb']);
  });

  it('keeps numbers, prices and times together', () => {
    expect(shown('at $1,234.50 (18:45)', 9)).toEqual(['at', '$1,234.50', '(18:45)']);
  });
});

describe('layoutParagraph: a word longer than the line', () => {
  it('a word longer than the line is broken between characters', () => {
    expect(shown('12345678', 4)).toEqual(['1234', '5678']);
    expect(shown('1234567890', 4)).toEqual(['1234', '5678', '90']);
  });

  it('a word of letters that is longer than the line gets hyphens, within the width', () => {
    expect(shown('bcdfghjk', 4)).toEqual(['bcd-', 'fgh-', 'jk']);
    expect(shown('nananananana', 7)).toEqual(['nanana-', 'nanana']);
    expect(shown('ab nananananana cd', 9)).toEqual(['ab nana-', 'nananana', 'cd']);
  });

  it('a word longer than the line is broken into pieces of similar length', () => {
    expect(shown('123456789012345678901', 20)).toEqual(['12345678901', '2345678901']);
    const lines = shown('1'.repeat(180), 38);
    expect(lines.map(({ length }) => length)).toEqual([36, 36, 36, 36, 36]);
  });

  it('a word longer than the line is never broken inside a grapheme', () => {
    const family = '👨‍👩‍👧‍👦';
    expect(shown(family.repeat(5), 4)).toEqual([family.repeat(2), family.repeat(2), family]);
    expect(shown('e\u0323\u0302'.repeat(5), 2).every((line) => line.startsWith('e'))).toBe(true);
  });

  it('a long word gets one character per line when not even one fits', () => {
    expect(shown('abc', 0.5)).toEqual(['a', 'b', 'c']);
  });

  it('a word longer than the line starts on a new line only if necessary', () => {
    expect(shown('aa 123456789', 6)).toEqual(['aa', '12345', '6789']);
    expect(shown('a 1234567', 6)).toEqual(['a 1234', '567']);
  });
});

describe('layoutParagraph: a soft hyphen', () => {
  const word = 'super\u00adcali\u00adfragi\u00adlistic';

  it('a soft hyphen is invisible and takes no space when the word fits', () => {
    expect(shown(word, 20)).toEqual(['supercalifragilistic']);
    expect(layout(word, 20)[0]?.width).toBe(100);
  });

  it('a soft hyphen becomes a visible hyphen at the end of a line, within the width', () => {
    expect(shown(word, 11)).toEqual(['supercali-', 'fragilistic']);
    expect(shown(word, 10)).toEqual(['supercali-', 'fragi-', 'listic']);
  });

  it('a soft hyphen stays invisible at the end of the paragraph and between two directions', () => {
    expect(shown('abc\u00ad', 10)).toEqual(['abc']);
    expect(runsOf('abc\u00adאבג')).toEqual(['abc', '<אבג']);
  });

  it('a soft hyphen hyphenates right-to-left text at the left end of the line', () => {
    expect(shown('بتثجح\u00adخدذرز', 6)).toEqual(['بتثجح-', 'خدذرز']);
  });
});

describe('line breaks of individual languages', () => {
  it('put no closing mark or small kana at the start of a Japanese line and no opening bracket at its end', () => {
    const lines = shown('「今日は、とてもいい天気ですね。」と、ジョンさんは言った（笑）。コーヒー！', 7);
    expect(lines.join('')).toHaveLength(37);
    for (const line of lines) {
      expect(line).not.toMatch(/^[」。、）！ョーッ]/u);
      expect(line).not.toMatch(/[「（]$/u);
    }
  });

  it.each([
    ['Thai', 'วันนี้อากาศดีมาก', ['วันนี้', 'อากาศ', 'ดีมาก']],
    ['Lao', 'ສະບາຍດີຕອນເຊົ້າ', ['ສະບາຍດີ', 'ຕອນເຊົ້າ']],
    ['Khmer', 'សួស្តីអ្នកទាំងអស់គ្នា', ['សួស្តី', 'អ្នក', 'ទាំងអស់គ្នា']],
    ['Myanmar', 'မြန်မာစကားပြောတယ်', ['မြန်မာ', 'စကားပြော', 'တယ်']],
  ])('allow a break in %s between the words of the dictionary', (_name, text, words) => {
    const breaks = breakPositionsOf(text);
    const ends = words.map((_, index) => words.slice(0, index + 1).join('').length);
    expect(words.join('')).toBe(text);
    expect(breaks).toEqual(expect.arrayContaining(ends));
  });

  it.each([
    ['Thai', 'กินข้าวกับเพื่อน ๆ', 'เพื่อน ๆ'],
    ['Thai, without a space', 'กินข้าวกับเพื่อนๆ', 'เพื่อนๆ'],
    ['Khmer', 'សួស្តី ផ្សេង ៗ', 'ផ្សេង ៗ'],
  ])('a repetition sign is never at the start of a line: %s', (_name, text, ending) => {
    expect(breakPositionsOf(text).slice(-2)).toEqual([text.length - ending.length, text.length]);
  });

  it.each([
    ['Khmer full stop', 'សួស្តីអ្នក។'],
    ['Myanmar full stop', 'စကားပြောတယ်။'],
    ['Myanmar genitive', 'ကျောင်းသား၏'],
  ])('a full stop or particle stays with its word: %s', (_name, text) => {
    expect(breakPositionsOf(text)).not.toContain(text.length - 1);
  });

  it('break Tibetan after its syllable mark', () => {
    expect(shown('བཀྲ་ཤིས་བདེ་ལེགས།', 6)).toEqual(['བཀྲ་ཤིས་', 'བདེ་', 'ལེགས།']);
  });
});

describe('layoutParagraph: runs', () => {
  it('puts emoji into runs of their own, in order from left to right', () => {
    const [line] = layout('hi 😀😂 yo', 100);
    expect(line?.runs).toEqual([
      { text: 'hi ', kind: 'text', rtl: false, x: 0, source: { start: 0, lead: 0 } },
      { text: '😀😂', kind: 'emoji', rtl: false, x: 15, source: { start: 0, lead: 3 } },
      { text: ' yo', kind: 'text', rtl: false, x: 35, source: { start: 0, lead: 7 } },
    ]);
    expect(line?.width).toBe(50);
  });

  it.each([
    ['Hebrew', 'שלום עולם', ['<שלום עולם']],
    ['a number in Hebrew', 'בשעה 18:45 שם', ['< שם', '18:45', '<בשעה ']],
    ['Latin in Hebrew', 'הסרט Blade Runner טוב', ['< טוב', 'Blade Runner', '<הסרט ']],
    ['number and Latin in Hebrew', 'שלום 123 abc', ['abc', '< ', '123', '<שלום ']],
    ['Hebrew in Latin', 'the word שלום is', ['the word ', '<שלום', ' is']],
    ['Arabic digits', 'عام ٢٠٢٤ هنا', ['< هنا', '٢٠٢٤', '<عام ']],
    ['parentheses', 'רציף (3) שם', ['<) שם', '3', '<רציף (']],
    ['a neutral character at the end of a Hebrew paragraph', 'שלום abc!', ['<!', 'abc', '<שלום ']],
    ['a paragraph whose first strong letter is Latin', '1. abc שלום', ['1. abc ', '<שלום']],
    ['a paragraph whose first strong letter is Hebrew', '1. שלום abc', ['abc', '<. שלום ', '1']],
  ])('orders %s as UAX #9 requires', (_name, text, expected) => {
    expect(runsOf(text)).toEqual(expected);
  });

  it.each([
    ['an emoji', '😀 שלום abc', ['abc', '< שלום ', '<😀']],
    ['a flag', '🇮🇱 שלום', ['< שלום', '<🇮🇱']],
    ['a keycap', '1️⃣ שלום', ['< שלום', '1️⃣']],
    ['an ornament outside the basic plane', '🙐 שלום', ['<🙐 שלום']],
  ])('keeps a Hebrew caption right-to-left after %s at its start', (_name, text, expected) => {
    expect(runsOf(text)).toEqual(expected);
  });

  it('orders keycaps in Hebrew from left to right, like a number', () => {
    expect(runsOf('עמוד 1️⃣0️⃣')).toEqual(['1️⃣0️⃣', '<עמוד ']);
  });

  it('uses the direction of scripts outside the Basic Multilingual Plane', () => {
    expect(runsOf('𞤀𞤣𞤤𞤢𞤥 abc')).toEqual(['abc', '<𞤀𞤣𞤤𞤢𞤥 ']);
    expect(runsOf('𐐀𐐁 𝟏𝟐')).toEqual(['𐐀𐐁 𝟏𝟐']);
  });

  it('applies isolates without drawing them', () => {
    expect(runsOf('שלום \u2068abc!\u2069 עולם')).toEqual(['< עולם', 'abc!', '<שלום ']);
  });

  it('applies direction marks without drawing them', () => {
    expect(runsOf('שלום abc!\u200e')).toEqual(['abc!', '<שלום ']);
  });

  it('orders each line separately', () => {
    expect(shown('אבג 123 דהו 456', 8)).toEqual(['123אבג ', '456דהו ']);
  });

  it('places runs without gaps and makes the line as wide as all of them', () => {
    const [line] = layout('abc שלום 😀 12', 100);
    let x = 0;
    for (const run of line?.runs ?? []) {
      expect(run.x).toBe(x);
      x += fakeMeasurer.measure(run, EM).width;
    }
    expect(line?.width).toBe(x);
  });
});

describe('layoutParagraph: shaping that makes a line wider than its words', () => {
  it('lines stay within the width when shaping makes them wider than their words', () => {
    const widening = {
      ...fakeMeasurer,
      measure: (run: Parameters<typeof fakeMeasurer.measure>[0], size: number) => {
        const extent = fakeMeasurer.measure(run, size);
        return run.text.includes(' ') ? { ...extent, width: extent.width * 1.2 } : extent;
      },
    };
    const lines = layoutParagraph(analyzeParagraph('aaaa bbbb cccc dddd eeee ffff'), 80, EM, widening);
    expect(lines.map((line) => line.runs.map((run) => run.text))).toEqual([
      ['aaaa bbbb'],
      ['cccc dddd'],
      ['eeee ffff'],
    ]);
    for (const line of lines) expect(line.width).toBeLessThanOrEqual(80);
  });
});
