// Unpacks WOFF2 (https://www.w3.org/TR/WOFF2/): Brotli around the tables of a font, of which the outlines and the widths may be
// transformed. Instructions of glyphs are dropped, because nothing uses them later.

import { brotliDecompressSync } from 'node:zlib';
import { FontReader } from './font-bytes.ts';
import { damagedFont, unsupportedFont } from './refusal.ts';
import { assertTableCount, COLLECTION_DETAIL, type FontTables, MAX_TABLE_BYTES } from './sfnt.ts';
import { type Outlines, rebuildOutlines } from './woff2-outlines.ts';

/** The tags that are written as a number. */
const KNOWN_TAGS = (
  'cmap head hhea hmtx maxp name OS/2 post cvt  fpgm glyf loca prep CFF  VORG EBDT EBLC gasp hdmx kern LTSH PCLT VDMX vhea vmtx ' +
  'BASE GDEF GPOS GSUB EBSC JSTF MATH CBDT CBLC COLR CPAL SVG  sbix acnt avar bdat bloc bsln cvar fdsc feat fmtx fvar gvar hsty ' +
  'just lcar mort morx opbd prop trak Zapf Silf Glat Gloc Feat Sill'
)
  .match(/.{4} ?/gu)
  ?.map((tag) => tag.slice(0, 4));
const ARBITRARY_TAG = 63;
const UNTRANSFORMED_OUTLINES = 3;

interface PackedTable {
  readonly tag: string;
  readonly isTransformed: boolean;
  readonly length: number;
}

export function unpackWoff2(file: Uint8Array): FontTables {
  const reader = new FontReader(file);
  if (reader.tag() !== 'wOF2') throw damagedFont("it isn't a WOFF2 file");
  if (reader.tag() === 'ttcf') throw unsupportedFont(COLLECTION_DETAIL);
  reader.skip(4);
  const count = reader.uint16();
  assertTableCount(count);
  reader.skip(6);
  const compressedBytes = reader.uint32();
  reader.skip(24);
  const directory = Array.from({ length: count }, () => readEntry(reader));
  const total = directory.reduce((sum, { length }) => sum + length, 0);
  if (total > MAX_TABLE_BYTES) throw damagedFont('its tables are too large');
  const unpacked = new FontReader(decompress(reader.take(compressedBytes), total));
  const packed = new Map(directory.map((entry) => [entry.tag, { ...entry, bytes: unpacked.take(entry.length) }]));
  return rebuild(packed);
}

function readEntry(reader: FontReader): PackedTable {
  const flags = reader.uint8();
  const known = flags & 0x3f;
  const tag = known === ARBITRARY_TAG ? reader.tag() : (KNOWN_TAGS?.[known] ?? '');
  const version = flags >> 6;
  const isOutline = tag === 'glyf' || tag === 'loca';
  const isTransformed = isOutline ? version !== UNTRANSFORMED_OUTLINES : version !== 0;
  if (isTransformed && tag !== 'hmtx' && (!isOutline || version !== 0)) throw damagedFont(`table ${tag} is unknown`);
  const original = base128(reader);
  return { tag, isTransformed, length: isTransformed ? base128(reader) : original };
}

/** A number in up to five bytes, seven bits each. */
function base128(reader: FontReader): number {
  let value = 0;
  for (let index = 0; index < 5; index += 1) {
    const byte = reader.uint8();
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return value;
  }
  throw damagedFont('a length is invalid');
}

function decompress(bytes: Uint8Array, length: number): Uint8Array {
  try {
    return brotliDecompressSync(bytes, { maxOutputLength: Math.max(1, length) });
  } catch {
    throw damagedFont("it can't be decompressed");
  }
}

type Packed = ReadonlyMap<string, PackedTable & { readonly bytes: Uint8Array }>;

function rebuild(packed: Packed): FontTables {
  const tables = new Map<string, Uint8Array>();
  for (const [tag, { bytes, isTransformed }] of packed) if (!isTransformed) tables.set(tag, bytes);
  const glyf = packed.get('glyf');
  const outlines = glyf?.isTransformed === true ? rebuildOutlines(glyf.bytes) : undefined;
  if (outlines) {
    tables.set('glyf', outlines.glyf);
    tables.set('loca', outlines.loca);
    tables.set('head', withLongOffsets(tables.get('head')));
  }
  const hmtx = packed.get('hmtx');
  if (hmtx?.isTransformed === true) tables.set('hmtx', rebuildWidths(hmtx.bytes, tables.get('hhea'), outlines));
  return tables;
}

/** The rebuilt `loca` has 32-bit offsets. */
function withLongOffsets(head: Uint8Array | undefined): Uint8Array {
  if (head === undefined || head.length < 54) throw damagedFont('it has no header');
  const copy = head.slice();
  new DataView(copy.buffer).setInt16(50, 1);
  return copy;
}

/** Side bearings that equal the left edge of their glyph aren't in the file. */
function rebuildWidths(packed: Uint8Array, hhea: Uint8Array | undefined, outlines: Outlines | undefined): Uint8Array {
  if (hhea === undefined || outlines === undefined) throw damagedFont('it has no widths');
  const reader = new FontReader(packed);
  const flags = reader.uint8();
  const count = new FontReader(hhea, 34).uint16();
  const glyphs = outlines.leftEdges.length;
  if (count === 0 || count > glyphs) throw damagedFont('it has no widths');
  const advances = Array.from({ length: count }, () => reader.uint16());
  const hasLong = (flags & 1) === 0;
  const hasShort = (flags & 2) === 0;
  const table = new DataView(new ArrayBuffer(2 * (count + glyphs)));
  for (let glyph = 0; glyph < glyphs; glyph += 1) {
    const isLong = glyph < count;
    const bearing = (isLong ? hasLong : hasShort) ? reader.int16() : (outlines.leftEdges[glyph] ?? 0);
    if (isLong) table.setUint16(4 * glyph, advances[glyph] ?? 0);
    table.setInt16(isLong ? 4 * glyph + 2 : 2 * (count + glyph), bearing);
  }
  return new Uint8Array(table.buffer);
}
