// Joins PNGs that were encoded in parallel, each a strip of one image, without compressing anything again. This relies
// on the exact output of the encoder: one block per image, always the same Huffman table, and every row filtered with
// Paeth. If a stream looks different, nothing is joined and the caller encodes the image in one piece.
//
// Two things in a strip's stream must change before it can follow another. First, a single bit marks its block as the
// last one. Second, its first row was filtered as if there were no row above. Paeth then equals Sub, so the row must
// declare Sub, whose code is two bits shorter. An empty block of ten bits before it shifts the rest of the stream back
// to its original bit position within a byte, so that it can be copied as it is.

import type { Size } from '../../layout/geometry.ts';
import { must } from '../../primitives/must.ts';
import { Adler } from './adler.ts';
import { COLOR_TYPE, chunk, imageHeader, SIGNATURE } from './chunks.ts';

/** The start of every stream, up to the first three bits of its first code. */
const PREFIX = Buffer.from(
  '7801edc003a0245996c6f1ff77ee8dc8cca7724b63ae6ddbb66ddbb66ddbb66d698c9e964aaf9e323322eef976b76a7aa6873b6bd5afaaf433a9',
  'hex',
).subarray(0, 54);
/** The offsets, in bits, of the block and of its first code. */
const [BLOCK_BIT, FIRST_CODE_BIT] = [16, 429];
/** The fourth and fifth bit of the code for Paeth, in the byte after the prefix. */
const [PAETH_MASK, PAETH_REST] = [0b11, 0b10];
const SUB_CODE = [0, 1, 0] as const;
const [PAETH, SUB] = [4, 1];
/** An empty block with fixed Huffman codes that isn't the last block. */
const EMPTY_BLOCK = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0] as const;
/** The rest of an empty stored block, after its header bits. It aligns the stream to a byte boundary. */
const EMPTY_STORED_BLOCK = Uint8Array.of(0x00, 0x00, 0xff, 0xff);
const STORED_HEADER_BITS = 3;
const LAST_BLOCK_BIT = 1;
const ADLER_BYTES = 4;

/** Joins strips from top to bottom, and modifies them in place. Returns `undefined` if they have an unexpected form. */
export function joinStrips(image: Size & { readonly channels: 3 | 4 }, strips: readonly Strip[]): Buffer | undefined {
  const adler = new Adler();
  const parts: Uint8Array[] = [];
  for (const [index, { png, height }] of strips.entries()) {
    const stream = streamOf(png);
    if (stream === undefined || !hasExpectedForm(stream)) return undefined;
    const isLast = index === strips.length - 1;
    const length = height * (image.width * image.channels + 1);
    const [high, low] = [stream.readUInt16BE(stream.length - 4), stream.readUInt16BE(stream.length - 2)];
    const filterChange = index === 0 ? 0 : PAETH - SUB;
    adler.append(low - filterChange, high - filterChange * length, length);
    parts.push(...(index === 0 ? [] : [newPrefix(isLast)]), body(stream, index === 0, isLast));
    if (!isLast) parts.push(...byteAlignment(stream));
  }
  const colorType = image.channels === 3 ? COLOR_TYPE.rgb : COLOR_TYPE.rgba;
  const data = chunk('IDAT', ...parts, adler.bytes);
  return Buffer.concat([SIGNATURE, ...imageHeader(image, colorType), ...data, ...chunk('IEND')]);
}

export interface Strip {
  readonly png: Buffer;
  readonly height: number;
}

/** The compressed data of a PNG that consists of IHDR, one IDAT and IEND. */
function streamOf(png: Buffer): Buffer | undefined {
  const [lengthAt, dataAt] = [33, 41];
  const end = dataAt + png.readUInt32BE(lengthAt);
  const hasThreeChunks = png.toString('latin1', lengthAt + 4, dataAt) === 'IDAT' && png.length === end + 16;
  return hasThreeChunks ? png.subarray(dataAt, end) : undefined;
}

function hasExpectedForm(stream: Buffer): boolean {
  return (
    stream.length > PREFIX.length + ADLER_BYTES + 2 &&
    stream.subarray(0, PREFIX.length).equals(PREFIX) &&
    (stream.readUInt8(PREFIX.length) & PAETH_MASK) === PAETH_REST &&
    lastBlockByte(stream) !== 0
  );
}

function lastBlockByte(stream: Buffer): number {
  return stream.readUInt8(stream.length - ADLER_BYTES - 1);
}

/** Everything before the part that is copied: whole bytes, and the first two bits of the next byte. */
function newPrefixBits(isLast: boolean): number[] {
  const block = Array.from({ length: FIRST_CODE_BIT - BLOCK_BIT }, (_, index) => {
    const bit = BLOCK_BIT + index;
    return (PREFIX.readUInt8(bit >> 3) >> (bit & 7)) & 1;
  });
  block[0] = isLast ? 1 : 0;
  return [...EMPTY_BLOCK, ...block, ...SUB_CODE];
}

function packBits(bits: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(bits.length / 8));
  for (const [at, bit] of bits.entries()) bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (bit << (at & 7));
  return bytes;
}

const NEW_PREFIXES = { last: packBits(newPrefixBits(true)), other: packBits(newPrefixBits(false)) };

function newPrefix(isLast: boolean): Uint8Array {
  return NEW_PREFIXES[isLast ? 'last' : 'other'].subarray(0, -1);
}

function body(stream: Buffer, isFirst: boolean, isLast: boolean): Buffer {
  const end = stream.length - ADLER_BYTES;
  if (isFirst) {
    const at = BLOCK_BIT >> 3;
    if (!isLast) stream[at] = stream.readUInt8(at) & ~LAST_BLOCK_BIT;
    return stream.subarray(0, end);
  }
  const at = PREFIX.length;
  stream[at] = (stream.readUInt8(at) & ~PAETH_MASK) | must(NEW_PREFIXES.other.at(-1), 'the last byte of the prefix');
  return stream.subarray(at, end);
}

/** The end-of-block code ends with a one bit, so the zero bits after the last one bit are unused. */
function byteAlignment(stream: Buffer): Uint8Array[] {
  const unusedBits = Math.clz32(lastBlockByte(stream)) - 24;
  return unusedBits >= STORED_HEADER_BITS ? [EMPTY_STORED_BLOCK] : [Uint8Array.of(0), EMPTY_STORED_BLOCK];
}
