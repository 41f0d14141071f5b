import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { create, type Font } from 'fontkit';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../shared/errors.ts';
import { must } from '../../../shared/must.ts';
import { readWrittenFont } from './coverage.ts';
import { FontReader } from './font-bytes.ts';
import { rewriteFont } from './rewrite.ts';
import { readSfnt, writeSfnt } from './sfnt.ts';
import { unpackWoff2 } from './woff2.ts';

const require = createRequire(import.meta.url);
const fileOf = (name: string): Buffer => readFileSync(require.resolve(name));
const TRUETYPE = fileOf('@expo-google-fonts/montserrat/400Regular/Montserrat_400Regular.ttf');
const PACKED = fileOf('inter-ui/web/Inter-Regular.woff2');
const VARIABLE = fileOf('@fontsource-variable/noto-sans-thai/files/noto-sans-thai-thai-wght-normal.woff2');

const fontOf = (file: Uint8Array): Font => create(Buffer.from(file)) as Font;

/** The outlines and the width of a character. */
function glyphOf(font: Font, char: string): unknown {
  const glyph = font.glyphForCodePoint(must(char.codePointAt(0), char));
  return [glyph.advanceWidth, glyph.path.toSVG()];
}

function withNames(...names: readonly (readonly [id: number, text: string])[]): Buffer {
  const texts = names.map(([, text]) => Buffer.from(text, 'utf16le').swap16());
  const start = 6 + 12 * names.length;
  const numbers = [0, names.length, start];
  let offset = 0;
  for (const [index, [id]] of names.entries()) {
    const length = texts[index]?.length ?? 0;
    numbers.push(3, 1, 0x409, id, length, offset);
    offset += length;
  }
  const table = Buffer.concat([Buffer.alloc(start), ...texts]);
  for (const [index, value] of numbers.entries()) table.writeUInt16BE(value, 2 * index);
  return Buffer.from(writeSfnt(new Map(readSfnt(TRUETYPE)).set('name', table)));
}

describe('a font that is written anew', () => {
  it('has its outlines and layout, and nothing else', () => {
    expect([...readSfnt(TRUETYPE).keys()]).toEqual(expect.arrayContaining(['fpgm', 'prep', 'cvt ', 'name']));
    const { file, facts } = rewriteFont(TRUETYPE);
    const tables = ['GDEF', 'GPOS', 'GSUB', 'OS/2', 'cmap', 'glyf', 'head', 'hhea', 'hmtx', 'loca', 'maxp', 'post'];
    expect([...readSfnt(file).keys()]).toEqual(tables);
    expect(facts).toMatchObject({
      family: 'Montserrat',
      style: 'Regular',
      weights: [400],
      scripts: ['Latin', 'Cyrillic'],
    });
    const [before, after] = [fontOf(TRUETYPE), fontOf(file)];
    for (const char of 'AgÉß@1я') expect(glyphOf(after, char)).toEqual(glyphOf(before, char));
  });

  it('has the same outlines if it came as WOFF2', () => {
    const [before, after] = [fontOf(PACKED), fontOf(writeSfnt(unpackWoff2(PACKED)))];
    for (const char of 'AgÉß@1яΩ%&') expect(glyphOf(after, char)).toEqual(glyphOf(before, char));
    expect(rewriteFont(PACKED).facts).toMatchObject({ family: 'Inter', scripts: ['Latin', 'Greek', 'Cyrillic'] });
  });

  it('keeps the weights that styles use, and no other axis', () => {
    const { file, facts } = rewriteFont(VARIABLE);
    expect(facts.weights).toEqual([400, 700]);
    const fvar = new FontReader(must(readSfnt(file).get('fvar'), 'fvar'), 8);
    const [axes, , , , tag] = [fvar.uint16(), fvar.uint16(), fvar.uint16(), fvar.uint16(), fvar.tag()];
    expect([axes, tag, ...Array.from({ length: 3 }, () => fvar.uint32() / 65_536)]).toEqual([1, 'wght', 400, 400, 700]);
    expect(readWrittenFont(file).hasBold).toBe(true);
  });

  it('can be written anew again', () => {
    const { file, facts } = rewriteFont(TRUETYPE);
    expect(rewriteFont(file).facts).toEqual({ ...facts, family: 'Unnamed' });
  });

  it('is accepted without kerning if its table kern is damaged', () => {
    const withKern = (kern: Uint8Array): Uint8Array =>
      rewriteFont(writeSfnt(new Map(readSfnt(TRUETYPE)).set('kern', kern))).file;
    const numbers = (...values: number[]): Uint8Array => {
      const table = Buffer.alloc(2 * values.length);
      for (const [index, value] of values.entries()) table.writeUInt16BE(value, 2 * index);
      return table;
    };
    const damaged = [
      numbers(),
      numbers(1, 0, 0, 1),
      numbers(0, 1, 0, 14, 1, 65_535, 0, 0, 0),
      numbers(0, 65_535, 0, 3, 0x201, 9, 9, 9, 9),
      numbers(0, 65_535, 0, 65_535, 0x201, 9, 9, 9, 9),
      numbers(0, 2, 0, 14, 1, 1, 0, 0, 0, 60_000, 60_001, 9),
    ];
    for (const kern of damaged) expect(readSfnt(withKern(kern)).has('kern')).toBe(false);
  });

  it('has names without line breaks, controls and reordering, of a limited length', () => {
    const { facts } = rewriteFont(withNames([1, '\u202eEvil\n\t<b>\u2066Font\0'], [2, 'x'.repeat(500)]));
    expect(facts).toMatchObject({ family: 'Evil <b>Font', style: 'x'.repeat(64) });
    expect(rewriteFont(withNames([1, '\u200b\u202e'])).facts).toMatchObject({ family: 'Unnamed', style: 'Regular' });
  });
});

describe('a font that cannot be used', () => {
  const codeOf = (file: Uint8Array): string => {
    try {
      rewriteFont(file);
      return 'accepted';
    } catch (error) {
      if (error instanceof AppError) return error.code;
      throw error;
    }
  };

  it('is refused if it lacks outlines or another table', () => {
    for (const tag of ['cmap', 'head', 'hhea', 'hmtx', 'maxp', 'glyf', 'loca']) {
      const tables = new Map(readSfnt(TRUETYPE));
      tables.delete(tag);
      expect(codeOf(writeSfnt(tables))).toBe('asset_undecodable');
    }
  });

  it('is refused if it is a collection or WOFF 1', () => {
    for (const signature of ['ttcf', 'wOFF']) expect(codeOf(Buffer.from(`${signature}0000`))).toBe('unsupported_asset');
  });

  it('is refused or repaired, wherever it ends', () => {
    for (const file of [TRUETYPE, PACKED]) {
      for (let part = 0; part < 40; part += 1) {
        const cut = file.subarray(0, Math.floor((file.length * part) / 40));
        expect(['asset_undecodable', 'accepted']).toContain(codeOf(cut));
      }
    }
  });
});
