// The container of TrueType and OpenType fonts: a directory of tables.

import { FontReader, FontWriter } from './font-bytes.ts';
import { damagedFont, unsupportedFont } from './refusal.ts';

export type FontTables = ReadonlyMap<string, Uint8Array>;

const TRUETYPE = 0x0001_0000;
const POSTSCRIPT = 'OTTO';
const VERSIONS = new Set(['\0\u0001\0\0', 'true', POSTSCRIPT]);
const COLLECTION = 'ttcf';
/** Real fonts have up to about 30. */
const MAX_TABLES = 100;
/** Of all tables together. Tables may overlap in a hostile file, so the size of the file doesn't bound it. */
export const MAX_TABLE_BYTES = 40 * 1024 * 1024;
/** The sum of a font's words, of which the directory keeps the difference. */
const CHECKSUM_MAGIC = 0xb1b0_afba;
const CHECKSUM_AT = 8;

export function readSfnt(file: Uint8Array): FontTables {
  const reader = new FontReader(file);
  const version = reader.tag();
  if (version === COLLECTION) throw unsupportedFont(COLLECTION_DETAIL);
  if (!VERSIONS.has(version)) throw damagedFont("it isn't a TrueType or OpenType file");
  const count = reader.uint16();
  assertTableCount(count);
  reader.skip(6);
  const tables = new Map<string, Uint8Array>();
  let total = 0;
  for (let index = 0; index < count; index += 1) {
    const tag = reader.tag();
    reader.skip(4);
    const [offset, length] = [reader.uint32(), reader.uint32()];
    total += length;
    if (total > MAX_TABLE_BYTES) throw damagedFont('its tables are too large');
    tables.set(tag, new FontReader(file, offset).take(length));
  }
  return tables;
}

export const COLLECTION_DETAIL = 'The file is a collection of fonts. Send a single font as TTF, OTF or WOFF2.';

export function assertTableCount(count: number): void {
  if (count === 0 || count > MAX_TABLES) throw damagedFont(`it has ${count} tables`);
}

/** Writes a font with exactly these tables. */
export function writeSfnt(tables: FontTables): Uint8Array {
  const entries = [...tables].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const writer = new FontWriter();
  if (tables.has('CFF ') || tables.has('CFF2')) writer.tag(POSTSCRIPT);
  else writer.uint32(TRUETYPE);
  const power = 2 ** Math.floor(Math.log2(entries.length));
  writer.uint16(entries.length);
  for (const value of [power * 16, Math.log2(power), (entries.length - power) * 16]) writer.uint16(value);
  let offset = writer.length + 16 * entries.length;
  for (const [tag, table] of entries) {
    writer.tag(tag);
    for (const value of [checksum(table), offset, table.length]) writer.uint32(value);
    offset += Math.ceil(table.length / 4) * 4;
  }
  for (const [, table] of entries) {
    writer.bytes(table);
    writer.pad(4);
  }
  const hasHead = (tables.get('head')?.length ?? 0) >= CHECKSUM_AT + 4;
  return hasHead ? withChecksum(writer.finish(), offsetOf('head', entries)) : writer.finish();
}

function offsetOf(wanted: string, entries: readonly (readonly [string, Uint8Array])[]): number {
  let offset = 12 + 16 * entries.length;
  for (const [tag, table] of entries) {
    if (tag === wanted) break;
    offset += Math.ceil(table.length / 4) * 4;
  }
  return offset;
}

function withChecksum(file: Uint8Array, head: number): Uint8Array {
  const view = new DataView(file.buffer);
  view.setUint32(head + CHECKSUM_AT, 0);
  view.setUint32(head + CHECKSUM_AT, (CHECKSUM_MAGIC - checksum(file)) >>> 0);
  return file;
}

function checksum(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let sum = 0;
  const whole = bytes.length & ~3;
  for (let at = 0; at < whole; at += 4) sum = (sum + view.getUint32(at)) >>> 0;
  for (let at = whole; at < bytes.length; at += 1) sum = (sum + (bytes[at] ?? 0) * 2 ** (24 - 8 * (at - whole))) >>> 0;
  return sum;
}
