// The Huffman tables of the output: those of the source with codes for all symbols, or new ones for counted symbols.

import type { HuffmanSpec } from './segments.ts';

export type TableKind = 'dc' | 'ac';

/** Every symbol that an 8-bit image can need. */
const SYMBOLS: Readonly<Record<TableKind, readonly number[]>> = {
  dc: Array.from({ length: 12 }, (_, size) => size),
  ac: [0, 0xf0, ...Array.from({ length: 160 }, (_, index) => (Math.floor(index / 10) << 4) | ((index % 10) + 1))],
};
const LONGEST = 16;

export interface ExtendedSpec extends HuffmanSpec {
  /** The codes of the source are still the same, so its bits can be copied. */
  readonly keepsCodes: boolean;
}

/**
 * Adds the missing symbols with codes of 16 bits. If there is no room for them, the rarest existing code that makes
 * enough room becomes a bit longer. That changes other codes as well, but hardly the size of the file.
 */
export function extend(spec: HuffmanSpec, kind: TableKind): ExtendedSpec | undefined {
  const known = new Set(spec.symbols);
  const missing = SYMBOLS[kind].filter((symbol) => !known.has(symbol));
  const counts = Uint8Array.from(spec.counts);
  // A code of only ones is reserved.
  const used = counts.reduce((sum, count, index) => sum + count * 2 ** (LONGEST - 1 - index), 1);
  const lacking = missing.length - (2 ** LONGEST - used);
  const longCodes = (counts[LONGEST - 1] ?? 0) + missing.length;
  if (longCodes > 255 || spec.symbols.length + missing.length > 256) return undefined;
  if (lacking > 0 && missing.length > 0 && !lengthenOne(counts, lacking)) return undefined;
  counts[LONGEST - 1] = (counts[LONGEST - 1] ?? 0) + missing.length;
  const symbols = Uint8Array.from([...spec.symbols, ...missing]);
  return { counts, symbols, keepsCodes: lacking <= 0 || missing.length === 0 };
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

interface Node {
  count: number;
  /** Its symbols with the lengths of their codes. */
  readonly symbols: { readonly symbol: number; length: number }[];
}

/** A symbol that is never written takes the code of only ones. */
const RESERVED = 256;

/** The shortest codes for symbols that occur this often (ITU-T T.81, K.2). */
export function optimalSpec(occurrences: Uint32Array): HuffmanSpec {
  const nodes: Node[] = [{ count: 0.5, symbols: [{ symbol: RESERVED, length: 0 }] }];
  for (const [symbol, count] of occurrences.entries()) {
    if (count > 0) nodes.push({ count, symbols: [{ symbol, length: 0 }] });
  }
  while (nodes.length > 1) {
    nodes.sort((a, b) => b.count - a.count);
    const [last, other] = [nodes.pop(), nodes.at(-1)];
    if (last === undefined || other === undefined) break;
    other.count += last.count;
    other.symbols.push(...last.symbols);
    for (const symbol of other.symbols) symbol.length += 1;
  }
  const [root] = nodes;
  const sorted = (root?.symbols ?? []).toSorted((a, b) => a.length - b.length || a.symbol - b.symbol);
  return {
    counts: limitedLengths(sorted.map(({ length }) => length)),
    symbols: Uint8Array.from(sorted.map(({ symbol }) => symbol).filter((symbol) => symbol !== RESERVED)),
  };
}

/** The number of codes per length, none longer than 16 bits and without the reserved one, which is one of the longest. */
function limitedLengths(lengths: readonly number[]): Uint8Array {
  const counts = new Uint32Array(257);
  for (const length of lengths) counts[length] = (counts[length] ?? 0) + 1;
  for (let length = 256; length > LONGEST; length -= 1) {
    while ((counts[length] ?? 0) > 0) {
      // A pair of codes goes: one of them moves up to its prefix, the other one becomes the neighbor of a shorter code.
      let shorter = length - 2;
      while (counts[shorter] === 0) shorter -= 1;
      counts[length] = (counts[length] ?? 0) - 2;
      counts[length - 1] = (counts[length - 1] ?? 0) + 1;
      counts[shorter + 1] = (counts[shorter + 1] ?? 0) + 2;
      counts[shorter] = (counts[shorter] ?? 0) - 1;
    }
  }
  let longest = LONGEST;
  while (longest > 0 && counts[longest] === 0) longest -= 1;
  counts[longest] = (counts[longest] ?? 0) - 1;
  return Uint8Array.from(counts.subarray(1, LONGEST + 1));
}
