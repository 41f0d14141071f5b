// Maps 10-bit 4:2:0 HDR frames to 8-bit BT.709, two rows at a time. Luma goes through a table for grays. Once per block
// of 2x2 pixels, the full path (RGB, tone curve, primaries, gamma) gives the chroma and a correction for the luma.
// Tables can't be read with vector instructions, so loops over a row alternate with scalar lookups.

/** The maximum width of a frame. */
export const MAX_WIDTH: i32 = 8192;
/** The number of luma rows per call. */
export const STRIPE_ROWS: i32 = 16;

const BLOCKS: usize = MAX_WIDTH / 2;
const SLACK: usize = 64;

/** Tone curve and inverse gamma: maps R', G' or B' in 1,024 steps to linear light. */
export const LIGHT: usize = 1024;
/**
 * Gamma: maps linear light to R', G' or B'. The index is the exponent and the first 9 bits of the number, from 2 **
 * -14.
 */
export const SIGNAL: usize = LIGHT + 1024 * 4;
export const SIGNAL_STEPS: i32 = 15 * 512;
const SIGNAL_SHIFT: i32 = 14;
const SMALLEST_LIGHT: i32 = 0x38800000;
/** Maps the 10-bit luma of a gray to 64 times its 8-bit luma. */
export const GRAY: usize = SIGNAL + <usize>SIGNAL_STEPS * 4;
/** Nine factors from the linear light of BT.2020 to that of BT.709. */
export const MATRIX: usize = GRAY + 1024 * 2;
const RED: usize = MATRIX + 48;
const GREEN: usize = RED + BLOCKS * 4 + SLACK;
const BLUE: usize = GREEN + BLOCKS * 4 + SLACK;
/** The luma of two rows of grays, times 64. */
const UPPER: usize = BLUE + BLOCKS * 4 + SLACK;
const LOWER: usize = UPPER + <usize>MAX_WIDTH * 2 + SLACK;
/** The mean luma of a block, then the difference of its luma from that of a gray, times 64, for each of its columns. */
const CORRECTION: usize = LOWER + <usize>MAX_WIDTH * 2 + SLACK;
/** Input: 16-bit luma, then both planes of chroma. Output: the same in 8 bits. */
export const LUMA_IN: usize = (CORRECTION + BLOCKS * 4 + SLACK + 15) & ~15;
export const BLUE_IN: usize = LUMA_IN + <usize>(MAX_WIDTH * STRIPE_ROWS * 2) + SLACK;
export const RED_IN: usize = BLUE_IN + <usize>((MAX_WIDTH * STRIPE_ROWS) / 2) + SLACK;
export const LUMA_OUT: usize = RED_IN + <usize>((MAX_WIDTH * STRIPE_ROWS) / 2) + SLACK;
export const BLUE_OUT: usize = LUMA_OUT + <usize>(MAX_WIDTH * STRIPE_ROWS) + SLACK;
export const RED_OUT: usize = BLUE_OUT + <usize>((MAX_WIDTH * STRIPE_ROWS) / 4) + SLACK;
export const MEMORY_BYTES: usize = RED_OUT + <usize>((MAX_WIDTH * STRIPE_ROWS) / 4) + SLACK;

/** Maps `rows` rows, an even number, whose first one has the number `top` in the frame. */
export function mapStripe(width: i32, rows: i32, top: i32): void {
  const blocks: usize = <usize>width / 2;
  for (let row: i32 = 0; row < rows; row += 2) {
    const luma = LUMA_IN + <usize>(row * width * 2);
    const half = <usize>row / 2;
    toGray(luma, UPPER, width);
    toGray(luma + <usize>(width * 2), LOWER, width);
    toRgb(luma, luma + <usize>(width * 2), BLUE_IN + half * blocks * 2, RED_IN + half * blocks * 2, blocks);
    toLight(RED, blocks);
    toLight(GREEN, blocks);
    toLight(BLUE, blocks);
    toBt709(blocks);
    toSignal(RED, blocks);
    toSignal(GREEN, blocks);
    toSignal(BLUE, blocks);
    toChroma(BLUE_OUT + half * blocks, RED_OUT + half * blocks, blocks);
    finishLuma(UPPER, LUMA_OUT + <usize>(row * width), width, top + row);
    finishLuma(LOWER, LUMA_OUT + <usize>((row + 1) * width), width, top + row + 1);
  }
}

function toGray(from: usize, to: usize, width: i32): void {
  const end = from + <usize>(width * 2);
  for (; from < end; from += 8, to += 8) {
    const codes = load<u64>(from);
    const first = <u64>load<u16>(GRAY + (<usize>(codes & 1023) << 1));
    const second = <u64>load<u16>(GRAY + (<usize>((codes >> 16) & 1023) << 1));
    const third = <u64>load<u16>(GRAY + (<usize>((codes >> 32) & 1023) << 1));
    const fourth = <u64>load<u16>(GRAY + (<usize>((codes >> 48) & 1023) << 1));
    store<u64>(to, first | (second << 16) | (third << 32) | (fourth << 48));
  }
}

