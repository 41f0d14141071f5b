// Computes the Adler-32 of the filtered rows, 16 bytes at a time.

const MODULUS: u32 = 65_521;
/**
 * The maximum number of bytes before the sums must be reduced, so that they fit into 32 bits. It is a multiple of 16.
 */
const MAX_CHUNK: usize = 5_552;

export let low: u32 = 1;
export let high: u32 = 0;

export function setAdler(newLow: u32, newHigh: u32): void {
  low = newLow;
  high = newHigh;
}

export function addToAdler(start: usize, end: usize): void {
  let at = start;
  while (at < end) {
    const chunkEnd = min<usize>(end, at + MAX_CHUNK);
    addChunk(at, chunkEnd);
    at = chunkEnd;
  }
}

function addChunk(start: usize, end: usize): void {
  const weightsLow = i16x8(16, 15, 14, 13, 12, 11, 10, 9);
  const weightsHigh = i16x8(8, 7, 6, 5, 4, 3, 2, 1);
  const blocks = (end - start) >> 4;
  let sums = i32x4(0, 0, 0, 0);
  let sumsBefore = i32x4(0, 0, 0, 0);
  let weighted = i32x4(0, 0, 0, 0);
  let at = start;
  for (let block: usize = 0; block < blocks; block++) {
    const bytes = v128.load(at);
    sumsBefore = i32x4.add(sumsBefore, sums);
    sums = i32x4.add(sums, i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(bytes)));
    weighted = i32x4.add(weighted, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_u(bytes), weightsLow));
    weighted = i32x4.add(weighted, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_u(bytes), weightsHigh));
    at += 16;
  }
  let newHigh = high + <u32>(blocks << 4) * low + (sumOf(sumsBefore) << 4) + sumOf(weighted);
  let newLow = low + sumOf(sums);
  for (; at < end; at++) {
    newLow += load<u8>(at);
    newHigh += newLow;
  }
  low = newLow % MODULUS;
  high = newHigh % MODULUS;
}

// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
function sumOf(vector: v128): u32 {
  return (
    i32x4.extract_lane(vector, 0) +
    i32x4.extract_lane(vector, 1) +
    i32x4.extract_lane(vector, 2) +
    i32x4.extract_lane(vector, 3)
  );
}
