// Reads the chunks of a PNG. They describe its colors in up to four ways. The first in the order of the PNG
// specification (third edition) counts: cICP, iCCP, sRGB, then gAMA with cHRM. The decoder knows only iCCP.

import { crc32 } from 'node:zlib';
import { type ColorEncoding, encodingOf, SRGB_CHROMATICITIES } from './encoding.ts';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** The length and type before the data, and the checksum after it. */
const CHUNK_OVERHEAD = 12;
const ANCILLARY = 0x20;

interface Chunk {
  readonly type: string;
  readonly start: number;
  /** The offset after the checksum. */
  readonly end: number;
  readonly data: Buffer;
}

function isPng(bytes: Buffer): boolean {
  return bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE);
}

/** Yields chunks up to the end of the file, or to where it is truncated. */
function* chunksOf(png: Buffer): Generator<Chunk> {
  for (let at = SIGNATURE.length; at + CHUNK_OVERHEAD <= png.length; ) {
    const length = png.readUInt32BE(at);
    const end = at + CHUNK_OVERHEAD + length;
    if (end > png.length) return;
    yield { type: png.toString('latin1', at + 4, at + 8), start: at, end, data: png.subarray(at + 8, end - 4) };
    at = end;
  }
}

/**
 * Returns undefined for plain sRGB and for files other than PNG. `hasProfile` is true if the decoder found a usable
 * iCCP chunk.
 */
export function pngEncoding(bytes: Uint8Array, hasProfile: boolean): ColorEncoding | undefined {
  const png = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!isPng(png)) return undefined;
  const found = new Map<string, Buffer>();
  for (const { type, start, end, data } of chunksOf(png)) {
    if (type === 'IDAT') break;
    const isDescription = type === 'cICP' || type === 'sRGB' || type === 'gAMA' || type === 'cHRM';
    if (isDescription && crc32(png.subarray(start + 4, end - 4)) === png.readUInt32BE(end - 4)) found.set(type, data);
  }
  const codePoints = codePointEncoding(found.get('cICP'));
  if (codePoints !== undefined || hasProfile || found.has('sRGB')) return codePoints;
  return gammaEncoding(found.get('gAMA'), found.get('cHRM'));
}

/** Ignores limited range like browsers do, because no PNG encoder means it. */
function codePointEncoding(data: Buffer | undefined): ColorEncoding | undefined {
  const [primaries, transfer, matrix, fullRange] = data ?? [];
  if (primaries === undefined || transfer === undefined || matrix !== 0 || fullRange !== 1) return undefined;
  return encodingOf(primaries, transfer);
}

/** Ignores chromaticities without a gamma, like browsers do. */
function gammaEncoding(gamma: Buffer | undefined, chroma: Buffer | undefined): ColorEncoding | undefined {
  const value = gamma?.length === 4 ? gamma.readUInt32BE(0) / 100_000 : 0;
  if (value === 0) return undefined;
  const numbers = Array.from({ length: 8 }, (_, index) =>
    chroma?.length === 32 ? chroma.readUInt32BE(index * 4) / 100_000 : 0,
  );
  // The y of a primary is a divisor.
  const isUsable = numbers.every((number, index) => number < 1 && (index % 2 === 0 || number > 0.001));
  return { transfer: 1 / value, chromaticities: isUsable ? numbers : SRGB_CHROMATICITIES };
}

const VALID_TYPE = /^[A-Za-z]{2}[A-Z][A-Za-z]$/u;

/**
 * Removes ancillary chunks whose type breaks the naming rules. The decoder refuses the whole file for them, while
 * browsers skip them. Returns the same bytes when there are none.
 */
export function withoutInvalidChunks(bytes: Uint8Array): Uint8Array {
  const png = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!isPng(png)) return bytes;
  const kept: Buffer[] = [];
  let from = 0;
  for (const { type, start, end } of chunksOf(png)) {
    if (VALID_TYPE.test(type) || (type.charCodeAt(0) & ANCILLARY) === 0) continue;
    kept.push(png.subarray(from, start));
    from = end;
  }
  return from === 0 ? bytes : Buffer.concat([...kept, png.subarray(from)]);
}
