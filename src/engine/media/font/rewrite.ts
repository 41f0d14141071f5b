// Writes an uploaded font anew: outlines and layout of the characters that captions can use, and nothing else of the file. Runs
// only in sandboxed workers.

import { characterSet } from './coverage.ts';
import { FontReader } from './font-bytes.ts';
import { type FontDescription, describeFont } from './font-description.ts';
import { MAX_STORED_FONT_BYTES } from './font-limits.ts';
import { HarfBuzz, tagNumber } from './harfbuzz.ts';
import {
  BOLD_WEIGHT,
  clamp,
  glyphsOf,
  inspect,
  type InspectedFont,
  REGULAR_WEIGHT,
  type WeightAxis,
} from './inspect.ts';
import { rewriteKerning } from './kerning.ts';
import { assertModest } from './modest.ts';
import { damagedFont, unsupportedFont } from './refusal.ts';
import { type FontTables, readSfnt, writeSfnt } from './sfnt.ts';
import { unpackWoff2 } from './woff2.ts';

export interface RewrittenFont {
  readonly file: Uint8Array;
  readonly facts: FontDescription;
}

/** What the subsetter reads. Color, bitmaps, SVG, hinting programs and signatures are not among them. */
const OUTLINE_TABLES = ['glyf', 'loca', 'CFF ', 'CFF2'];
const REQUIRED_TABLES = ['cmap', 'head', 'hhea', 'hmtx', 'maxp'];
const OTHER_TABLES = ['OS/2', 'post', 'name', 'GDEF', 'GPOS', 'GSUB', 'fvar', 'avar', 'gvar', 'HVAR', 'MVAR'];
const READ_TABLES = new Set([...REQUIRED_TABLES, ...OUTLINE_TABLES, ...OTHER_TABLES]);
/** What the written font has. Layout never uses names or weights of a file, and HVAR only repeats what the outlines say. */
const WRITTEN_TABLES = new Set([
  ...REQUIRED_TABLES,
  ...OUTLINE_TABLES,
  'OS/2',
  'post',
  'GDEF',
  'GPOS',
  'GSUB',
  'fvar',
  'avar',
  'gvar',
  'HVAR',
]);

const NO_HINTING = 0x1;
const DESUBROUTINIZE = 0x4;
const UNICODES = 1;
const NAME_IDS = 4;

/** Vertical metrics are the same in every written font, in em, because captions are laid out by their ink. */
const ASCENT = 1;
const DESCENT = 0.25;

export function rewriteFont(file: Uint8Array): RewrittenFont {
  const uploaded = tablesOf(file);
  const tables = outlineTables(uploaded);
  const source = writeSfnt(tables);
  const inspected = inspect(source);
  if (inspected.characters.length === 0) throw damagedFont('it has no characters that can be drawn');
  const subsetted = subset(source, inspected);
  for (const instance of instancesOf(subsetted, inspected)) assertModest(instance, inspected.characters);
  const written = withMetrics(readSfnt(subsetted), inspected.unitsPerEm);
  const result = withKerning(written, uploaded.get('kern'), source, inspected);
  if (result.length > MAX_STORED_FONT_BYTES) throw damagedFont('its outlines are too large');
  return { file: result, facts: describeFont(tables, characterSet(result), weightsOf(inspected.weightAxis)) };
}

function tablesOf(file: Uint8Array): FontTables {
  const signature = new FontReader(file).tag();
  if (signature === 'wOF2') return unpackWoff2(file);
  if (signature === 'wOFF') throw unsupportedFont("WOFF isn't supported. Send the font as TTF, OTF or WOFF2.");
  return readSfnt(file);
}

function outlineTables(tables: FontTables): FontTables {
  const missing = REQUIRED_TABLES.find((tag) => !tables.has(tag));
  if (missing !== undefined) throw damagedFont(`the table ${missing} is missing`);
  if ((tables.get('head')?.length ?? 0) < 54) throw damagedFont('its header is too short');
  const hasOutlines = (tables.has('glyf') && tables.has('loca')) || tables.has('CFF ') || tables.has('CFF2');
  if (!hasOutlines) throw damagedFont('it has bitmaps or colors only, no outlines');
  return new Map([...tables].filter(([tag]) => READ_TABLES.has(tag)));
}

