// Joins PNGs that were encoded side by side, each a strip of one picture, without compressing anything again. It knows the
// encoder's habits to the bit: one block per picture, always the same table of codes, every row filtered by Paeth. Where a
// stream looks different, nothing is joined and the caller encodes the picture in one piece.
//
// Two things are wrong with a strip's stream in the middle of another. It says that it is the last, a single bit. And its
// first row was filtered as if nothing were above it; Paeth is then the same as Sub, so the row must say Sub, whose code is
// two bits shorter. An empty block of ten bits in front brings the rest of the stream to the old place within its bytes,
// where it is copied and not shifted.

import type { Size } from '../../layout/geometry.ts';
import { Adler } from './adler.ts';
import { COLOR_TYPE, chunk, imageHeader, SIGNATURE } from './chunks.ts';

/** A stream's beginning up to the first three bits of its first code. */
const BEGINNING = Buffer.from(
  '7801edc003a0245996c6f1ff77ee8dc8cca7724b63ae6ddbb66ddbb66ddbb66d698c9e964aaf9e323322eef976b76a7aa6873b6bd5afaaf433a9',
  'hex',
).subarray(0, 54);
/** Where the block begins and where its codes do, in bits. */
const [BLOCK_AT, CODES_AT] = [16, 429];
/** The fourth and fifth bit of the code for Paeth, in the byte after the beginning. */
const [PAETH_MASK, PAETH_REST] = [0b11, 0b10];
const SUB_CODE = [0, 1, 0] as const;
const [PAETH, SUB] = [4, 1];
/** A block with the standard's own codes: not the last, and at its end at once. */
const EMPTY_BLOCK = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0] as const;
/** The end of a block that only stores, and stores nothing: from here on the stream is at a whole byte. */
const STORED_NOTHING = Uint8Array.of(0x00, 0x00, 0xff, 0xff);
const STORED_HEADER_BITS = 3;
const LAST_BLOCK_BIT = 1;
const ADLER_BYTES = 4;

/** `undefined` when the strips are not what this file knows. From top to bottom; they are changed in place. */
export function joinStrips(picture: Size & { readonly channels: 3 | 4 }, strips: readonly Strip[]): Buffer | undefined {
  const adler = new Adler();
  const parts: Uint8Array[] = [];
  for (const [index, { png, height }] of strips.entries()) {
    const stream = streamOf(png);
    if (stream === undefined || !looksFamiliar(stream)) return undefined;
    const isLast = index === strips.length - 1;
    const length = height * (picture.width * picture.channels + 1);
    const [high, low] = [stream.readUInt16BE(stream.length - 4), stream.readUInt16BE(stream.length - 2)];
    const change = index === 0 ? 0 : PAETH - SUB;
    adler.append(low - change, high - change * length, length);
    parts.push(...(index === 0 ? [] : [beginning(isLast)]), body(stream, index === 0, isLast));
    if (!isLast) parts.push(...pause(stream));
  }
  const color = picture.channels === 3 ? COLOR_TYPE.rgb : COLOR_TYPE.rgba;
  const data = chunk('IDAT', ...parts, adler.bytes);
  return Buffer.concat([SIGNATURE, ...imageHeader(picture, color), ...data, ...chunk('IEND')]);
}

export interface Strip {
  readonly png: Buffer;
  readonly height: number;
}

/** The compressed bytes of a PNG with the usual three chunks. */
function streamOf(png: Buffer): Buffer | undefined {
  const [lengthAt, dataAt] = [33, 41];
  const end = dataAt + png.readUInt32BE(lengthAt);
  const isUsual = png.toString('latin1', lengthAt + 4, dataAt) === 'IDAT' && png.length === end + 16;
  return isUsual ? png.subarray(dataAt, end) : undefined;
}

function looksFamiliar(stream: Buffer): boolean {
  return (
    stream.length > BEGINNING.length + ADLER_BYTES + 2 &&
    stream.subarray(0, BEGINNING.length).equals(BEGINNING) &&
    ((stream[BEGINNING.length] ?? 0) & PAETH_MASK) === PAETH_REST &&
    stream[stream.length - ADLER_BYTES - 1] !== 0
  );
}

/** Everything before the part that is copied: whole bytes, and two bits of the next. */
function bitsOfBeginning(isLast: boolean): number[] {
  const block = Array.from({ length: CODES_AT - BLOCK_AT }, (_, index) => {
    const at = BLOCK_AT + index;
    return ((BEGINNING[at >> 3] ?? 0) >> (at & 7)) & 1;
  });
  block[0] = isLast ? 1 : 0;
  return [...EMPTY_BLOCK, ...block, ...SUB_CODE];
}

function packed(bits: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(bits.length / 8));
  for (const [at, bit] of bits.entries()) bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (bit << (at & 7));
  return bytes;
}

const BEGINNINGS = { last: packed(bitsOfBeginning(true)), other: packed(bitsOfBeginning(false)) };

function beginning(isLast: boolean): Uint8Array {
  return BEGINNINGS[isLast ? 'last' : 'other'].subarray(0, -1);
}

function body(stream: Buffer, isFirst: boolean, isLast: boolean): Buffer {
  const end = stream.length - ADLER_BYTES;
  if (isFirst) {
    const at = BLOCK_AT >> 3;
    if (!isLast) stream[at] = (stream[at] ?? 0) & ~LAST_BLOCK_BIT;
    return stream.subarray(0, end);
  }
  const at = BEGINNING.length;
  stream[at] = ((stream[at] ?? 0) & ~PAETH_MASK) | (BEGINNINGS.other.at(-1) ?? 0);
  return stream.subarray(at, end);
}

/** The code that ends a block ends with a one: after the last one come bits that nobody uses. */
function pause(stream: Buffer): Uint8Array[] {
  const unused = Math.clz32(stream[stream.length - ADLER_BYTES - 1] ?? 0) - 24;
  return unused >= STORED_HEADER_BITS ? [STORED_NOTHING] : [Uint8Array.of(0), STORED_NOTHING];
}
