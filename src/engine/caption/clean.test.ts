import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanText, isBlank } from './clean.ts';

describe('cleanText', () => {
  it.each([
    ['both ends are trimmed', '  hello \n', 'hello'],
    ['every line is trimmed', 'one  \n  two', 'one\ntwo'],
    ['wide and no-break spaces are trimmed', '\u3000\u00a0hello\u2003', 'hello'],
    ['spaces inside a line are kept', 'a  b', 'a  b'],
    ['CRLF becomes a newline', 'a\r\nb', 'a\nb'],
    ['a lone CR becomes a newline', 'a\rb', 'a\nb'],
    ['line and paragraph separators become newlines', 'a\u2028b\u2029c', 'a\nb\nc'],
    ['explicit blank lines are kept', 'a\n\nb', 'a\n\nb'],
    ['a tab becomes a space', 'a\tb', 'a b'],
  ])('normalizes whitespace: %s', (_name, raw, expected) => {
    expect(cleanText(raw)).toBe(expected);
  });

  it('drops every C0 and C1 control that is not a line end or a tab', () => {
    const controls = [...range(0x00, 0x1f), ...range(0x7f, 0x9f)].filter(
      (code) => ![0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x85].includes(code),
    );
    expect(controls).toHaveLength(59);
    for (const code of controls) expect(cleanText(`a${String.fromCharCode(code)}b`)).toBe('ab');
  });

  it.each(['\u202a', '\u202b', '\u202c', '\u202d', '\u202e'])('drops the bidi embedding or override %j', (control) => {
    expect(cleanText(`a${control}b\u202c`)).toBe('ab');
  });

  it('keeps isolates that are balanced within their line', () => {
    const text = 'the name is \u2068שלום\u2069, or \u2066a \u2067b\u2069\u2069';
    expect(cleanText(text)).toBe(text);
  });

  it.each([
    ['one that is never closed', 'a \u2067b', 'a b'],
    ['one that is never opened', 'a \u2069b', 'a b'],
    ['one that is closed before it opens', '\u2069a\u2068', 'a'],
    ['one that is closed on another line', '\u2067a\nb\u2069', 'a\nb'],
  ])('drops an unbalanced isolate: %s', (_name, raw, expected) => {
    expect(cleanText(raw)).toBe(expected);
  });

  it('balances the isolates of each line separately', () => {
    expect(cleanText('\u2068a\u2069\n\u2068b')).toBe('\u2068a\u2069\nb');
  });

  it('keeps the marks and joiners that shaping needs', () => {
    const text = 'می\u200cخواهم क्\u200dष a\u200eb \u200f👩\u200d👧 ❤\ufe0f 🏴\u{e0067}\u{e007f}';
    expect(cleanText(text)).toBe(text);
  });

  it.each(['\ufeff', '\ufff9', '\ufffb', '\ufffe', '\uffff', '\ufdd0', '\u{1fffe}', '\u{10ffff}'])(
    'drops %j, which draws nothing',
    (char) => {
      expect(cleanText(`a${char}b`)).toBe('ab');
    },
  );

  it('composes marks, even if a dropped character separated them from their letter', () => {
    expect(cleanText('e\u0301')).toBe('é');
    expect(cleanText('e\u0000\u0301')).toBe('é');
    expect(cleanText('e\u2069\u0301')).toBe('é');
  });

  it('replaces lone surrogates instead of passing them on', () => {
    expect(cleanText('a\ud83db')).toBe('a\ufffdb');
  });

  it('cleanText is idempotent and always trims both ends', () => {
    const piece = fc.constantFrom(
      ...Array.from('ab \t\r\n\u2028\u0085\u0000\u202e\u2066\u2067\u2068\u2069\u0301\ufeff\ud83d\ude00é가'),
    );
    const units = fc.array(fc.integer({ min: 0, max: 0xffff })).map((codes) => String.fromCharCode(...codes));
    const raw = fc.oneof(
      units,
      fc.array(piece).map((pieces) => pieces.join('')),
    );
    fc.assert(
      fc.property(raw, (text) => {
        const cleaned = cleanText(text);
        expect(cleanText(cleaned)).toBe(cleaned);
        expect(cleaned).toBe(cleaned.trim());
        expect(cleaned.isWellFormed()).toBe(true);
      }),
      { seed: 1, numRuns: 500 },
    );
  });
});

describe('isBlank', () => {
  it.each([
    '',
    ' ',
    '\n\n',
    '\u3000',
    '\u00a0',
    '\u200b',
    '\u200d\ufe0f',
    '\u00ad',
    '\u2800',
    '\u3164',
    '\u2068\u2069',
  ])('treats %j as blank because it draws nothing', (text) => {
    expect(isBlank(cleanText(text))).toBe(true);
  });

  it.each(['a', '.', '0', '\u0301', '👍', '\ufffd', '\u200ba'])(
    'treats %j as text because it draws something',
    (text) => {
      expect(isBlank(cleanText(text))).toBe(false);
    },
  );
});

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

it('more marks in a row than any language has stay in their order, because sorting them takes quadratic time', () => {
  const marks = (count: number): string => `a${'\u0315\u0300'.repeat(count)}b`;
  expect(cleanText(marks(15))).toBe(marks(15).normalize('NFC'));
  expect(cleanText(marks(16))).toBe(marks(16));
});
