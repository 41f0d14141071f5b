// Converts a block of decoded samples to RGB: interpolates chroma, applies the matrix, maps colors to sRGB if
// requested, and writes the pixels rotated or mirrored. Tables can't be read with vector instructions, so loops over a
// row alternate with scalar lookups.

/** The maximum size of a block. */
export const MAX_COLUMNS: i32 = 1024;
export const MAX_ROWS: i32 = 64;

const SLACK: usize = 64;
const ROW: usize = <usize>(MAX_COLUMNS + 8) * 4 + SLACK;

/** Samples become numbers from 0 to `LEVELS - 1` before they are mapped. */
export const LEVELS: i32 = 4096;
/** Three tables with the linear light of red, green and blue for every level. */
export const LIGHT: usize = 1024;
/** Maps linear light in sRGB, in this many steps, to the 8-bit signal. */
export const SIGNAL_STEPS: i32 = 16384;
export const SIGNAL: usize = LIGHT + <usize>(LEVELS * 4 * 3);
/** Nine factors from linear light to that of sRGB, times the steps of `SIGNAL`. */
export const TO_SRGB: usize = SIGNAL + <usize>SIGNAL_STEPS + SLACK;
/** For red, green and blue: the factors of the three planes, and an offset. */
export const MATRIX: usize = TO_SRGB + 64;
const RED: usize = MATRIX + 64;
const GREEN: usize = RED + ROW;
const BLUE: usize = GREEN + ROW;
/** A row of chroma, interpolated first between rows, then between columns. */
const HALF: usize = BLUE + ROW;
const CB: usize = HALF + ROW;
const CR: usize = CB + ROW;
/** Input: 16-bit samples. Chroma has one more sample on each side; at half height also one more row above and below. */
export const LUMA_IN: usize = (CR + ROW + 15) & ~15;
export const CHROMA_BYTES: usize = <usize>((MAX_COLUMNS + 2) * (MAX_ROWS + 2) * 2) + SLACK;
export const CB_IN: usize = LUMA_IN + <usize>(MAX_COLUMNS * MAX_ROWS * 2) + SLACK;
export const CR_IN: usize = CB_IN + CHROMA_BYTES;
export const OUT: usize = CR_IN + CHROMA_BYTES;
export const MEMORY_BYTES: usize = OUT + <usize>(MAX_COLUMNS * MAX_ROWS * 4) + SLACK;

/** The pixel at x, y goes to `OUT + origin + x * stepX + y * stepY`. */
export function convert(
  columns: i32,
  rows: i32,
  isHalfWidth: bool,
  isHalfHeight: bool,
  isMapped: bool,
  origin: i32,
  stepX: i32,
  stepY: i32,
): void {
  const chromaColumns = isHalfWidth ? (columns + 1) >> 1 : columns;
  const chromaStride = <usize>((chromaColumns + 2) * 2);
  const top = isMapped ? LEVELS - 1 : 255;
  for (let y: i32 = 0; y < rows; y += 1) {
    const near = isHalfHeight ? (y >> 1) + 1 : y;
    const far = isHalfHeight ? near + ((y & 1) * 2 - 1) : y;
    interpolate(CB_IN + <usize>near * chromaStride, CB_IN + <usize>far * chromaStride, chromaColumns, isHalfWidth, CB);
    interpolate(CR_IN + <usize>near * chromaStride, CR_IN + <usize>far * chromaStride, chromaColumns, isHalfWidth, CR);
    toRgb(LUMA_IN + <usize>(y * columns * 2), columns, top);
    const to = OUT + <usize>(origin + y * stepY);
    if (isMapped) {
      toSrgb(columns);
      scatterSignals(to, columns, stepX);
      continue;
    }
    // Packing rows from bottom to top would damage the start of the row before.
    if (stepX == 3 && stepY > 0) pack(to, columns);
    else scatter(to, columns, stepX);
  }
}

/** Computes one number for each column from the nearer row, which counts three times as much, and the other row. */
function interpolate(near: usize, far: usize, columns: i32, isHalfWidth: bool, to: usize): void {
  const most = f32x4.splat(0.75);
  const least = f32x4.splat(0.25);
  const target = isHalfWidth ? HALF : to - 4;
  for (let x: usize = 0; x < <usize>(columns + 2); x += 4) {
    const nearer = f32x4.convert_i32x4_u(v128.load_ext<u16>(near + x * 2));
    const farther = f32x4.convert_i32x4_u(v128.load_ext<u16>(far + x * 2));
    v128.store(target + x * 4, f32x4.add(f32x4.mul(nearer, most), f32x4.mul(farther, least)));
  }
  if (!isHalfWidth) return;
  for (let x: usize = 0; x < <usize>columns; x += 4) {
    const here = f32x4.mul(v128.load(HALF + x * 4 + 4), most);
    const even = f32x4.add(here, f32x4.mul(v128.load(HALF + x * 4), least));
    const odd = f32x4.add(here, f32x4.mul(v128.load(HALF + x * 4 + 8), least));
    v128.store(to + x * 8, v128.shuffle<f32>(even, odd, 0, 4, 1, 5));
    v128.store(to + x * 8 + 16, v128.shuffle<f32>(even, odd, 2, 6, 3, 7));
  }
}

