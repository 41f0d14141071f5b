// Compresses the rows of a PNG: filters them and writes a deflate stream of literals and zero runs. A strip of rows is
// one block with its own Huffman codes. Compiled by `npm run generate`; src/engine/raster/png/encoder.ts calls it.

import { addToAdler, high, low, setAdler } from './adler';
import { filterRow, magnitude, PAETH } from './filters';
import { buildLengths, buildTables, MAX_MATCH, reversed, setWord, symbolOfMatch, word } from './huffman';
import { ABOVE, CODE_SHIFT, CODES, COUNTS, LENGTHS, MATCHES, OUTPUT, PAIRS, ROW, SYMBOLS } from './layout';

export { MEMORY_BYTES, OUTPUT, STRIP_CAPACITY } from './layout';
/** The address to which the caller writes the rows of a strip. */
export const STRIP: usize = ABOVE + 65_535 * 4;

const END_OF_BLOCK: i32 = 256;
const LENGTH_MASK: u64 = (1 << CODE_SHIFT) - 1;
/** The counts come from every 16th row. A strip with few rows is sampled more densely. */
const SAMPLE_STEP: i32 = 16;
const MIN_SAMPLES: i32 = 8;

/** Bits that don't fill a byte yet. At most 7 between two calls. */
let pending: u64 = 0;
let pendingBits: u32 = 0;
let output: usize = 0;

/** Starts a new image, whose first row has zeros above it. */
export function start(stride: i32): void {
  memory.fill(STRIP - stride - 16, 0, stride + 16);
  pending = 0;
  pendingBits = 0;
  setAdler(1, 0);
}

/** Compresses the strip into one block at `OUTPUT`, and returns its length in bytes. */
export function encodeStrip(rows: i32, stride: i32, bytesPerPixel: i32, isLast: bool): i32 {
  const savedLow = low;
  const savedHigh = high;
  const savedBits = pending;
  const savedCount = pendingBits;
  const step = max<i32>(1, min<i32>(SAMPLE_STEP, rows / MIN_SAMPLES));
  const filter = chooseFilter(rows, stride, bytesPerPixel, min<i32>(4 * step, max<i32>(1, rows / 4)));
  countSymbols(filter, rows, stride, bytesPerPixel, step);
  writeBlock(filter, rows, stride, bytesPerPixel, isLast);
  if (step > 1 && output - OUTPUT > <usize>(rows * (stride + 1))) {
    // The sample was misleading, and the codes don't fit the strip. With exact counts, it hardly grows.
    setAdler(savedLow, savedHigh);
    pending = savedBits;
    pendingBits = savedCount;
    countSymbols(filter, rows, stride, bytesPerPixel, 1);
    writeBlock(filter, rows, stride, bytesPerPixel, isLast);
  }
  memory.copy(STRIP - stride, STRIP + (rows - 1) * stride, stride);
  if (isLast) finishStream();
  return <i32>(output - OUTPUT);
}

/** Chooses the filter whose rows are closest to zero in the sample. */
function chooseFilter(rows: i32, stride: i32, bytesPerPixel: i32, step: i32): i32 {
  let best = PAETH;
  let smallest: u64 = u64.MAX_VALUE;
  for (let choice = 0; choice < 3; choice++) {
    const filter = choice == 0 ? PAETH : choice;
    let sum: u64 = 0;
    for (let row = step >> 1; row < rows; row += step) {
      filterRow(filter, STRIP + row * stride, stride, bytesPerPixel);
      sum += magnitude(stride);
    }
    if (sum < smallest) {
      smallest = sum;
      best = filter;
    }
  }
  return best;
}

function countSymbols(filter: i32, rows: i32, stride: i32, bytesPerPixel: i32, step: i32): void {
  for (let symbol = 0; symbol < SYMBOLS; symbol++) setWord(COUNTS, symbol, 1);
  for (let row = step >> 1; row < rows; row += step) {
    filterRow(filter, STRIP + row * stride, stride, bytesPerPixel);
    countRow(ROW - 1, ROW + stride);
  }
}

function countRow(from: usize, end: usize): void {
  let at = from;
  while (at + 8 <= end) {
    if (load<u64>(at) == 0) {
      const run = zeroRun(at, end);
      count(0);
      for (let rest = run - 1; rest > 0; ) {
        const length = nextMatch(rest);
        count(symbolOfMatch(length));
        rest -= length;
      }
      at += run;
    } else {
      for (const next = at + 8; at < next; at++) count(load<u8>(at));
    }
  }
  for (; at < end; at++) count(load<u8>(at));
}

// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
function count(symbol: i32): void {
  setWord(COUNTS, symbol, word(COUNTS, symbol) + 1);
}

function zeroRun(from: usize, end: usize): i32 {
  let at = from + 8;
  while (at + 8 <= end && load<u64>(at) == 0) at += 8;
  while (at < end && load<u8>(at) == 0) at++;
  return <i32>(at - from);
}

