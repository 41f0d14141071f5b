// The discrete cosine transform of a block, in both directions, after Arai, Agui and Nakajima: five multiplications per
// line, because the rest of the scale is part of the quantization tables. Four columns are transformed at once.

/** 64 numbers: samples row by row, or frequencies column by column. */
export const SAMPLES: usize = memory.data(64 * 4, 16);

const SQRT2: f32 = 1.41421356;
const SQRT1_2: f32 = 0.70710678;
/** Twice the cosines of 3/8 and 1/8 of pi, their difference and their sum. */
const COSINE_6: f32 = 0.76536686;
const COSINE_2: f32 = 1.84775907;
const DIFFERENCE: f32 = 1.08239220;
const SUM: f32 = 2.61312593;

/** Frequencies to samples, in place. */
export function toSamples(): void {
  inverse(SAMPLES);
  inverse(SAMPLES + 16);
  transpose();
  inverse(SAMPLES);
  inverse(SAMPLES + 16);
}

/** Samples to frequencies, in place. */
export function toFrequencies(): void {
  forward(SAMPLES);
  forward(SAMPLES + 16);
  transpose();
  forward(SAMPLES);
  forward(SAMPLES + 16);
}

// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
function add(a: v128, b: v128): v128 {
  return f32x4.add(a, b);
}

// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
function sub(a: v128, b: v128): v128 {
  return f32x4.sub(a, b);
}

// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
function times(a: v128, factor: f32): v128 {
  return f32x4.mul(a, f32x4.splat(factor));
}

function inverse(at: usize): void {
  const in0 = v128.load(at);
  const in1 = v128.load(at, 32);
  const in2 = v128.load(at, 64);
  const in3 = v128.load(at, 96);
  const in4 = v128.load(at, 128);
  const in5 = v128.load(at, 160);
  const in6 = v128.load(at, 192);
  const in7 = v128.load(at, 224);
  const evenSum = add(in0, in4);
  const evenDifference = sub(in0, in4);
  const innerSum = add(in2, in6);
  const inner = sub(times(sub(in2, in6), SQRT2), innerSum);
  const even0 = add(evenSum, innerSum);
  const even3 = sub(evenSum, innerSum);
  const even1 = add(evenDifference, inner);
  const even2 = sub(evenDifference, inner);
  const sum53 = add(in5, in3);
  const difference53 = sub(in5, in3);
  const sum17 = add(in1, in7);
  const difference17 = sub(in1, in7);
  const rotated = times(add(difference53, difference17), COSINE_2);
  const odd0 = add(sum17, sum53);
  const odd1 = sub(sub(rotated, times(difference53, SUM)), odd0);
  const odd2 = sub(times(sub(sum17, sum53), SQRT2), odd1);
  const odd3 = sub(sub(rotated, times(difference17, DIFFERENCE)), odd2);
  v128.store(at, add(even0, odd0));
  v128.store(at, add(even1, odd1), 32);
  v128.store(at, add(even2, odd2), 64);
  v128.store(at, add(even3, odd3), 96);
  v128.store(at, sub(even3, odd3), 128);
  v128.store(at, sub(even2, odd2), 160);
  v128.store(at, sub(even1, odd1), 192);
  v128.store(at, sub(even0, odd0), 224);
}

function forward(at: usize): void {
  const in0 = v128.load(at);
  const in1 = v128.load(at, 32);
  const in2 = v128.load(at, 64);
  const in3 = v128.load(at, 96);
  const in4 = v128.load(at, 128);
  const in5 = v128.load(at, 160);
  const in6 = v128.load(at, 192);
  const in7 = v128.load(at, 224);
  const sum07 = add(in0, in7);
  const difference07 = sub(in0, in7);
  const sum16 = add(in1, in6);
  const difference16 = sub(in1, in6);
  const sum25 = add(in2, in5);
  const difference25 = sub(in2, in5);
  const sum34 = add(in3, in4);
  const difference34 = sub(in3, in4);
  const outer = sub(sum07, sum34);
  const turned = times(add(sub(sum16, sum25), outer), SQRT1_2);
  const sums = add(sum07, sum34);
  const innerSums = add(sum16, sum25);
  const low = add(difference34, difference25);
  const high = add(difference16, difference07);
  const shared = times(sub(low, high), COSINE_6 / 2);
  const z2 = add(times(low, DIFFERENCE / 2), shared);
  const z4 = add(times(high, SUM / 2), shared);
  const middle = times(add(difference25, difference16), SQRT1_2);
  const outside = sub(difference07, middle);
  const inside = add(difference07, middle);
  v128.store(at, add(sums, innerSums));
  v128.store(at, add(inside, z4), 32);
  v128.store(at, add(outer, turned), 64);
  v128.store(at, sub(outside, z2), 96);
  v128.store(at, sub(sums, innerSums), 128);
  v128.store(at, add(outside, z2), 160);
  v128.store(at, sub(outer, turned), 192);
  v128.store(at, sub(inside, z4), 224);
}

/** Swaps rows and columns. */
function transpose(): void {
  transposeQuarter(SAMPLES, SAMPLES);
  transposeQuarter(SAMPLES + 128 + 16, SAMPLES + 128 + 16);
  for (let row: usize = 0; row < 128; row += 32) v128.store(CORNER + row, v128.load(SAMPLES + 16 + row));
  transposeQuarter(SAMPLES + 128, SAMPLES + 16);
  transposeQuarter(CORNER, SAMPLES + 128);
}

/** The quarter at the top right. */
const CORNER: usize = memory.data(128, 16);

function transposeQuarter(from: usize, to: usize): void {
  const a = v128.load(from);
  const b = v128.load(from, 32);
  const c = v128.load(from, 64);
  const d = v128.load(from, 96);
  const ab = v128.shuffle<f32>(a, b, 0, 4, 1, 5);
  const cd = v128.shuffle<f32>(c, d, 0, 4, 1, 5);
  const ab2 = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
  const cd2 = v128.shuffle<f32>(c, d, 2, 6, 3, 7);
  v128.store(to, v128.shuffle<f64>(ab, cd, 0, 2));
  v128.store(to, v128.shuffle<f64>(ab, cd, 1, 3), 32);
  v128.store(to, v128.shuffle<f64>(ab2, cd2, 0, 2), 64);
  v128.store(to, v128.shuffle<f64>(ab2, cd2, 1, 3), 96);
}
