// Huffman tables for reading and for writing. Both are made from a table as it is stored in a file.

/** Where the caller writes a table: the number of codes per length, then the symbols. */
export const SPEC: usize = memory.data(16 + 256);

const TABLES: usize = 8;
const FAST_BITS: i32 = 10;
const FAST_SHIFT: i32 = 64 - FAST_BITS;
const LONGEST: i32 = 16;

/** By the next bits: 0 for longer codes, otherwise an entry. */
const FAST_BYTES: usize = 4 << FAST_BITS;
/** For each length: what 16 bits are below if their code isn't longer, and the index of its first symbol minus its first code. */
const LIMITS: usize = FAST_BYTES;
const OFFSETS: usize = LIMITS + 4 * 17;
const SYMBOLS: usize = OFFSETS + 4 * 17;
const TABLE_BYTES: usize = 8 * 1_024;
const READ_TABLES: usize = memory.data(8 * 8 * 1_024);

const CODES_BYTES: usize = 4 * 256;
const WRITE_TABLES: usize = memory.data(8 * 4 * 256);
/** How often each symbol of a table is written. */
export const SYMBOL_COUNTS: usize = memory.data(8 * 4 * 256);

/**
 * An entry has the number of bits in its lowest 7 bits. With `CODE_ONLY`, they are those of the code, and its symbol is above
 * bit 8. Otherwise they include those of the value, which is above bit 16, and the run of zeros before it is above bit 8.
 */
export const CODE_ONLY: u32 = 0x80;
export const LENGTH_MASK: u32 = 0x7f;

/** Tables 0 to 3 are for DC values, 4 to 7 for AC coefficients. */
export function readTable(index: i32): usize {
  return READ_TABLES + <usize>index * TABLE_BYTES;
}

export function writeTable(index: i32): usize {
  return WRITE_TABLES + <usize>index * CODES_BYTES;
}

export function countsOf(index: i32): usize {
  return SYMBOL_COUNTS + <usize>index * CODES_BYTES;
}

export function clearCounts(): void {
  memory.fill(SYMBOL_COUNTS, 0, TABLES * CODES_BYTES);
}

/** Returns false if the lengths describe no valid code. */
export function loadReadTable(index: i32): bool {
  const table = readTable(index);
  memory.fill(table, 0, FAST_BYTES);
  let code: u32 = 0;
  let next: i32 = 0;
  for (let length = 1; length <= LONGEST; length++) {
    store<i32>(table + OFFSETS + (<usize>length << 2), next - <i32>code);
    for (let left = <i32>load<u8>(SPEC + length - 1); left > 0; left--) {
      if (code >= <u32>1 << length || next > 255) return false;
      const symbol = load<u8>(SPEC + 16 + next);
      store<u8>(table + SYMBOLS + next, symbol);
      if (length <= FAST_BITS) fillEntries(table, code, length, symbol);
      code += 1;
      next += 1;
    }
    // A code of only ones is reserved, and decoders refuse tables that use it.
    if (load<u8>(SPEC + length - 1) > 0 && code >= <u32>1 << length) return false;
    store<u32>(table + LIMITS + (<usize>length << 2), code << (LONGEST - length));
    code <<= 1;
  }
  return true;
}

function fillEntries(table: usize, code: u32, length: i32, symbol: u32): void {
  const first = code << (FAST_BITS - length);
  const end = (code + 1) << (FAST_BITS - length);
  const size = <i32>symbol & 15;
  for (let index = first; index < end; index++) {
    let entry = CODE_ONLY | length | (symbol << 8);
    if (size > 0 && length + size <= FAST_BITS) {
      const value = signed((index >> (FAST_BITS - length - size)) & ((1 << size) - 1), size);
      entry = (length + size) | ((symbol >> 4) << 8) | (<u32>value << 16);
    }
    store<u32>(table + (<usize>index << 2), entry);
  }
}

// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
export function signed(value: i32, size: i32): i32 {
  return value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
}

/** The entry for the next bits, or 0 if they are no code. */
// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
export function entryAt(table: usize, bits: u64): u32 {
  const entry = load<u32>(table + (<usize>(bits >> FAST_SHIFT) << 2));
  return entry != 0 ? entry : longEntry(table, <u32>(bits >> 48));
}

function longEntry(table: usize, bits: u32): u32 {
  for (let length = FAST_BITS + 1; length <= LONGEST; length++) {
    if (bits >= load<u32>(table + LIMITS + (<usize>length << 2))) continue;
    const index = load<i32>(table + OFFSETS + (<usize>length << 2)) + <i32>(bits >> (LONGEST - length));
    return CODE_ONLY | length | (<u32>load<u8>(table + SYMBOLS + index) << 8);
  }
  return 0;
}

/** The code of each symbol above bit 8, and its length; 0 if it has none. */
export function loadWriteTable(index: i32): void {
  const table = writeTable(index);
  memory.fill(table, 0, CODES_BYTES);
  let code: u32 = 0;
  let next: usize = 0;
  for (let length: u32 = 1; length <= <u32>LONGEST; length++) {
    for (let left = load<u8>(SPEC + length - 1); left > 0; left--) {
      const symbol = <usize>load<u8>(SPEC + 16 + next);
      store<u32>(table + (symbol << 2), (code << 8) | length);
      code += 1;
      next += 1;
    }
    code <<= 1;
  }
}