/** Computes R'G'B' in steps of 1/1023 from the mean luma of each block, by the matrix of BT.2020. */
function toRgb(upper: usize, lower: usize, blueIn: usize, redIn: usize, blocks: usize): void {
  const zero = i32x4.splat(0);
  const top = i32x4.splat(1023);
  const scale = f32x4.splat(1023.0 / (876.0 * 4.0));
  const half = f32x4.splat(0.5);
  const black = f32x4.splat(256.0);
  const center = f32x4.splat(512.0);
  const redFromV = f32x4.splat((1.4746 * 1023.0) / 896.0);
  const greenFromU = f32x4.splat((-0.16455 * 1023.0) / 896.0);
  const greenFromV = f32x4.splat((-0.57135 * 1023.0) / 896.0);
  const blueFromU = f32x4.splat((1.8814 * 1023.0) / 896.0);
  for (let block: usize = 0; block < blocks; block += 4) {
    const sum = i32x4.add(
      i32x4.extadd_pairwise_i16x8_u(v128.load(upper + block * 4)),
      i32x4.extadd_pairwise_i16x8_u(v128.load(lower + block * 4)),
    );
    v128.store(CORRECTION + block * 4, i32x4.shr_u(i32x4.add(sum, i32x4.splat(2)), 2));
    const luma = f32x4.add(f32x4.mul(f32x4.sub(f32x4.convert_i32x4_s(sum), black), scale), half);
    const u = f32x4.sub(f32x4.convert_i32x4_u(v128.load_ext<u16>(blueIn + block * 2)), center);
    const v = f32x4.sub(f32x4.convert_i32x4_u(v128.load_ext<u16>(redIn + block * 2)), center);
    const red = f32x4.add(luma, f32x4.mul(v, redFromV));
    const green = f32x4.add(f32x4.add(luma, f32x4.mul(u, greenFromU)), f32x4.mul(v, greenFromV));
    const blue = f32x4.add(luma, f32x4.mul(u, blueFromU));
    v128.store(RED + block * 4, i32x4.min_s(i32x4.max_s(i32x4.trunc_sat_f32x4_s(red), zero), top));
    v128.store(GREEN + block * 4, i32x4.min_s(i32x4.max_s(i32x4.trunc_sat_f32x4_s(green), zero), top));
    v128.store(BLUE + block * 4, i32x4.min_s(i32x4.max_s(i32x4.trunc_sat_f32x4_s(blue), zero), top));
  }
}

function toLight(channel: usize, blocks: usize): void {
  const end = channel + blocks * 4;
  for (let at = channel; at < end; at += 16) {
    const low = load<u64>(at);
    const high = load<u64>(at + 8);
    store<f32>(at, load<f32>(LIGHT + ((<usize>low & 1023) << 2)));
    store<f32>(at + 4, load<f32>(LIGHT + ((<usize>(low >> 32) & 1023) << 2)));
    store<f32>(at + 8, load<f32>(LIGHT + ((<usize>high & 1023) << 2)));
    store<f32>(at + 12, load<f32>(LIGHT + ((<usize>(high >> 32) & 1023) << 2)));
  }
}

/** Computes linear light in BT.709, as an index. Values above white stay above it. */
function toBt709(blocks: usize): void {
  for (let at: usize = 0; at < blocks * 4; at += 16) {
    const red = v128.load(RED + at);
    const green = v128.load(GREEN + at);
    const blue = v128.load(BLUE + at);
    v128.store(RED + at, signalIndex(mix(red, green, blue, MATRIX)));
    v128.store(GREEN + at, signalIndex(mix(red, green, blue, MATRIX + 12)));
    v128.store(BLUE + at, signalIndex(mix(red, green, blue, MATRIX + 24)));
  }
}

// @ts-ignore: decorator
@inline
function mix(red: v128, green: v128, blue: v128, factors: usize): v128 {
  return f32x4.add(
    f32x4.add(f32x4.mul(red, v128.load_splat<f32>(factors)), f32x4.mul(green, v128.load_splat<f32>(factors + 4))),
    f32x4.mul(blue, v128.load_splat<f32>(factors + 8)),
  );
}

/** Numbers below the smallest one, negative ones included, get index 0. */
// @ts-ignore: decorator
@inline
function signalIndex(light: v128): v128 {
  const index = i32x4.shr_s(i32x4.sub(light, i32x4.splat(SMALLEST_LIGHT)), SIGNAL_SHIFT);
  const positive = i32x4.max_s(index, i32x4.splat(0));
  const limited = i32x4.min_s(positive, i32x4.splat(SIGNAL_STEPS - 1));
  return v128.andnot(limited, i32x4.shr_s(light, 31));
}

