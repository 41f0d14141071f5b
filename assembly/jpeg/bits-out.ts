// Writes entropy-coded data with its stuffed bytes.

import { bits, drop, goBack, hasStuffing, position, refill } from './bits-in';

/** Less than 32 bits that aren't written yet, in the lowest bits. */
export let pending: u64 = 0;
export let pendingBits: i32 = 0;
/** The next byte. */
export let output: usize = 0;

export function startOutput(address: usize): void {
  output = address;
  pending = 0;
  pendingBits = 0;
}

// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
export function setPending(newPending: u64, newBits: i32, newOutput: usize): void {
  pending = newPending;
  pendingBits = newBits;
  output = newOutput;
}

/** Returns the address after the word. */
// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
export function writeWord(address: usize, word: u32): usize {
  if (hasStuffing(word)) return writeByBytes(address, word);
  store<u32>(address, bswap<u32>(word));
  return address + 4;
}

function writeByBytes(address: usize, word: u32): usize {
  let to = address;
  for (let shift = 24; shift >= 0; shift -= 8) {
    const byte = <u8>(word >> shift);
    store<u8>(to++, byte);
    if (byte == 0xff) store<u8>(to++, 0);
  }
  return to;
}

/** At most 32 bits. */
export function write(value: u32, size: i32): void {
  pending = (pending << size) | value;
  pendingBits += size;
  if (pendingBits < 32) return;
  pendingBits -= 32;
  output = writeWord(output, <u32>(pending >> pendingBits));
}

/** Copies the bits from the marked place of the reader to where it is. */
export function copyFromMark(): void {
  const end = position();
  goBack();
  let left = end - position();
  for (; left >= 32; left -= 32) {
    refill();
    write(<u32>(bits >> 32), 32);
    drop(32);
  }
  if (left == 0) return;
  refill();
  write(<u32>(bits >> (64 - left)), left);
  drop(left);
}

/** Fills the last byte with ones, as the standard asks for, and returns the address after it. */
export function finishOutput(): usize {
  const filling = -pendingBits & 7;
  write((1 << filling) - 1, filling);
  while (pendingBits > 0) {
    pendingBits -= 8;
    const byte = <u8>(pending >> pendingBits);
    store<u8>(output++, byte);
    if (byte == 0xff) store<u8>(output++, 0);
  }
  return output;
}