/** Writes whole numbers from 0 to `top` to `RED`, `GREEN` and `BLUE`. */
function toRgb(luma: usize, columns: i32, top: i32): void {
  channel(luma, columns, top, MATRIX, RED);
  channel(luma, columns, top, MATRIX + 16, GREEN);
  channel(luma, columns, top, MATRIX + 32, BLUE);
}

function channel(luma: usize, columns: i32, top: i32, factors: usize, to: usize): void {
  const fromLuma = v128.load_splat<f32>(factors);
  const fromCb = v128.load_splat<f32>(factors + 4);
  const fromCr = v128.load_splat<f32>(factors + 8);
  const offset = v128.load_splat<f32>(factors + 12);
  const zero = i32x4.splat(0);
  const highest = i32x4.splat(top);
  for (let x: usize = 0; x < <usize>columns; x += 4) {
    const y = f32x4.convert_i32x4_u(v128.load_ext<u16>(luma + x * 2));
    const sum = f32x4.add(
      f32x4.add(f32x4.mul(y, fromLuma), offset),
      f32x4.add(f32x4.mul(v128.load(CB + x * 4), fromCb), f32x4.mul(v128.load(CR + x * 4), fromCr)),
    );
    v128.store(to + x * 4, i32x4.min_s(i32x4.max_s(i32x4.trunc_sat_f32x4_s(sum), zero), highest));
  }
}

/** Computes indexes of `SIGNAL`. */
function toSrgb(columns: i32): void {
  const count = <usize>columns * 4;
  look(RED, LIGHT, count);
  look(GREEN, LIGHT + <usize>(LEVELS * 4), count);
  look(BLUE, LIGHT + <usize>(LEVELS * 8), count);
  const rr = v128.load_splat<f32>(TO_SRGB);
  const rg = v128.load_splat<f32>(TO_SRGB + 4);
  const rb = v128.load_splat<f32>(TO_SRGB + 8);
  const gr = v128.load_splat<f32>(TO_SRGB + 12);
  const gg = v128.load_splat<f32>(TO_SRGB + 16);
  const gb = v128.load_splat<f32>(TO_SRGB + 20);
  const br = v128.load_splat<f32>(TO_SRGB + 24);
  const bg = v128.load_splat<f32>(TO_SRGB + 28);
  const bb = v128.load_splat<f32>(TO_SRGB + 32);
  for (let at: usize = 0; at < count; at += 16) {
    const red = v128.load(RED + at);
    const green = v128.load(GREEN + at);
    const blue = v128.load(BLUE + at);
    v128.store(RED + at, step(rr, red, rg, green, rb, blue));
    v128.store(GREEN + at, step(gr, red, gg, green, gb, blue));
    v128.store(BLUE + at, step(br, red, bg, green, bb, blue));
  }
}

// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
function step(a: v128, red: v128, b: v128, green: v128, c: v128, blue: v128): v128 {
  const sum = f32x4.add(f32x4.add(f32x4.mul(a, red), f32x4.mul(b, green)), f32x4.mul(c, blue));
  const rounded = i32x4.trunc_sat_f32x4_s(f32x4.add(sum, f32x4.splat(0.5)));
  return i32x4.min_s(i32x4.max_s(rounded, i32x4.splat(0)), i32x4.splat(SIGNAL_STEPS - 1));
}

function look(row: usize, table: usize, count: usize): void {
  for (let at = row; at < row + count; at += 16) {
    const low = load<u64>(at);
    const high = load<u64>(at + 8);
    store<f32>(at, load<f32>(table + ((<usize>low & 4095) << 2)));
    store<f32>(at + 4, load<f32>(table + ((<usize>(low >> 32) & 4095) << 2)));
    store<f32>(at + 8, load<f32>(table + ((<usize>high & 4095) << 2)));
    store<f32>(at + 12, load<f32>(table + ((<usize>(high >> 32) & 4095) << 2)));
  }
}

function scatterSignals(to: usize, columns: i32, step: i32): void {
  for (let x: usize = 0; x < <usize>columns * 4; x += 4) {
    store<u8>(to, load<u8>(SIGNAL + <usize>load<u32>(RED + x)));
    store<u8>(to + 1, load<u8>(SIGNAL + <usize>load<u32>(GREEN + x)));
    store<u8>(to + 2, load<u8>(SIGNAL + <usize>load<u32>(BLUE + x)));
    to += <usize>step;
  }
}

/** Packs four pixels at a time. Writes up to 16 bytes beyond the last one. */
function pack(to: usize, columns: i32): void {
  for (let x: usize = 0; x < <usize>columns; x += 4) {
    const redGreen = i16x8.narrow_i32x4_s(v128.load(RED + x * 4), v128.load(GREEN + x * 4));
    const blue = i16x8.narrow_i32x4_s(v128.load(BLUE + x * 4), i32x4.splat(0));
    const bytes = i8x16.narrow_i16x8_u(redGreen, blue);
    v128.store(
      to + x * 3,
      i8x16.shuffle(bytes, bytes, 0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, 12, 12, 12, 12),
    );
  }
}

function scatter(to: usize, columns: i32, step: i32): void {
  for (let x: usize = 0; x < <usize>columns * 4; x += 4) {
    store<u8>(to, <u8>load<u32>(RED + x));
    store<u8>(to + 1, <u8>load<u32>(GREEN + x));
    store<u8>(to + 2, <u8>load<u32>(BLUE + x));
    to += <usize>step;
  }
}
