// Uploaded fonts drawn by the real engine: whatever a font lacks or claims, its captions have decent bars.

import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { create } from 'fontkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bar, layoutOverlays } from '../src/engine/layout/layout.ts';
import { FontWriter } from '../src/engine/media/font/font-bytes.ts';
import { rewriteFont } from '../src/engine/media/font/rewrite.ts';
import { type FontTables, readSfnt, writeSfnt } from '../src/engine/media/font/sfnt.ts';
import { must } from '../src/shared/must.ts';
import { composeTransparentRecipe } from '../src/engine/render/recipe.ts';
import { renderTransparent } from '../src/engine/render/render.ts';
import { createRenderTools } from '../src/engine/render/renderer-tools.ts';

const require = createRequire(import.meta.url);
const FILE = readFileSync(require.resolve('@expo-google-fonts/montserrat/400Regular/Montserrat_400Regular.ttf'));
const TABLES = readSfnt(FILE);
const CANVAS = { width: 1080, height: 1920 };
const ICON = '\ue000';
const tools = createRenderTools();
let folder: string;
beforeAll(() => (folder = mkdtempSync(path.join(tmpdir(), 'storybar-fonts-'))));
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes a font anew and loads it, as an upload and a render do. Returns its id. */
function load(tables: FontTables): string {
  const { file } = rewriteFont(writeSfnt(tables));
  const sha256 = createHash('sha256').update(file).digest('hex');
  const id = `font_${sha256.slice(0, 32)}`;
  const stored = path.join(folder, sha256);
  writeFileSync(stored, file);
  tools.fonts.use([{ id, sha256, bytes: file.length, path: stored }]);
  return id;
}

function patched(tag: string, change: (view: DataView) => void): FontTables {
  const table = must(TABLES.get(tag), tag).slice();
  change(new DataView(table.buffer));
  return new Map(TABLES).set(tag, table);
}

function glyphOf(char: string): number {
  const font = create(FILE) as unknown as { glyphForCodePoint(point: number): { id: number } };
  return font.glyphForCodePoint(char.codePointAt(0) ?? 0).id;
}

/** The font with only these characters, each with a glyph of the font. */
function withCharacters(characters: Readonly<Record<string, string>>): FontTables {
  const points = Object.entries(characters)
    .map(([char, drawn]) => [must(char.codePointAt(0), char), glyphOf(drawn)] as const)
    .toSorted(([a], [b]) => a - b);
  const cmap = new FontWriter();
  for (const value of [0, 1, 3, 10]) cmap.uint16(value);
  cmap.uint32(12);
  cmap.uint16(12);
  cmap.uint16(0);
  for (const value of [16 + 12 * points.length, 0, points.length]) cmap.uint32(value);
  for (const [point, glyph] of points) for (const value of [point, point, glyph]) cmap.uint32(value);
  return new Map(TABLES).set('cmap', cmap.finish());
}

/** The font without OpenType kerning, and with these distances in its table `kern`. */
function withKerning(pairs: Readonly<Record<string, number>>): FontTables {
  const list = Object.entries(pairs)
    .map(([[left = '', right = ''], distance]) => [glyphOf(left) * 0x1_0000 + glyphOf(right), distance] as const)
    .toSorted(([a], [b]) => a - b);
  const kern = new FontWriter();
  for (const value of [0, 1, 0, 14 + 6 * list.length, 1, list.length, 0, 0, 0]) kern.uint16(value);
  for (const [glyphs, distance] of list) {
    kern.uint32(glyphs);
    kern.int16(distance);
  }
  return new Map([...TABLES].filter(([tag]) => tag !== 'GPOS')).set('kern', kern.finish());
}

function barOf(text: string, font: string): Bar {
  const overlay = { text, position: 50, style: { font } };
  const { bars } = layoutOverlays([overlay], CANVAS, (...caption) => tools.text.measurerFor(...caption));
  return must(bars[0], 'the bar');
}

const rowsOf = ({ height, lines }: Bar): number[] => [height, ...lines.map(({ baseline }) => baseline)];

function widthOf(text: string, font: string): number {
  const measurer = tools.text.measurerFor(text, undefined, barOf(text, font).look);
  return measurer.measure({ text, kind: 'text', rtl: false }, 100).width;
}

/** How many rows of a bar have ink of the text. */
function inkedRows(text: string, font: string): number {
  const [band] = tools.text.draw({ canvas: CANVAS, bars: [barOf(text, font)] });
  const { pixels, width, height } = must(band, 'the band');
  const isInked = (row: number): boolean =>
    Array.from({ length: width }, (_, column) => pixels[(row * width + column) * 4] ?? 0).some((red) => red > 128);
  return Array.from({ length: height }, (_, row) => row).filter(isInked).length;
}

