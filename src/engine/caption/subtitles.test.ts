import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Cue, parseSubtitles } from './subtitles.ts';

const cue = (start: number, end: number, text: string) => expect.objectContaining({ start, end, text });
const problem = (line: number, pattern: RegExp) => ({ line, problem: expect.stringMatching(pattern) });

const cuesOf = (source: string): Cue[] => Array.from(parseSubtitles(source)).filter((parsed) => parsed !== undefined);

describe('SRT', () => {
  it.each([
    ['plain', '1\n00:00:01,000 --> 00:00:02,500\nHello\nworld\n\n2\n00:00:03,000 --> 00:00:04,000\nBye\n'],
    ['without numbers', '00:00:01,000 --> 00:00:02,500\nHello\nworld\n\n00:00:03,000 --> 00:00:04,000\nBye'],
    ['with points', '1\n00:00:01.000 --> 00:00:02.500\nHello\nworld\n\n2\n00:00:03.000 --> 00:00:04.000\nBye\n'],
    ['without hours', '1\n00:01,000 --> 00:02,500\nHello\nworld\n\n2\n0:03 --> 0:04\nBye\n'],
    ['with short fractions', '1\n00:00:01,0 --> 00:00:02,5\nHello\nworld\n\n2\n0:00:03 --> 0:00:04,00\nBye\n'],
    ['with a byte-order mark', '\ufeff1\n00:00:01,000 --> 00:00:02,500\nHello\nworld\n\n2\n0:03 --> 0:04\nBye'],
    ['with CRLF', '1\r\n00:00:01,000 --> 00:00:02,500\r\nHello\r\nworld\r\n\r\n2\r\n0:03 --> 0:04\r\nBye\r\n'],
    ['with CR', '1\r00:00:01,000 --> 00:00:02,500\rHello\rworld\r\r2\r0:03 --> 0:04\rBye\r'],
    ['with spaces in blank lines', '1\n00:01,000 --> 00:02,500\nHello\nworld\n \t\n2\n0:03 --> 0:04\nBye'],
    ['without blank lines', '1\n00:01,000 --> 00:02,500\nHello\nworld\n2\n0:03 --> 0:04\nBye'],
    ['with blank lines in a cue', '1\n00:01,000 --> 00:02,500\nHello\n\nworld\n\n2\n0:03 --> 0:04\nBye'],
    ['with coordinates', '1\n00:01,000 --> 00:02,500 X1:1 Y1:2\nHello\nworld\n\n2\n0:03-->0:04\nBye'],
    [
      'with tags',
      '1\n0:01 --> 0:02.5\n{\\an8}<i>Hello</i>\n<font color="#f00">world</font>\n\n0:03 --> 0:04\n{b}Bye{/b}',
    ],
  ])('an SRT file is read %s', (_name, source) => {
    expect(cuesOf(source)).toEqual([cue(1, 2.5, 'Hello\nworld'), cue(3, 4, 'Bye')]);
  });

  it('keeps hearts, comparisons and entities', () => {
    const [first] = cuesOf('0:01 --> 0:02\nI <3 you & a < b > c &amp; d');
    expect(first).toEqual(cue(1, 2, 'I <3 you & a < b > c &amp; d'));
  });

  it.each([
    ['an arrow without its head', '1\n00:00:01,000 -- 00:00:02,000\nA', [problem(2, /isn't a time range/u)]],
    ['an arrow that an editor replaced', '00:00:01,000 → 00:00:02,000\nA', [problem(1, /isn't a time range/u)]],
    ['a time without digits', '1\n00:00:0x,000 --> 00:00:02,000\nA', [problem(2, /"00:00:0x,000 --> .*isn't a time/u)]],
    ['a minute over 59', '00:60:00,000 --> 00:61:00,000\nA', [problem(1, /isn't a time range/u)]],
    ['an end before the start', '0:02 --> 0:01\nA', [problem(1, /ends at 1 s and must end after its start at 2 s/u)]],
    ['a cue without a length', '0:02 --> 0:02\nA', [problem(1, /must end after/u)]],
    ['text before the first cue', 'Hi\n\n0:01 --> 0:02\nA', [problem(1, /"Hi" isn't part of a cue/u), cue(1, 2, 'A')]],
    ['a number at the end', '0:01 --> 0:02\nA\n\n7\n', [cue(1, 2, 'A'), problem(4, /"7" isn't part of a cue/u)]],
  ])('reports %s', (_name, source, expected) => {
    expect(cuesOf(source)).toEqual(expected);
  });

  it('an SRT file without cues has no captions', () => {
    expect(cuesOf('')).toEqual([]);
    expect(cuesOf('\ufeff\r\n\r\n')).toEqual([]);
  });
});

describe('WebVTT', () => {
  it('skips the header, notes, styles and regions, and ignores names and settings', () => {
    const source = `WEBVTT - a title
Kind: captions

NOTE
a comment

STYLE
::cue { color: red }

REGION
id:fred

intro
00:01.000 --> 00:02.500 line:0 position:20% align:start
Hello
world

NOTE one line

01:00:03.000 --> 01:00:04.000
Bye
`;
    expect(cuesOf(source)).toEqual([cue(1, 2.5, 'Hello\nworld'), cue(3_603, 3_604, 'Bye')]);
  });

  it('strips tags and decodes entities', () => {
    const source =
      'WEBVTT\n\n0:01.000 --> 0:02.000\n<v Ann><c.loud>a &lt;b&gt; &amp;amp;</c> <00:01.500>&#x263A;&#233;&nbsp;x';
    expect(cuesOf(source)).toEqual([cue(1, 2, 'a <b> &amp; ☺é\u00a0x')]);
  });

  it('reads a cue directly below the header', () => {
    expect(cuesOf('WEBVTT\n00:01.000 --> 00:02.000\nA')).toEqual([cue(1, 2, 'A')]);
  });

  it('reports text without times, which players skip', () => {
    expect(cuesOf('WEBVTT\n\nlost\n\n0:01.000 --> 0:02.000\nA\n\nB')).toEqual([
      problem(3, /"lost" isn't part of a cue/u),
      cue(1, 2, 'A'),
      problem(8, /"B" isn't part of a cue/u),
    ]);
  });
});

describe('subtitles of any kind', () => {
  const word = fc.string({ unit: fc.constantFrom(...Array.from('abcXYZ äß字é.,!?')), minLength: 1, maxLength: 12 });
  const textLine = word.map((text) => `t${text.trim()}`);
  const anyCue = fc.record({
    start: fc.integer({ min: 0, max: 7_200_000 }),
    length: fc.integer({ min: 1, max: 60_000 }),
    lines: fc.array(textLine, { minLength: 1, maxLength: 3 }),
    settings: fc.constantFrom('', ' line:0', ' align:start position:10%'),
  });
  const style = fc.record({
    isWebVtt: fc.boolean(),
    lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
    point: fc.constantFrom('.', ','),
    hasBom: fc.boolean(),
    hasNames: fc.boolean(),
    gap: fc.integer({ min: 1, max: 3 }),
  });

  function timeOf(milliseconds: number, point: string): string {
    const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
    const hours = milliseconds >= 3_600_000 ? `${two(milliseconds / 3_600_000)}:` : '';
    const seconds = `${two((milliseconds / 60_000) % 60)}:${two((milliseconds / 1_000) % 60)}`;
    return `${hours}${seconds}${point}${String(milliseconds % 1_000).padStart(3, '0')}`;
  }

  it('cues are read as they were written', () => {
    fc.assert(
      fc.property(fc.array(anyCue, { minLength: 1, maxLength: 20 }), style, (cues, options) => {
        const { isWebVtt, lineEnd, point, hasBom, hasNames, gap } = options;
        const blocks = cues.map(({ start, length, lines, settings }, index) => {
          const times = `${timeOf(start, point)} --> ${timeOf(start + length, point)}${settings}`;
          return [...(hasNames ? [String(index + 1)] : []), times, ...lines].join(lineEnd);
        });
        const body = [...(isWebVtt ? ['WEBVTT'] : []), ...blocks].join(lineEnd.repeat(gap + 1));
        expect(cuesOf(`${hasBom ? '\ufeff' : ''}${body}`)).toEqual(
          cues.map(({ start, length, lines }) => cue(start / 1_000, (start + length) / 1_000, lines.join('\n'))),
        );
      }),
      { seed: 17, numRuns: 400 },
    );
  });

  it('parsing never throws, and every cue has times in order or a problem', () => {
    const piece = fc.constantFrom(
      'WEBVTT',
      '\n',
      '\r\n',
      '-->',
      '00:01',
      '00:00:01,000 --> 00:00:02,000',
      ' ',
      '1',
      '<',
      '>',
      '{\\',
      '}',
      '&',
      'NOTE',
      '&#x110000;',
      '\ufeff',
      'text',
      '99:99:99,999',
      '\u0000',
      '\ud800',
    );
    const source = fc.oneof(
      fc.string(),
      fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join('')),
    );
    fc.assert(
      fc.property(source, (text) => {
        for (const parsed of cuesOf(text)) {
          expect(parsed.line).toBeGreaterThan(0);
          expect('problem' in parsed ? parsed.problem !== '' : parsed.end > parsed.start).toBe(true);
        }
      }),
      { seed: 17, numRuns: 1_000 },
    );
  });
});
