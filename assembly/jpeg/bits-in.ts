// Reads the entropy-coded data of a scan bit by bit, and skips its stuffed bytes. It never reads past a marker: zeros follow
// the data instead, and are counted. The caller puts a marker behind the file.

/** The next bits, the first one in the highest bit. */
export let bits: u64 = 0;
/** How many of them there are. */
export let count: i32 = 0;
/** The next byte of the file. */
export let at: usize = 0;
/** Zeros that were added behind the data. */
export let padding: i32 = 0;
/** Bytes that were skipped, for `position`. */
let skipped: u32 = 0;

export function startInterval(from: usize): void {
  bits = 0;
  count = 0;
  at = from;
  padding = 0;
}

// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
export function setBits(newBits: u64, newCount: i32, newAt: usize): void {
  bits = newBits;
  count = newCount;
  at = newAt;
}

/** Returns true if one of the four bytes is 0xff. */
// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
export function hasStuffing(word: u32): bool {
  return ((~word - 0x0101_0101) & word & 0x8080_8080) != 0;
}

/** Afterwards, there are more than 32 bits. */
export function refill(): void {
  if (count > 32) return;
  const word = load<u32>(at);
  if (hasStuffing(word)) {
    refillByBytes();
    return;
  }
  bits |= <u64>bswap<u32>(word) << (32 - count);
  count += 32;
  at += 4;
}

export function refillByBytes(): void {
  while (count <= 56) {
    const byte = load<u8>(at);
    if (byte == 0xff) {
      if (load<u8>(at + 1) != 0) {
        padding += 8;
        count += 8;
        continue;
      }
      at += 1;
      skipped += 1;
    }
    at += 1;
    bits |= <u64>byte << (56 - count);
    count += 8;
  }
}

/** At most 16 bits. */
// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
export function take(size: i32): i32 {
  refill();
  const value = <i32>(bits >> (64 - size));
  bits <<= size;
  count -= size;
  return value;
}

// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
export function drop(size: i32): void {
  bits <<= size;
  count -= size;
}

/** Returns true if bits were used that the file doesn't have. */
export function isPastEnd(): bool {
  return padding > count;
}

/** In bits, without stuffing. Only differences of it mean something. */
export function position(): u32 {
  return (<u32>at - skipped) * 8 + padding - count;
}

/** Goes to the marker at the end of the interval. Returns false if it isn't the next byte, because we have misread something. */
export function finishInterval(): bool {
  if (padding == 0) refillByBytes();
  const left = count - padding;
  if (left < 0 || left >= 8 || load<u8>(at) != 0xff) return false;
  // A marker may have any number of these before it.
  while (load<u8>(at + 1) == 0xff) at += 1;
  return true;
}

/** Goes on behind a restart marker. */
export function skipMarker(): void {
  skipped += 2;
  startInterval(at + 2);
}

let savedBits: u64 = 0;
let savedCount: i32 = 0;
let savedAt: usize = 0;
let savedPadding: i32 = 0;
let savedSkipped: u32 = 0;

/** Remembers this place. */
export function mark(): void {
  savedBits = bits;
  savedCount = count;
  savedAt = at;
  savedPadding = padding;
  savedSkipped = skipped;
}

/** Goes back to the marked place. */
export function goBack(): void {
  bits = savedBits;
  count = savedCount;
  at = savedAt;
  padding = savedPadding;
  skipped = savedSkipped;
}
