// PNG filters, 16 bytes at a time. Every loop may read and write up to 15 bytes past the row.

import { ROW } from './layout';

const SUB: i32 = 1;
export const PAETH: i32 = 4;

/** Writes the filter type and the filtered row to `ROW`. `row` directly follows the row above it. */
export function filterRow(filter: i32, row: usize, stride: i32, bytesPerPixel: i32): void {
  store<u8>(ROW - 1, <u8>filter);
  // The pixel to the left of the first one counts as zero. Paeth then predicts the pixel above.
  for (let at: usize = 0; at < <usize>bytesPerPixel; at++) {
    const above = filter == SUB ? 0 : load<u8>(row - stride + at);
    store<u8>(ROW + at, load<u8>(row + at) - above);
  }
  if (filter == PAETH) filterPaeth(row, stride, bytesPerPixel);
  else subtractRow(row, filter == SUB ? bytesPerPixel : stride, stride, bytesPerPixel);
}

function subtractRow(row: usize, distance: usize, stride: usize, bytesPerPixel: usize): void {
  for (let at = bytesPerPixel; at < stride; at += 16) {
    v128.store(ROW + at, v128.sub<u8>(v128.load(row + at), v128.load(row + at - distance)));
  }
}

/**
 * Computes Paeth without widening to 16 bits. The distances of the prediction to the left and upper pixel are |above -
 * corner| and |left - corner|. The distance to the corner matters only if the corner is between the two, and then it is
 * the difference of the other distances. Otherwise, the corner is never the closest.
 */
function filterPaeth(row: usize, stride: usize, bytesPerPixel: usize): void {
  for (let at = bytesPerPixel; at < stride; at += 16) {
    const current = row + at;
    const left = v128.load(current - bytesPerPixel);
    const above = v128.load(current - stride);
    const corner = v128.load(current - stride - bytesPerPixel);
    const low = v128.min<u8>(left, above);
    const high = v128.max<u8>(left, above);
    const toLeft = v128.or(v128.sub_sat<u8>(above, corner), v128.sub_sat<u8>(corner, above));
    const toAbove = v128.or(v128.sub_sat<u8>(left, corner), v128.sub_sat<u8>(corner, left));
    const difference = v128.or(v128.sub_sat<u8>(toLeft, toAbove), v128.sub_sat<u8>(toAbove, toLeft));
    const isOutside = v128.or(v128.ge<u8>(corner, high), v128.le<u8>(corner, low));
    const toCorner = v128.or(difference, isOutside);
    const aboveOrCorner = v128.bitselect(above, corner, v128.le<u8>(toAbove, toCorner));
    const isLeft = v128.le<u8>(toLeft, v128.min<u8>(toAbove, toCorner));
    v128.store(ROW + at, v128.sub<u8>(v128.load(current), v128.bitselect(left, aboveOrCorner, isLeft)));
  }
}

/** Returns the sum of the absolute values of the filtered bytes as signed numbers. */
export function magnitude(stride: usize): u64 {
  let sum: u64 = 0;
  let sums = i32x4(0, 0, 0, 0);
  let at: usize = 0;
  for (; at + 16 <= stride; at += 16) {
    const bytes = i8x16.abs(v128.load(ROW + at));
    sums = i32x4.add(sums, i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(bytes)));
  }
  for (; at < stride; at++) sum += abs<i32>(load<i8>(ROW + at));
  return (
    sum +
    <u32>i32x4.extract_lane(sums, 0) +
    <u32>i32x4.extract_lane(sums, 1) +
    <u32>i32x4.extract_lane(sums, 2) +
    <u32>i32x4.extract_lane(sums, 3)
  );
}
