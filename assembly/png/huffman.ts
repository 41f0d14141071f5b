// Builds the codes of a block from the counts of its symbols.

import {
  CODE_SHIFT,
  CODES,
  COUNTS,
  DEPTHS,
  LENGTHS,
  MATCHES,
  MAX_BITS,
  PAIRS,
  PARENTS,
  SHIFTS,
  SINGLES,
  SORTED,
  SYMBOLS,
  WEIGHTS,
} from './layout';

const MIN_MATCH: i32 = 3;
export const MAX_MATCH: i32 = 258;

/**
 * Finds code lengths of at most `MAX_BITS`. As long as the longest is too long, rare symbols are counted as if they
 * were more frequent. Every symbol gets a code, because the counts come from a sample of the rows.
 */
export function buildLengths(): void {
  let total: u32 = 0;
  for (let symbol = 0; symbol < SYMBOLS; symbol++) total += load<u32>(COUNTS + (<usize>symbol << 2));
  let floor: u32 = max<u32>(1, total >> (MAX_BITS + 2));
  while (longestCode(floor) > MAX_BITS) floor <<= 1;
}

/**
 * Runs Huffman's algorithm with two queues: the sorted symbols, and the inner nodes, which are created in sorted order.
 */
function longestCode(floor: u32): i32 {
  sortSymbols(floor);
  let leaf = 0;
  let inner = SYMBOLS;
  const root = 2 * SYMBOLS - 2;
  for (let node = SYMBOLS; node <= root; node++) {
    let weight: u32 = 0;
    for (let child = 0; child < 2; child++) {
      const takesLeaf = leaf < SYMBOLS && (inner >= node || word(WEIGHTS, leaf) <= word(WEIGHTS, inner));
      const taken = takesLeaf ? leaf++ : inner++;
      weight += word(WEIGHTS, taken);
      setWord(PARENTS, taken, node);
    }
    setWord(WEIGHTS, node, weight);
  }
  setWord(DEPTHS, root, 0);
  let longest: u32 = 0;
  for (let node = root - 1; node >= 0; node--) {
    const depth = word(DEPTHS, word(PARENTS, node)) + 1;
    setWord(DEPTHS, node, depth);
    if (node >= SYMBOLS) continue;
    setWord(LENGTHS, word(SORTED, node) & 511, depth);
    longest = max<u32>(longest, depth);
  }
  return longest;
}

/** An insertion sort of count and symbol in one word. A count fits because a strip has less than 2^23 bytes. */
function sortSymbols(floor: u32): void {
  for (let symbol = 0; symbol < SYMBOLS; symbol++) {
    const key: u32 = (max<u32>(floor, word(COUNTS, symbol)) << 9) | symbol;
    let at = symbol;
    while (at > 0 && word(SORTED, at - 1) > key) {
      setWord(SORTED, at, word(SORTED, at - 1));
      at--;
    }
    setWord(SORTED, at, key);
  }
  for (let at = 0; at < SYMBOLS; at++) setWord(WEIGHTS, at, word(SORTED, at) >> 9);
}

/** Assigns the canonical codes and fills the tables for writing. */
export function buildTables(): void {
  let code: u32 = 0;
  for (let bits = 1; bits <= MAX_BITS; bits++) {
    for (let symbol = 0; symbol < SYMBOLS; symbol++) {
      if (word(LENGTHS, symbol) == bits) setWord(CODES, symbol, reversed(code++, bits));
    }
    code <<= 1;
  }
  buildPairs();
  for (let length = MIN_MATCH; length <= MAX_MATCH; length++) setWord(MATCHES, length, matchEntry(length));
}

/**
 * Builds four entries at a time. The code of the second literal is shifted by a multiplication, because lanes can't
 * differ in shifts.
 */
function buildPairs(): void {
  for (let first = 0; first < 256; first++) {
    const length = word(LENGTHS, first);
    setWord(SINGLES, first, (word(CODES, first) << CODE_SHIFT) | length);
    setWord(SHIFTS, first, 1 << (length + CODE_SHIFT));
  }
  let entry = PAIRS;
  for (let second = 0; second < 256; second++) {
    const code = i32x4.splat(word(CODES, second));
    const length = i32x4.splat(word(LENGTHS, second));
    for (let first: usize = 0; first < 4 * 256; first += 16) {
      const single = i32x4.add(v128.load(SINGLES + first), length);
      v128.store(entry, i32x4.add(single, i32x4.mul(code, v128.load(SHIFTS + first))));
      entry += 16;
    }
  }
}

/** The only distance is 1, whose code is a single zero bit. */
function matchEntry(length: i32): u32 {
  const symbol = symbolOfMatch(length);
  const codeLength = word(LENGTHS, symbol);
  const extraBits = extraBitsOfMatch(length);
  const extra: u32 = (length - MIN_MATCH) & ((1 << extraBits) - 1);
  return ((word(CODES, symbol) | (extra << codeLength)) << CODE_SHIFT) | (codeLength + extraBits + 1);
}

export function symbolOfMatch(length: i32): i32 {
  const offset = length - MIN_MATCH;
  if (length == MAX_MATCH) return 285;
  if (offset < 8) return 257 + offset;
  const extraBits = extraBitsOfMatch(length);
  return 261 + 4 * extraBits + ((offset >> extraBits) & 3);
}

function extraBitsOfMatch(length: i32): i32 {
  const offset = length - MIN_MATCH;
  return length == MAX_MATCH || offset < 8 ? 0 : 29 - clz(offset);
}

export function reversed(code: u32, bits: i32): u32 {
  let result: u32 = 0;
  for (let bit = 0; bit < bits; bit++) result |= ((code >> bit) & 1) << (bits - 1 - bit);
  return result;
}

// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
export function word(table: usize, index: i32): u32 {
  return load<u32>(table + (<usize>index << 2));
}

// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
export function setWord(table: usize, index: i32, value: u32): void {
  store<u32>(table + (<usize>index << 2), value);
}