const TEXTS = ['Golden hour', 'Two lines,\njust us', 'Größe ÉÅ, año ☕️'];

describe('an uploaded font', () => {
  it('has bars with the same height and baselines as Inter', () => {
    const font = load(TABLES);
    for (const text of TEXTS) expect(rowsOf(barOf(text, font))).toEqual(rowsOf(barOf(text, 'inter')));
  });

  it.each([
    ['zero', 0],
    ['wild', 32_767],
  ])('with %s vertical metrics has the same bars, and the same text in them', (_, metric) => {
    const hhea = patched('hhea', (view) => [4, 6, 8].forEach((at) => view.setInt16(at, metric)));
    const os2 = must(
      patched('OS/2', (view) => [68, 70, 72, 74, 76].forEach((at) => view.setInt16(at, metric))).get('OS/2'),
      'OS/2',
    );
    expect(rowsWith(new Map(hhea).set('OS/2', os2))).toEqual(rowsWith(TABLES));
  });

  it.each([
    ['small', 8],
    ['large', 1 / 8],
  ])('with unusually %s letters is scaled to a readable size', (_, factor) => {
    const head = patched('head', (view) =>
      view.setUint16(18, Math.min(16_384, Math.round(view.getUint16(18) * factor))),
    );
    const usual = inkedRows('HEH', load(TABLES));
    const odd = inkedRows('HEH', load(head));
    expect(odd).toBeGreaterThan(0.4 * usual);
    expect(odd).toBeLessThan(2 * usual);
  });

  it('without OpenType layout has the kerning of its table kern, in em', () => {
    const width = (pairs: Readonly<Record<string, number>>): number => widthOf('AVAVA', load(withKerning(pairs)));
    const [none, some] = [width({}), width({ AV: -100, VA: -50 })];
    // The font has 1,000 units per em, and is drawn slightly larger or smaller than asked for.
    expect((none - some) / 30).toBeCloseTo(1, 0);
    expect(some).toBeLessThan(none - 20);
    const wild = width({ AV: -32_000, VA: 32_000 });
    expect(wild).toBe(none);
  });

  it('without OpenType layout is as wide as its file is without being written anew', () => {
    const file = readFileSync(
      require.resolve('@expo-google-fonts/permanent-marker/400Regular/PermanentMarker_400Regular.ttf'),
    );
    expect(readSfnt(file).has('GPOS')).toBe(false);
    const font = load(readSfnt(file));
    for (const text of ['AVAVA', 'To Yo Wa', 'Golden hour']) {
      expect(widthOf(text, font)).toBe(widthOf(text, 'permanent-marker'));
    }
  });

  it('without a space has the space of the default font', () => {
    const font = load(withCharacters({ a: 'a', b: 'b' }));
    expect(widthOf('a b', font)).toBeGreaterThan(widthOf('ab', font) + 10);
  });

  it('with only icons draws them beside letters of the default font', async () => {
    const font = load(withCharacters({ [ICON]: '@' }));
    expect(rowsOf(barOf(`${ICON} Golden hour`, font))).toEqual(rowsOf(barOf('Golden hour', 'inter')));
    expect(inkedRows(ICON, font)).toBeGreaterThan(20);
    const text = `${ICON} Golden hour`;
    const recipe = composeTransparentRecipe(CANVAS, [{ text, position: null, style: { font } }]);
    const { missingGlyphs, warnings } = await renderTransparent(recipe, tools);
    expect([missingGlyphs, warnings]).toEqual([0, ['font_fallback']]);
  });

  it('leaves letters that it draws as nothing to the default font', () => {
    const font = load(withCharacters({ a: ' ', b: 'b' }));
    expect(tools.text.needsFallback('a', font)).toBe(true);
    expect(inkedRows('aaa', font)).toBe(inkedRows('aaa', 'inter'));
  });

  it('is unknown to a render that does not have it', () => {
    const font = load(TABLES);
    tools.fonts.use([]);
    expect(() => barOf('Hi', font)).toThrow(font);
  });
});

/** What a font makes of the texts: the rows of their bars, and how many have ink. */
function rowsWith(tables: FontTables): unknown {
  const font = load(tables);
  return TEXTS.map((text) => [rowsOf(barOf(text, font)), inkedRows(text, font)]);
}
