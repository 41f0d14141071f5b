import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { brotliCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  adjust,
  type BuiltFont,
  type BuiltGlyph,
  buildFont,
  charstring,
  type Contour,
  context,
  cursive,
  kern,
  LETTER,
  layoutTable,
  ligature,
  lookup,
  multiple,
  node,
  single,
  square,
} from '../../../../test/attack-fonts.ts';
import { AppError } from '../../../shared/errors.ts';
import { readWrittenFont } from './coverage.ts';
import { rewriteFont } from './rewrite.ts';

const SPACE: BuiltGlyph = { advance: 250 };
const [A, B, OTHER] = [1, 2, 4];
const WIDE: BuiltGlyph = { advance: 6_000, contours: [square(500)] };

/** A font with `a` and `b`, and with glyphs from 4 on that no character has. */
function font(letter: BuiltGlyph, others: readonly BuiltGlyph[] = [], more: Partial<BuiltFont> = {}): Buffer {
  return buildFont({ glyphs: [letter, LETTER, SPACE, ...others], characters: 'ab ', ...more });
}

function outcomeOf(file: Uint8Array): string {
  try {
    return `accepted ${String.fromCodePoint(...readWrittenFont(rewriteFont(file).file).characters)}`;
  } catch (error) {
    if (error instanceof AppError) return `${error.code}: ${error.message}`;
    throw error;
  }
}

/** A contour with so many points. */
function zigzag(count: number): Contour {
  return Array.from({ length: count }, (_, index) => [50 + (index % 2) * 400, Math.floor((700 * index) / count)]);
}

const squares = (count: number): Contour[] => Array.from({ length: count }, () => square(400));
const withSubstitutions = (lookups: readonly Buffer[], used: readonly number[], others: readonly BuiltGlyph[] = []) =>
  font(LETTER, others, { gsub: layoutTable([{ tag: 'ccmp', lookups: used }], lookups) });
const withPositions = (lookups: readonly Buffer[], used: readonly number[], tag = 'kern') =>
  font(LETTER, [], { gpos: layoutTable([{ tag, lookups: used }], lookups) });

describe('the limits of outlines', () => {
  it.each([
    ['a contour', font({ advance: 600, contours: [zigzag(5_001)] }), '5,00[12] points; the limit is 5,000'],
    ['many contours', font({ advance: 600, contours: squares(501) }), '501 contours; the limit is 500'],
    [
      'components',
      font({ advance: 600, components: Array.from({ length: 60 }, () => OTHER) }, [
        { advance: 600, contours: [zigzag(100)] },
      ]),
      '6,[01]\\d\\d points; the limit is 5,000',
    ],
    [
      'components of components',
      font({ advance: 600, components: [4, 4, 4, 4, 4, 4, 4, 4] }, [
        { advance: 600, components: [5, 5, 5, 5, 5, 5, 5, 5] },
        { advance: 600, components: [6, 6, 6, 6, 6, 6, 6, 6, 6, 6] },
        LETTER,
      ]),
      '640 contours; the limit is 500',
    ],
    [
      'a substitute',
      withSubstitutions([single(A, OTHER)], [0], [{ advance: 600, contours: squares(501) }]),
      '501 contours; the limit is 500',
    ],
  ])('refuse a glyph with too much in %s, and say how much', (_, file, message) => {
    expect(outcomeOf(file)).toMatch(new RegExp(`^asset_undecodable: A glyph of the font has ${message}`, 'u'));
  });

  it('count the points of subroutines', () => {
    const line = charstring(
      ...Array.from({ length: 100 }, (_, at) => [at % 2 ? 300 : -300, at % 2 ? 7 : -7, 'rlineto'] as const).flat(),
      'return',
    );
    const calls = (count: number) => Array.from({ length: count }, () => [-107, 'callgsubr'] as const).flat();
    const box = [0, 500, 'rlineto', 500, 0, 'rlineto', 0, -500, 'rlineto'] as const;
    const withCalls = (count: number): string =>
      outcomeOf(
        font(LETTER, [], {
          subroutines: [line],
          charstrings: [
            charstring(50, 0, 'rmoveto', ...box, 0, 300, 'rmoveto', ...calls(count), 'endchar'),
            charstring(50, 0, 'rmoveto', ...box, 'endchar'),
            charstring('endchar'),
          ],
        }),
      );
    expect(withCalls(1)).toBe('accepted  ab');
    expect(withCalls(51)).toMatch(/^asset_undecodable: A glyph of the font has 5,1\d\d points; the limit is 5,000/u);
  });

  it('leave out a glyph that HarfBuzz refuses to draw', () => {
    const bomb = Array.from({ length: 8 }, (_, depth) =>
      depth === 0
        ? charstring(...Array.from({ length: 20 }, () => [9, 9, 'rlineto'] as const).flat(), 'return')
        : charstring(...Array.from({ length: 10 }, () => [depth - 108, 'callgsubr'] as const).flat(), 'return'),
    );
    const box = [0, 500, 'rlineto', 500, 0, 'rlineto', 0, -500, 'rlineto'] as const;
    const charstrings = [
      charstring(50, 0, 'rmoveto', 7 - 107, 'callgsubr', 'endchar'),
      charstring(50, 0, 'rmoveto', ...box, 'endchar'),
      charstring('endchar'),
    ];
    expect(outcomeOf(font(LETTER, [], { subroutines: bomb, charstrings }))).toBe('accepted  b');
  });

  it.each([
    [
      'wide',
      [
        [0, 0],
        [0, 500],
        [32_000, 500],
        [32_000, 0],
      ],
    ],
    [
      'tall',
      [
        [0, 0],
        [0, 32_000],
        [500, 32_000],
        [500, 0],
      ],
    ],
    [
      'deep',
      [
        [0, 0],
        [0, -32_000],
        [500, -32_000],
        [500, 0],
      ],
    ],
  ] as [string, Contour][])('refuse a substitute with %s ink, and a glyph that claims less', (_, contour) => {
    const wild = { advance: 600, contours: [contour] };
    const refusal =
      /^asset_undecodable: A glyph of the font has ink 3[12](?:\.\d)? em away from its place; the limit is 3/u;
    expect(outcomeOf(withSubstitutions([single(A, OTHER)], [0], [wild]))).toMatch(refusal);
    expect(outcomeOf(font({ ...wild, claimedBox: [0, 0, 500, 500] }))).toMatch(refusal);
  });
});

