// Counts and writes the symbols of a block. Only the few coefficients that aren't zero are visited.

import { output, pending, pendingBits, setPending, writeWord } from './bits-out';
import { Output } from './components';
import { countsOf, writeTable } from './tables';

const ALL_ZERO_RUN: usize = 0xf0;
const END_OF_BLOCK: usize = 0;
const LAST: i32 = 63;

/** True if a symbol had no code. */
export let lacksCode: bool = false;

export function expectCodes(): void {
  lacksCode = false;
}

/** One bit for each coefficient that isn't zero; the first one in the lowest bit. */
// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
export function marksOf(block: usize): u64 {
  return (
    <u64>marks16(block) | (<u64>marks16(block + 32) << 16) | (<u64>marks16(block + 64) << 32) | (<u64>marks16(block + 96) << 48)
  );
}

// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
function marks16(from: usize): u32 {
  const zero = i16x8.splat(0);
  return <u32>(
    i8x16.bitmask(i8x16.narrow_i16x8_s(i16x8.ne(v128.load(from), zero), i16x8.ne(v128.load(from, 16), zero)))
  );
}

// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
function sizeOf(value: i32): i32 {
  return 32 - clz<i32>(abs<i32>(value));
}

export function countBlock(block: usize, component: Output): void {
  const dc = <i32>load<i16>(block);
  count(countsOf(component.dcTable), sizeOf(dc - component.dc));
  component.dc = dc;
  const counts = countsOf(4 + component.acTable);
  let last = 0;
  for (let marks = marksOf(block) & ~1; marks != 0; marks &= marks - 1) {
    const index = <i32>ctz<u64>(marks);
    let zeros = index - last - 1;
    for (; zeros > 15; zeros -= 16) count(counts, ALL_ZERO_RUN);
    count(counts, (zeros << 4) | sizeOf(<i32>load<i16>(block + (index << 1))));
    last = index;
  }
  if (last < LAST) count(counts, END_OF_BLOCK);
}

// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
function count(counts: usize, symbol: usize): void {
  const at = counts + (symbol << 2);
  store<u32>(at, load<u32>(at) + 1);
}

/** The bit writer is kept in local variables. */
export function writeBlock(block: usize, component: Output): void {
  let bits = pending;
  let left = pendingBits;
  let to = output;
  const dc = <i32>load<i16>(block);
  const difference = dc - component.dc;
  component.dc = dc;
  let size = sizeOf(difference);
  let code = load<u32>(writeTable(component.dcTable) + (size << 2));
  let isMissing = code == 0;
  let length = <i32>(code & 255);
  bits = (((bits << length) | (code >> 8)) << size) | <u64>ones(difference, size);
  left += length + size;
  if (left >= 32) {
    left -= 32;
    to = writeWord(to, <u32>(bits >> left));
  }
  const codes = writeTable(4 + component.acTable);
  let last = 0;
  for (let marks = marksOf(block) & ~1; marks != 0; marks &= marks - 1) {
    const index = <i32>ctz<u64>(marks);
    let zeros = index - last - 1;
    for (; zeros > 15; zeros -= 16) {
      code = load<u32>(codes + (ALL_ZERO_RUN << 2));
      isMissing = isMissing || code == 0;
      length = <i32>(code & 255);
      bits = (bits << length) | (code >> 8);
      left += length;
      if (left >= 32) {
        left -= 32;
        to = writeWord(to, <u32>(bits >> left));
      }
    }
    const value = <i32>load<i16>(block + (index << 1));
    size = sizeOf(value);
    code = load<u32>(codes + (((zeros << 4) | size) << 2));
    isMissing = isMissing || code == 0;
    length = <i32>(code & 255);
    bits = (((bits << length) | (code >> 8)) << size) | <u64>ones(value, size);
    left += length + size;
    if (left >= 32) {
      left -= 32;
      to = writeWord(to, <u32>(bits >> left));
    }
    last = index;
  }
  if (last < LAST) {
    code = load<u32>(codes);
    isMissing = isMissing || code == 0;
    length = <i32>(code & 255);
    bits = (bits << length) | (code >> 8);
    left += length;
    if (left >= 32) {
      left -= 32;
      to = writeWord(to, <u32>(bits >> left));
    }
  }
  setPending(bits, left, to);
  if (isMissing) lacksCode = true;
}

/** The bits of a value: negative ones are one less. */
// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
function ones(value: i32, size: i32): u32 {
  return <u32>(value + (value >> 31)) & ((<u32>1 << size) - 1);
}
