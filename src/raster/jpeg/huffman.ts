// Huffman tables for reading and for writing. An optimized table has codes only for the symbols of its image, so it is
// extended with the others before bars are drawn.

import type { HuffmanSpec } from './headers.ts';

export interface HuffmanTable {
  /** Indexed by the next 16 bits: the length of the code above bit 8, and the symbol. 0 if there is no such code. */
  readonly decode: Uint16Array;
  /**
   * The same for codes of at most `FAST_BITS` bits, indexed by that many bits. It is small enough for the processor's
   * first-level cache.
   */
  readonly fast: Uint16Array;
  /**
   * For AC codes, indexed as in `fast`: the bits of the code and its value above bit 8, and how far it moves in the
   * block.
   */
  readonly skip: Uint16Array;
  /** Indexed by symbol. The length is 0 if the symbol has no code. */
  readonly codes: Uint16Array;
  readonly lengths: Uint8Array;
}

export const FAST_BITS = 10;
/** How far `END_OF_BLOCK` moves, which distinguishes it from the last coefficient. */
export const TO_THE_END = 128;
const ALL_ZERO_RUN = 0xf0;

/** Returns `undefined` if the lengths describe no valid code. */
export function buildTable({ counts, symbols }: HuffmanSpec): HuffmanTable | undefined {
  const decode = new Uint16Array(65_536);
  const codes = new Uint16Array(256);
  const lengths = new Uint8Array(256);
  let code = 0;
  let next = 0;
  for (let length = 1; length <= 16; length += 1) {
    for (let count = counts[length - 1] ?? 0; count > 0; count -= 1) {
      const symbol = symbols[next] ?? 0;
      if (code >= 1 << length || lengths[symbol] !== 0) return undefined;
      codes[symbol] = code;
      lengths[symbol] = length;
      decode.fill((length << 8) | symbol, code << (16 - length), (code + 1) << (16 - length));
      code += 1;
      next += 1;
    }
    // A code of only ones is reserved, and decoders refuse tables that use it.
    if ((counts[length - 1] ?? 0) > 0 && code >= 1 << length) return undefined;
    code <<= 1;
  }
  const fast = new Uint16Array(1 << FAST_BITS);
  const skip = new Uint16Array(1 << FAST_BITS);
  for (let bits = 0; bits < fast.length; bits += 1) {
    const entry = decode[bits << (16 - FAST_BITS)] ?? 0;
    if (entry === 0 || entry >> 8 > FAST_BITS) continue;
    fast[bits] = entry;
    skip[bits] = (((entry >> 8) + (entry & 15)) << 8) | distanceOf(entry & 255);
  }
  return { decode, fast, skip, codes, lengths };
}

function distanceOf(symbol: number): number {
  if ((symbol & 15) > 0) return (symbol >> 4) + 1;
  return symbol === ALL_ZERO_RUN ? 16 : TO_THE_END;
}

/** Every symbol that an 8-bit image can need. */
const DC_SYMBOLS = Array.from({ length: 12 }, (_, size) => size);
const AC_SYMBOLS = [
  0,
  0xf0,
  ...Array.from({ length: 160 }, (_, index) => (Math.floor(index / 10) << 4) | ((index % 10) + 1)),
];
const LONGEST = 16;

export interface ExtendedSpec {
  readonly spec: HuffmanSpec;
  /** True if the codes of the source are still the same, so its bits can be copied. */
  readonly keepsCodes: boolean;
}

/**
 * Adds the missing symbols with codes of 16 bits. If there is no room for them, the rarest existing code that makes
 * enough room becomes a bit longer. That changes other codes as well, but hardly the size of the file.
 */
export function extend(spec: HuffmanSpec): ExtendedSpec | undefined {
  const known = new Set(spec.symbols);
  const missing = (spec.id >> 4 === 0 ? DC_SYMBOLS : AC_SYMBOLS).filter((symbol) => !known.has(symbol));
  const counts = Uint8Array.from(spec.counts);
  // A code of only ones is reserved.
  const used = counts.reduce((sum, count, index) => sum + count * 2 ** (LONGEST - 1 - index), 1);
  const lacking = missing.length - (2 ** LONGEST - used);
  const longCodes = (counts[LONGEST - 1] ?? 0) + missing.length;
  if (longCodes > 255 || spec.symbols.length + missing.length > 256) return undefined;
  if (lacking > 0 && missing.length > 0 && !lengthenOne(counts, lacking)) return undefined;
  counts[LONGEST - 1] = (counts[LONGEST - 1] ?? 0) + missing.length;
  const symbols = Uint8Array.from([...spec.symbols, ...missing]);
  return { spec: { id: spec.id, counts, symbols }, keepsCodes: lacking <= 0 || missing.length === 0 };
}

/** Symbols are ordered by length, so the last one of a length becomes the first one of the next without moving. */
function lengthenOne(counts: Uint8Array, lacking: number): boolean {
  for (let length = LONGEST - 1; length >= 1; length -= 1) {
    const count = counts[length - 1] ?? 0;
    if (count === 0 || 2 ** (LONGEST - length - 1) < lacking) continue;
    counts[length - 1] = count - 1;
    counts[length] = (counts[length] ?? 0) + 1;
    return true;
  }
  return false;
}