describe('the limits of layout', () => {
  const once = Array.from({ length: 4 }, () => multiple(A, A, 3));
  it.each([
    ['one substitution', withSubstitutions([multiple(A, B, 100)], [0]), '100 glyphs'],
    ['substitutions in a row', withSubstitutions(once, [0, 1, 2, 3]), '81 glyphs'],
    [
      'substitutions of several features',
      font(LETTER, [], {
        characters: 'بb ',
        gsub: layoutTable(
          ['ccmp', 'isol', 'rlig', 'calt'].map((tag, index) => ({ tag, lookups: [3 - index] })),
          [multiple(6, 7, 3), multiple(5, 6, 3), multiple(OTHER, 5, 3), multiple(A, OTHER, 3)],
        ),
        glyphs: [LETTER, LETTER, SPACE, ...Array.from({ length: 4 }, () => ({ advance: 10, contours: [square(9)] }))],
      }),
      '81 glyphs',
    ],
    [
      'a lookup that a context applies again and again',
      withSubstitutions(
        [
          context(
            5,
            [A, A],
            Array.from({ length: 40 }, () => 1),
          ),
          multiple(A, A, 3),
        ],
        [0],
      ),
      '[\\d,]+ glyphs',
    ],
    [
      'contexts of contexts',
      withSubstitutions(
        [context(5, [A, B], [1, 1, 1, 1, 1, 1]), context(5, [A], [2, 2, 2, 2, 2, 2]), multiple(A, A, 2)],
        [0],
      ),
      '37 glyphs',
    ],
    [
      'a ligature that is replaced',
      withSubstitutions([ligature([A, B], OTHER), multiple(OTHER, A, 100)], [0, 1], [LETTER]),
      '50 glyphs',
    ],
  ])('refuse a character that becomes too many glyphs by %s', (_, file, growth) => {
    const limit = /; the limit is 16/u;
    expect(outcomeOf(file)).toMatch(
      new RegExp(`^asset_undecodable: A character of the font can become ${growth}`, 'u'),
    );
    expect(outcomeOf(file)).toMatch(limit);
  });

  it('accept contexts whose rules rarely apply, as those of Nastaliq fonts', () => {
    const nested = [context(5, [A], [1, 1, 1]), context(5, [A, B], [2, 2, 2]), multiple(A, A, 2)];
    expect(outcomeOf(withSubstitutions(nested, [0]))).toBe('accepted  ab');
    // Each of them widens a letter, but no text has all of their contexts.
    const wide = [adjust(A, 0, 900), ...[A, B, 3].map((next) => context(7, [A, next], [0, 0]))];
    expect(outcomeOf(withPositions(wide, [1, 2, 3]))).toBe('accepted  ab');
  });

  it('accept contexts that apply each other, because HarfBuzz ends that', () => {
    expect(outcomeOf(withSubstitutions([context(5, [A], [1]), context(5, [A], [0])], [0]))).toBe('accepted  ab');
  });

  it('refuse a glyph that is wider than any ligature', () => {
    const sentence = ligature([A, B, A, B, A, B, A, B], OTHER);
    const file = withSubstitutions([sentence], [0], [{ advance: 17_000, contours: [square(500)] }]);
    expect(outcomeOf(file)).toMatch(/^asset_undecodable: A glyph of the font is 17 em wide; the limit is 16/u);
  });

  it.each([
    ['a wide substitute', withSubstitutions([single(A, OTHER)], [0], [WIDE]), '6'],
    ['a wide ligature', withSubstitutions([ligature([A, B], OTHER)], [0], [{ ...WIDE, advance: 12_000 }]), '6'],
    ['some glyphs', withSubstitutions([multiple(A, B, 10)], [0]), '6'],
    ['a single adjustment', withPositions([adjust(A, 0, 5_000)], [0]), '5.6'],
    ['kerning', withPositions([kern(A, B, 5_000)], [0]), '5.6'],
    [
      'several lookups',
      withPositions(
        Array.from({ length: 9 }, () => adjust(A, 0, 900)),
        [0, 1, 2, 3, 4, 5, 6, 7, 8],
      ),
      '8.7',
    ],
    [
      'a context',
      withPositions(
        [
          context(
            7,
            [A, B],
            Array.from({ length: 9 }, () => 1),
          ),
          adjust(A, 0, 900),
        ],
        [0],
      ),
      '8.7',
    ],
    ['joined glyphs', withPositions([cursive(A, 6_000, 0)], [0], 'curs'), '6'],
  ])('refuse a character that becomes too wide by %s', (_, file, width) => {
    const message = `asset_undecodable: A character of the font can become ${width} em wide; the limit is 5.`;
    expect(outcomeOf(file)).toContain(message);
  });

  it('accept what real fonts do', () => {
    const gpos = layoutTable([{ tag: 'kern', lookups: [0] }], [kern(A, B, -80)]);
    // A letter that gets a mark, a wide ligature of two letters, and a substitute that is replaced back.
    const marked = lookup(2, node(1, node(1, 1, A), 1, node(2, A, OTHER)));
    const lookups = [marked, ligature([A, B], 5), single(OTHER, 6), single(6, OTHER)];
    const others = [{ advance: 0, contours: [square(100)] }, { advance: 1_200, contours: [square(900)] }, LETTER];
    const gsub = layoutTable([{ tag: 'ccmp', lookups: [0, 1, 2, 3] }], lookups);
    expect(outcomeOf(font(LETTER, others, { gsub, gpos }))).toBe('accepted  ab');
  });
});