function subset(source: Uint8Array, { characters, weightAxis }: InspectedFont): Uint8Array {
  const hb = new HarfBuzz('harfbuzz-subset');
  const face = hb.open(source);
  const input = hb.call('hb_subset_input_create_or_fail');
  if (input === 0) throw damagedFont('it takes too much memory');
  hb.call('hb_subset_input_set_flags', input, NO_HINTING | DESUBROUTINIZE);
  hb.call('hb_set_clear', hb.call('hb_subset_input_set', input, NAME_IDS));
  const unicodes = hb.call('hb_subset_input_set', input, UNICODES);
  for (const point of characters) hb.call('hb_set_add', unicodes, point);
  hb.call('hb_subset_input_pin_all_axes_to_default', input, face);
  if (weightAxis) limitWeights(hb, input, face, weightAxis);
  const result = hb.call('hb_subset_or_fail', face, input);
  if (result === 0) throw damagedFont('its tables contradict each other');
  const blob = hb.call('hb_face_reference_blob', result);
  const length = hb.call('hb_blob_get_length', blob) >>> 0;
  if (length === 0) throw damagedFont('its tables contradict each other');
  return hb.bytes(hb.call('hb_blob_get_data', blob, 0) >>> 0, length).slice();
}

/** The font at each weight that styles use. */
function instancesOf(font: Uint8Array, inspected: InspectedFont): Uint8Array[] {
  const axis = inspected.weightAxis;
  if (axis === undefined || clamp(REGULAR_WEIGHT, axis) === clamp(BOLD_WEIGHT, axis)) return [font];
  return [REGULAR_WEIGHT, BOLD_WEIGHT].map((weight) => {
    const only = clamp(weight, axis);
    return subset(font, { ...inspected, weightAxis: { min: only, max: only } });
  });
}

/** Of all axes, only the part of the weight that styles use stays. */
function limitWeights(hb: HarfBuzz, input: number, face: number, axis: WeightAxis): void {
  const [regular, bold] = [clamp(REGULAR_WEIGHT, axis), clamp(BOLD_WEIGHT, axis)];
  const weight = tagNumber('wght');
  if (regular === bold) hb.call('hb_subset_input_pin_axis_location', input, face, weight, regular);
  else hb.call('hb_subset_input_set_axis_range', input, face, weight, regular, bold, regular);
}

function weightsOf(axis: WeightAxis | undefined): readonly number[] | undefined {
  return axis && [...new Set([clamp(REGULAR_WEIGHT, axis), clamp(BOLD_WEIGHT, axis)].map(Math.round))];
}

/** The subsetter numbers glyphs anew, so those of the characters tell which number became which. */
function withKerning(
  tables: FontTables,
  kern: Uint8Array | undefined,
  source: Uint8Array,
  { characters, unitsPerEm }: InspectedFont,
): Uint8Array {
  const file = writeSfnt(tables);
  if (kern === undefined) return file;
  const after = glyphsOf(file, characters);
  const glyphs = new Map(glyphsOf(source, characters).map((glyph, index) => [glyph, after[index] ?? 0]));
  const kerning = rewriteKerning(kern, glyphs, unitsPerEm);
  return kerning === undefined ? file : writeSfnt(new Map(tables).set('kern', kerning));
}

/** Wild or missing vertical metrics would move the text. */
function withMetrics(tables: FontTables, unitsPerEm: number): FontTables {
  const kept = new Map([...tables].filter(([tag]) => WRITTEN_TABLES.has(tag)));
  const [ascent, descent] = [Math.round(ASCENT * unitsPerEm), Math.round(DESCENT * unitsPerEm)];
  patch(kept, 'hhea', (view) => {
    view.setInt16(4, ascent);
    view.setInt16(6, -descent);
    view.setInt16(8, 0);
  });
  patch(kept, 'OS/2', (view) => {
    if (view.byteLength < 78) return;
    view.setInt16(68, ascent);
    view.setInt16(70, -descent);
    view.setInt16(72, 0);
    view.setUint16(74, ascent);
    view.setUint16(76, descent);
  });
  return kept;
}

function patch(tables: Map<string, Uint8Array>, tag: string, change: (view: DataView) => void): void {
  const table = tables.get(tag)?.slice();
  if (table === undefined) return;
  if (tag === 'hhea' && table.length < 36) throw damagedFont('its metrics are missing');
  change(new DataView(table.buffer));
  tables.set(tag, table);
}
