// WOFF2 fonts before their compression, because hardly any change of compressed data can be decompressed. The input is the header
// with the list of tables, behind its length in two bytes, and the tables.

import { brotliCompressSync, constants } from 'node:zlib';
import { fuzz as fuzzFont } from './fonts.ts';

const COMPRESSED_LENGTH_AT = 20;

export function fuzz(input: Buffer): void {
  if (input.length < 2) return;
  const end = 2 + input.readUInt16BE(0);
  const [header, tables] = [Buffer.from(input.subarray(2, end)), input.subarray(end)];
  const compressed = brotliCompressSync(tables, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
  if (header.length >= COMPRESSED_LENGTH_AT + 4) header.writeUInt32BE(compressed.length, COMPRESSED_LENGTH_AT);
  fuzzFont(Buffer.concat([header, compressed]));
}