describe('a WOFF2 file with wrong lengths', () => {
  /** A file with one table, whose length and compressed length are as given. */
  function woff2(length: number, compressedLength?: number): Buffer {
    const data = brotliCompressSync(Buffer.alloc(1_000_000));
    const base128 = Buffer.of(
      0x80 | (length >> 21),
      0x80 | ((length >> 14) & 0x7f),
      0x80 | ((length >> 7) & 0x7f),
      length & 0x7f,
    );
    const header = Buffer.alloc(48);
    header.write('wOF2\0\u0001\0\0', 0, 'latin1');
    header.writeUInt16BE(1, 12);
    header.writeUInt32BE(compressedLength ?? data.length, 20);
    return Buffer.concat([header, Buffer.of(0), base128, data]);
  }

  it.each([
    ['more than its data', woff2(2_000_000), 'it ends too early'],
    ['less than its data', woff2(1_000), "it can't be decompressed"],
    ['more than any font has', woff2(200_000_000), 'its tables are too large'],
    ['more compressed data than it has', woff2(1_000_000, 9_999_999), 'it ends too early'],
  ])('is refused if it claims %s', (_, file, reason) => {
    expect(outcomeOf(file)).toBe(`asset_undecodable: The font can't be read: ${reason}. Export it again and retry.`);
  });
});

describe('the bundled fonts', () => {
  const require = createRequire(import.meta.url);
  it.each([
    '@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf',
    '@expo-google-fonts/chocolate-classical-sans/400Regular/ChocolateClassicalSans_400Regular.ttf',
    '@fontsource/noto-sans-math/files/noto-sans-math-latin-400-normal.woff2',
    '@fontsource/noto-sans-newa/files/noto-sans-newa-newa-400-normal.woff2',
    '@fontsource/noto-sans-symbols-2/files/noto-sans-symbols-2-symbols-400-normal.woff2',
    '@fontsource-variable/noto-sans-arabic/files/noto-sans-arabic-arabic-wght-normal.woff2',
    '@fontsource-variable/noto-sans-bengali/files/noto-sans-bengali-bengali-wght-normal.woff2',
    '@fontsource-variable/noto-sans-devanagari/files/noto-sans-devanagari-devanagari-wght-normal.woff2',
    '@fontsource-variable/noto-sans-javanese/files/noto-sans-javanese-javanese-wght-normal.woff2',
    '@fontsource-variable/noto-sans-myanmar/files/noto-sans-myanmar-myanmar-wght-normal.woff2',
    '@fontsource-variable/noto-sans-syriac/files/noto-sans-syriac-syriac-wght-normal.woff2',
    '@fontsource-variable/noto-serif-tibetan/files/noto-serif-tibetan-tibetan-wght-normal.woff2',
    'inter-ui/variable/InterVariable.woff2',
  ])('are within all limits: %s', (name) => {
    expect(outcomeOf(readFileSync(require.resolve(name)))).toMatch(/^accepted /u);
  });
});
