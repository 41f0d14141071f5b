// Reads the part of a block that a scan holds (ITU-T T.81: sequential scans in F.2, progressive ones in G.2). Coefficients
// are in zigzag order. False means that the data isn't what an encoder would have written.

import { at, bits, count, drop, hasStuffing, refill, refillByBytes, setBits, take } from './bits-in';
import { Source } from './components';
import { CODE_ONLY, entryAt, LENGTH_MASK, signed } from './tables';

const BLOCK: i32 = 64;
/** The largest difference of DC values in 8-bit images has 11 bits, the largest AC coefficient 10. */
const MAX_DC_BITS: i32 = 11;
const MAX_AC_BITS: i32 = 10;
const MAX_DC: i32 = 2_047;
const MAX_AC: i32 = 1_023;
const ALL_ZERO_RUN: i32 = 0xf0;

/** The coefficients of a progressive scan, and by how many bits they are shifted. */
let spectralStart: i32 = 0;
let spectralEnd: i32 = 63;
let shift: i32 = 0;
/** How many of the next blocks have no further coefficients. */
let endOfBandRun: i32 = 0;

export function setBand(start: i32, end: i32, low: i32): void {
  spectralStart = start;
  spectralEnd = end;
  shift = low;
}

export function endRun(): void {
  endOfBandRun = 0;
}

/** The bit reader is kept in local variables, because this reads most photos. */
export function readSequential(block: usize, source: Source): bool {
  refill();
  let entry = entryAt(source.dcTable, bits);
  const difference = takeDifference(entry);
  const dc = source.dc + difference;
  if (entry == 0 || difference > MAX_DC * 2 || dc < -MAX_DC || dc > MAX_DC) return false;
  source.dc = dc;
  store<i16>(block, <i16>dc);
  const table = source.acTable;
  let next = bits;
  let left = count;
  let from = at;
  let index = 1;
  while (index < BLOCK) {
    if (left <= 32) {
      const word = load<u32>(from);
      if (hasStuffing(word)) {
        setBits(next, left, from);
        refillByBytes();
        next = bits;
        left = count;
        from = at;
      } else {
        next |= <u64>bswap<u32>(word) << (32 - left);
        left += 32;
        from += 4;
      }
    }
    entry = entryAt(table, next);
    const length = entry & LENGTH_MASK;
    next <<= length;
    left -= length;
    if ((entry & CODE_ONLY) == 0) {
      index += (entry >> 8) & 15;
      if (entry == 0 || index >= BLOCK) return false;
      store<i16>(block + (index << 1), <i16>(<i32>entry >> 16));
      index += 1;
      continue;
    }
    const symbol = (entry >> 8) & 255;
    const size = symbol & 15;
    if (size == 0) {
      if (symbol != ALL_ZERO_RUN) break;
      index += 16;
      continue;
    }
    index += symbol >> 4;
    if (index >= BLOCK || <i32>size > MAX_AC_BITS) return false;
    store<i16>(block + (index << 1), <i16>signed(<i32>(next >> (64 - size)), size));
    next <<= size;
    left -= size;
    index += 1;
  }
  setBits(next, left, from);
  return index <= BLOCK;
}

/** The difference that follows a code; more than possible if the code is wrong. */
function takeDifference(entry: u32): i32 {
  drop(entry & LENGTH_MASK);
  if ((entry & CODE_ONLY) == 0) return <i32>entry >> 16;
  const size = <i32>(entry >> 8) & 255;
  if (size > MAX_DC_BITS) return i32.MAX_VALUE >> 1;
  if (size == 0) return 0;
  const value = signed(<i32>(bits >> (64 - size)), size);
  drop(size);
  return value;
}

export function readDcFirst(block: usize, source: Source): bool {
  refill();
  const entry = entryAt(source.dcTable, bits);
  const difference = takeDifference(entry);
  const dc = source.dc + difference;
  const value = dc << shift;
  if (entry == 0 || difference > MAX_DC * 2 || value < -MAX_DC || value > MAX_DC) return false;
  source.dc = dc;
  store<i16>(block, <i16>value);
  return true;
}

export function readDcRefinement(block: usize, _source: Source): bool {
  if (take(1) != 0) store<i16>(block, <i16>(<i32>load<i16>(block) | (1 << shift)));
  return true;
}

export function readAcFirst(block: usize, source: Source): bool {
  if (endOfBandRun > 0) {
    endOfBandRun -= 1;
    return true;
  }
  const end = spectralEnd;
  for (let index = spectralStart; index <= end; ) {
    const symbol = takeSymbol(source.acTable);
    if (symbol < 0) return false;
    const run = symbol >> 4;
    const size = symbol & 15;
    if (size == 0 && run < 15) {
      endOfBandRun = (run == 0 ? 1 : (1 << run) + take(run)) - 1;
      return true;
    }
    index += run;
    if (index > end) return false;
    if (size > 0) {
      const value = signed(take(size), size) << shift;
      if (value < -MAX_AC || value > MAX_AC) return false;
      store<i16>(block + (index << 1), <i16>value);
    }
    index += 1;
  }
  return true;
}

/** Returns a negative number if the next bits are no code. */
function takeSymbol(table: usize): i32 {
  refill();
  const entry = entryAt(table, bits);
  if (entry == 0) return -1;
  if ((entry & CODE_ONLY) != 0) {
    drop(entry & LENGTH_MASK);
    return <i32>(entry >> 8) & 255;
  }
  // The entry includes the value, which is read apart here.
  const value = <i32>entry >> 16;
  const size = 32 - clz<i32>(abs<i32>(value));
  drop((entry & LENGTH_MASK) - size);
  return <i32>(((entry >> 8) & 15) << 4) | size;
}

export function readAcRefinement(block: usize, source: Source): bool {
  const end = spectralEnd;
  let index = spectralStart;
  if (endOfBandRun == 0) {
    while (index <= end) {
      const symbol = takeSymbol(source.acTable);
      if (symbol < 0 || (symbol & 15) > 1) return false;
      const run = symbol >> 4;
      const isNew = (symbol & 15) == 1;
      if (!isNew && run < 15) {
        endOfBandRun = run == 0 ? 1 : (1 << run) + take(run);
        break;
      }
      const value = isNew ? (take(1) != 0 ? 1 << shift : -(1 << shift)) : 0;
      index = refine(block, index, run);
      if (isNew) {
        if (index > end) return false;
        store<i16>(block + (index << 1), <i16>value);
      }
      index += 1;
    }
  }
  if (endOfBandRun > 0) {
    refine(block, index, BLOCK);
    endOfBandRun -= 1;
  }
  return true;
}

/** Adds a bit to each coefficient that isn't zero, up to the zero after `zeros` others. Returns the index of that. */
function refine(block: usize, from: i32, zeros: i32): i32 {
  const end = spectralEnd;
  const bit = 1 << shift;
  let left = zeros;
  let index = from;
  for (; index <= end; index++) {
    const value = <i32>load<i16>(block + (index << 1));
    if (value == 0) {
      left -= 1;
      if (left < 0) break;
    } else if (take(1) != 0 && (value & bit) == 0) {
      store<i16>(block + (index << 1), <i16>(value + (value > 0 ? bit : -bit)));
    }
  }
  return index;
}
