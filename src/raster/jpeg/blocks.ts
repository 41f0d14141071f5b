// Reads, skips and writes the blocks of a scan. Positions are in bits. A negative position means that the data isn't
// what an encoder would have written. The loops use only local variables, which is several times as fast as closures.

import type { BitWriter } from './bit-writer.ts';
import { FAST_BITS, type HuffmanTable, TO_THE_END } from './huffman.ts';

const BLOCK = 64;
/** The largest difference of DC values in 8-bit images has 11 bits, the largest AC coefficient 10. */
const [MAX_DC_BITS, MAX_AC_BITS] = [11, 10];
const ALL_ZERO_RUN = 0xf0;
const END_OF_BLOCK = 0;

/** `bytes` must have padding of at least one block behind the end of the data. */
function peek16(bytes: DataView, position: number): number {
  return (bytes.getInt32(position >>> 3) << (position & 7)) >>> 16;
}

function entryAt(bytes: DataView, position: number, { fast, decode }: HuffmanTable): number {
  const bits = peek16(bytes, position);
  const entry = fast[bits >> (16 - FAST_BITS)] ?? 0;
  return entry !== 0 ? entry : (decode[bits] ?? 0);
}

function signed(bits: number, size: number): number {
  return bits < 1 << (size - 1) ? bits - (1 << size) + 1 : bits;
}

/** Reads the DC difference into `difference`, and returns the position after it. */
export function readDifference(bytes: DataView, position: number, table: HuffmanTable, difference: Int32Array): number {
  const entry = entryAt(bytes, position, table);
  const size = entry & 255;
  if (entry === 0 || size > MAX_DC_BITS) return -1;
  const after = position + (entry >> 8);
  difference[0] = size === 0 ? 0 : signed(peek16(bytes, after) >> (16 - size), size);
  return after + size;
}

/** Returns the position after the AC coefficients. */
export function skipAc(bytes: DataView, position: number, { skip, decode }: HuffmanTable): number {
  let at = position;
  let index = 1;
  while (index < BLOCK) {
    const bits = peek16(bytes, at);
    const short = skip[bits >> (16 - FAST_BITS)] ?? 0;
    if (short !== 0) {
      at += short >> 8;
      index += short & 255;
      continue;
    }
    const entry = decode[bits] ?? 0;
    if (entry === 0) return -1;
    const size = entry & 15;
    at += (entry >> 8) + size;
    if (size > 0) index += ((entry >> 4) & 15) + 1;
    else index += (entry & 255) === ALL_ZERO_RUN ? 16 : TO_THE_END;
  }
  return index > BLOCK && index < TO_THE_END ? -1 : at;
}

/** The places to which turning an image moves the coefficients of a block, by index in zigzag order. */
export interface CoefficientMoves {
  /** The index of the coefficient in the upright block. */
  readonly places: Uint8Array;
  readonly signs: Int8Array;
}

/** The blocks of an MCU in their order. */
export interface McuOrder {
  readonly components: Uint8Array;
  readonly dc: readonly HuffmanTable[];
  readonly ac: readonly HuffmanTable[];
}

/** Reads over MCUs and adds up their DC differences in `sums`. Returns the position after them, which is at most `end`. */
export function skipMcus(
  bytes: DataView,
  position: number,
  end: number,
  count: number,
  { components, dc, ac }: McuOrder,
  sums: Int32Array,
): number {
  const blocks = components.length;
  let at = position;
  for (let mcu = 0; mcu < count; mcu += 1) {
    for (let block = 0; block < blocks; block += 1) {
      const dcTable = dc[block];
      const acTable = ac[block];
      if (dcTable === undefined || acTable === undefined) return -1;
      const entry = entryAt(bytes, at, dcTable);
      const size = entry & 255;
      if (entry === 0 || size > MAX_DC_BITS) return -1;
      at += entry >> 8;
      if (size > 0) {
        const component = components[block] ?? 0;
        sums[component] = (sums[component] ?? 0) + signed(peek16(bytes, at) >> (16 - size), size);
      }
      at = skipAc(bytes, at + size, acTable);
      if (at < 0 || at > end) return -1;
    }
  }
  return at;
}

/** Writes the AC coefficients with the codes of another table that has all symbols, and returns the position after them. */
export function recodeAc(
  bytes: DataView,
  position: number,
  source: HuffmanTable,
  writer: BitWriter,
  { codes, lengths }: HuffmanTable,
): number {
  let at = position;
  let index = 1;
  while (index < BLOCK) {
    const entry = entryAt(bytes, at, source);
    const symbol = entry & 255;
    const size = symbol & 15;
    if (entry === 0 || size > MAX_AC_BITS) return -1;
    at += entry >> 8;
    if (size > 0) {
      writer.writePair(codes[symbol] ?? 0, lengths[symbol] ?? 0, peek16(bytes, at) >> (16 - size), size);
      at += size;
      index += (symbol >> 4) + 1;
      continue;
    }
    writer.write(codes[symbol] ?? 0, lengths[symbol] ?? 0);
    if (symbol === ALL_ZERO_RUN) index += 16;
    else break;
  }
  return index > BLOCK ? -1 : at;
}