function toSignal(channel: usize, blocks: usize): void {
  const end = channel + blocks * 4;
  for (let at = channel; at < end; at += 16) {
    const low = load<u64>(at);
    const high = load<u64>(at + 8);
    store<f32>(at, load<f32>(SIGNAL + ((<usize>low & 0x1fff) << 2)));
    store<f32>(at + 4, load<f32>(SIGNAL + ((<usize>(low >> 32) & 0x1fff) << 2)));
    store<f32>(at + 8, load<f32>(SIGNAL + ((<usize>high & 0x1fff) << 2)));
    store<f32>(at + 12, load<f32>(SIGNAL + ((<usize>(high >> 32) & 0x1fff) << 2)));
  }
}

/** Writes the chroma, and the difference of each block's luma from that of a gray of its mean luma. */
function toChroma(blueOut: usize, redOut: usize, blocks: usize): void {
  const center = f32x4.splat(128.5);
  for (let block: usize = 0; block < blocks; block += 4) {
    const at = block * 4;
    const red = v128.load(RED + at);
    const green = v128.load(GREEN + at);
    const blue = v128.load(BLUE + at);
    const luma = f32x4.add(
      f32x4.add(f32x4.mul(red, f32x4.splat(0.2126)), f32x4.mul(green, f32x4.splat(0.7152))),
      f32x4.mul(blue, f32x4.splat(0.0722)),
    );
    const u = f32x4.add(f32x4.mul(f32x4.sub(blue, luma), f32x4.splat(224.0 / 1.8556)), center);
    const v = f32x4.add(f32x4.mul(f32x4.sub(red, luma), f32x4.splat(224.0 / 1.5748)), center);
    store<u32>(blueOut + block, i32x4.extract_lane(bytes(u), 0));
    store<u32>(redOut + block, i32x4.extract_lane(bytes(v), 0));
    const code = i32x4.trunc_sat_f32x4_s(f32x4.add(f32x4.mul(luma, f32x4.splat(219.0 * 64.0)), f32x4.splat(16.0 * 64.0)));
    const low = load<u64>(CORRECTION + at);
    const high = load<u64>(CORRECTION + at + 8);
    let grays = i32x4.splat(load<u16>(GRAY + ((<usize>low & 1023) << 1)));
    grays = i32x4.replace_lane(grays, 1, load<u16>(GRAY + ((<usize>(low >> 32) & 1023) << 1)));
    grays = i32x4.replace_lane(grays, 2, load<u16>(GRAY + ((<usize>high & 1023) << 1)));
    grays = i32x4.replace_lane(grays, 3, load<u16>(GRAY + ((<usize>(high >> 32) & 1023) << 1)));
    // Both columns of a block get the same value, so the lower half of each lane is copied to its upper half.
    const difference = v128.and(i32x4.sub(code, grays), i32x4.splat(0xffff));
    v128.store(CORRECTION + at, v128.or(difference, i32x4.shl(difference, 16)));
  }
}

// @ts-ignore: decorator
@inline
function bytes(values: v128): v128 {
  const limited = i32x4.min_s(i32x4.max_s(i32x4.trunc_sat_f32x4_s(values), i32x4.splat(16)), i32x4.splat(240));
  const words = i16x8.narrow_i32x4_s(limited, limited);
  return i8x16.narrow_i16x8_u(words, words);
}

/** Ordered dither hides the steps of 8 bits. The offsets of a 4x4 pattern are 1/16 of a level apart. */
function finishLuma(from: usize, to: usize, width: i32, y: i32): void {
  const pattern =
    <u64>ditherAt(y, 0) | (<u64>ditherAt(y, 1) << 16) | (<u64>ditherAt(y, 2) << 32) | (<u64>ditherAt(y, 3) << 48);
  const dither = i64x2.splat(<i64>pattern);
  const black = i16x8.splat(16);
  const white = i16x8.splat(235);
  for (let x: usize = 0; x < <usize>width; x += 8) {
    const code = i16x8.add(i16x8.add(v128.load(from + x * 2), v128.load(CORRECTION + x * 2)), dither);
    const level = i16x8.min_s(i16x8.max_s(i16x8.shr_s(code, 6), black), white);
    v128.store64_lane(to + x, i8x16.narrow_i16x8_u(level, level), 0);
  }
}

/** The Bayer matrix of 4x4, times 4, plus 2: its mean is half a level. */
function ditherAt(y: i32, x: i32): u64 {
  const a = (x ^ y) & 1;
  const b = y & 1;
  const c = ((x ^ y) >> 1) & 1;
  const d = (y >> 1) & 1;
  return ((a << 3) | (b << 2) | (c << 1) | d) * 4 + 2;
}