/** The length of the next match. It never leaves a rest that is too short for another one. */
// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
function nextMatch(rest: i32): i32 {
  return rest <= MAX_MATCH ? rest : rest < MAX_MATCH + 3 ? rest - 3 : MAX_MATCH;
}

function writeBlock(filter: i32, rows: i32, stride: i32, bytesPerPixel: i32, isLast: bool): void {
  output = OUTPUT;
  buildLengths();
  buildTables();
  writeHeader(isLast);
  for (let row = 0; row < rows; row++) {
    filterRow(filter, STRIP + row * stride, stride, bytesPerPixel);
    addToAdler(ROW - 1, ROW + stride);
    writeRow(ROW - 1, ROW + stride);
  }
  writeBits(word(CODES, END_OF_BLOCK), word(LENGTHS, END_OF_BLOCK));
}

/** The code lengths themselves are written with four bits each, which is simple and costs a few dozen bytes. */
function writeHeader(isLast: bool): void {
  const codeLengthCodes = 19;
  writeBits(isLast ? 0b101 : 0b100, 3);
  writeBits(SYMBOLS - 257, 5);
  writeBits(0, 5);
  writeBits(codeLengthCodes - 4, 4);
  // The first three codes are for repetitions, which aren't used.
  for (let index = 0; index < codeLengthCodes; index++) writeBits(index < 3 ? 0 : 4, 3);
  for (let symbol = 0; symbol < SYMBOLS; symbol++) writeBits(reversed(word(LENGTHS, symbol), 4), 4);
  // The only distance has a code of one bit.
  writeBits(reversed(1, 4), 4);
}

function writeBits(code: u32, length: u32): void {
  pending |= <u64>code << pendingBits;
  pendingBits += length;
  store<u64>(output, pending);
  output += pendingBits >> 3;
  pending >>= pendingBits & ~7;
  pendingBits &= 7;
}

/** This is the hot loop. It handles eight bytes at a time: four pairs of literals, or a run if all eight are zero. */
function writeRow(from: usize, end: usize): void {
  let bits = pending;
  let bitCount: u64 = pendingBits;
  let out = output;
  let at = from;
  while (at + 8 <= end) {
    const bytes = load<u64>(at);
    if (bytes == 0) {
      const run = zeroRun(at, end);
      pending = bits;
      pendingBits = <u32>bitCount;
      output = out;
      writeRun(run);
      bits = pending;
      bitCount = pendingBits;
      out = output;
      at += run;
      continue;
    }
    const first: u64 = load<u32>(PAIRS + <usize>((bytes & 0xffff) << 2));
    const second: u64 = load<u32>(PAIRS + <usize>(((bytes >> 16) & 0xffff) << 2));
    const third: u64 = load<u32>(PAIRS + <usize>(((bytes >> 32) & 0xffff) << 2));
    const fourth: u64 = load<u32>(PAIRS + <usize>((bytes >> 48) << 2));
    // Shifts use only the lowest six bits of an entry, which are its length.
    let lowCode = (first >> CODE_SHIFT) | ((second >> CODE_SHIFT) << first);
    const highCode = (third >> CODE_SHIFT) | ((fourth >> CODE_SHIFT) << third);
    const lowLength = (first + second) & LENGTH_MASK;
    const highLength = (third + fourth) & LENGTH_MASK;
    if (lowLength + highLength <= 56) {
      lowCode |= highCode << lowLength;
      bits |= lowCode << bitCount;
      bitCount += lowLength + highLength;
    } else {
      bits |= lowCode << bitCount;
      bitCount += lowLength;
      store<u64>(out, bits);
      out += <usize>(bitCount >> 3);
      bits >>= bitCount & 56;
      bitCount &= 7;
      bits |= highCode << bitCount;
      bitCount += highLength;
    }
    store<u64>(out, bits);
    out += <usize>(bitCount >> 3);
    bits >>= bitCount & 56;
    bitCount &= 7;
    at += 8;
  }
  pending = bits;
  pendingBits = <u32>bitCount;
  output = out;
  for (; at < end; at++) writeBits(word(CODES, load<u8>(at)), word(LENGTHS, load<u8>(at)));
}

function writeRun(run: i32): void {
  writeBits(word(CODES, 0), word(LENGTHS, 0));
  for (let rest = run - 1; rest > 0; ) {
    const length = nextMatch(rest);
    const entry = word(MATCHES, length);
    writeBits(entry >> CODE_SHIFT, entry & <u32>LENGTH_MASK);
    rest -= length;
  }
}

/** Fills the last byte and appends the checksum. */
function finishStream(): void {
  if (pendingBits > 0) output++;
  pending = 0;
  pendingBits = 0;
  store<u32>(output, bswap<u32>((high << 16) | low));
  output += 4;
}