/** Fills `coefficients` except the first one, in zigzag order, and returns the position after them. */
export function readAc(
  bytes: DataView,
  position: number,
  table: HuffmanTable,
  moves: CoefficientMoves,
  coefficients: Int32Array,
): number {
  coefficients.fill(0);
  return readMoved(bytes, position, table, moves, coefficients);
}

const FIRST_BIT = 0x8000_0000;
const MASK_BITS = 32;
/** The places of the values of the block that was read last, in two masks, with the first place in the highest bit. */
const lastMarks = new Int32Array(2);

/** Writes the nonzero coefficients to their places in `values`, and marks these. Returns the position after them. */
function readMoved(
  bytes: DataView,
  position: number,
  table: HuffmanTable,
  { places, signs }: CoefficientMoves,
  values: Int32Array,
): number {
  let at = position;
  let index = 1;
  let low = 0;
  let high = 0;
  while (index < BLOCK) {
    const entry = entryAt(bytes, at, table);
    if (entry === 0) return -1;
    const size = entry & 15;
    at += entry >> 8;
    if (size === 0) {
      if ((entry & 255) !== ALL_ZERO_RUN) break;
      index += 16;
      continue;
    }
    index += (entry >> 4) & 15;
    if (index >= BLOCK || size > MAX_AC_BITS) return -1;
    const place = places[index] ?? 0;
    values[place] = signed(peek16(bytes, at) >> (16 - size), size) * (signs[index] ?? 0);
    if (place < MASK_BITS) low |= FIRST_BIT >>> place;
    else high |= FIRST_BIT >>> (place - MASK_BITS);
    at += size;
    index += 1;
  }
  lastMarks[0] = low;
  lastMarks[1] = high;
  return index > BLOCK ? -1 : at;
}

/**
 * Writes the AC coefficients at other places, with the codes of another table that has all symbols, and returns the
 * position after them. Only the few nonzero ones are visited. `values` has 64 numbers, of which those at their places
 * change.
 */
export function recodeMovedAc(
  bytes: DataView,
  position: number,
  source: HuffmanTable,
  moves: CoefficientMoves,
  values: Int32Array,
  writer: BitWriter,
  output: HuffmanTable,
): number {
  const at = readMoved(bytes, position, source, moves, values);
  if (at < 0) return -1;
  const middle = writeMarked(lastMarks[0] ?? 0, 0, 0, values, writer, output);
  const last = middle < 0 ? -1 : writeMarked(lastMarks[1] ?? 0, MASK_BITS, middle, values, writer, output);
  if (last < 0) return -1;
  return last === BLOCK - 1 || writeSymbol(writer, END_OF_BLOCK, output) ? at : -1;
}

/** Writes the values at the marked places. Returns the last one, or a negative number if a code is missing. */
function writeMarked(
  marks: number,
  first: number,
  before: number,
  values: Int32Array,
  writer: BitWriter,
  table: HuffmanTable,
): number {
  let last = before;
  for (let left = marks; left !== 0; ) {
    const bit = Math.clz32(left);
    left ^= FIRST_BIT >>> bit;
    const place = first + bit;
    let zeros = place - last - 1;
    for (; zeros > 15; zeros -= 16) if (!writeSymbol(writer, ALL_ZERO_RUN, table)) return -1;
    if (!writeValue(writer, zeros << 4, values[place] ?? 0, table)) return -1;
    last = place;
  }
  return last;
}

/** Returns false if the table has no code for it. */
export function writeDifference(writer: BitWriter, difference: number, table: HuffmanTable): boolean {
  return writeValue(writer, 0, difference, table);
}

export function writeAc(writer: BitWriter, coefficients: Int32Array, table: HuffmanTable): boolean {
  let zeros = 0;
  for (let index = 1; index < BLOCK; index += 1) {
    const value = coefficients[index] ?? 0;
    if (value === 0) {
      zeros += 1;
      continue;
    }
    for (; zeros > 15; zeros -= 16) if (!writeSymbol(writer, ALL_ZERO_RUN, table)) return false;
    if (!writeValue(writer, zeros << 4, value, table)) return false;
    zeros = 0;
  }
  return zeros === 0 || writeSymbol(writer, END_OF_BLOCK, table);
}

function writeValue(writer: BitWriter, run: number, value: number, table: HuffmanTable): boolean {
  const size = 32 - Math.clz32(Math.abs(value));
  const symbol = run | size;
  const length = table.lengths[symbol] ?? 0;
  if (length === 0) return false;
  writer.writePair(table.codes[symbol] ?? 0, length, value < 0 ? value + (1 << size) - 1 : value, size);
  return true;
}

function writeSymbol(writer: BitWriter, symbol: number, { codes, lengths }: HuffmanTable): boolean {
  const length = lengths[symbol] ?? 0;
  if (length > 0) writer.write(codes[symbol] ?? 0, length);
  return length > 0;
}
