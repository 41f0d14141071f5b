// Blends the pixels of an overlay into the coefficients of blocks. Only blocks that the overlay touches change, and where it
// has one color, no transform is needed.

import { marksOf } from './blocks-out';
import { blockAt, Output, outputAt, outputs, TO_COEFFICIENTS, TO_SAMPLES } from './components';
import { SAMPLES, toFrequencies, toSamples } from './transform';

/** For each index of the zigzag order, the place in `SAMPLES`. */
export const PLACES: usize = memory.data(64);

const NONE: u8 = 0;
/** All pixels have one color and alpha. */
const EVEN: u8 = 1;
const MIXED: u8 = 2;

/** Straight RGBA pixels of one row of MCUs, row by row, and what covers each cell of 8 x 8 of them. */
let strip: usize = 0;
let stride: i32 = 0;
let cells: usize = 0;
let cellsPerRow: i32 = 0;

/** The coefficients of 8-bit images are in this range. */
const HIGHEST: i16 = 1_023;
/** A DC coefficient is eight times the mean. */
const DC_SCALE: f32 = 8;

export function setStrip(address: usize, width: i32, cellsAddress: usize): void {
  strip = address;
  stride = width;
  cells = cellsAddress;
  cellsPerRow = width >> 3;
}

/** Looks at the pixels of the strip; `rows` is a multiple of 8. */
export function classifyStrip(rows: i32): void {
  for (let row = 0; row < rows >> 3; row++) {
    for (let column = 0; column < cellsPerRow; column++) {
      const from = strip + (((row * stride + column) << 3) << 2);
      store<u8>(cells + row * cellsPerRow + column, coverageAt(from));
    }
  }
}

function coverageAt(from: usize): u8 {
  const word = load<u32>(from);
  const expected = i32x4.splat(word);
  const end = from + (<usize>stride << 5);
  for (let at = from; at < end; at += <usize>stride << 2) {
    const different = v128.or(v128.xor(v128.load(at), expected), v128.xor(v128.load(at, 16), expected));
    if (v128.any_true(different)) return MIXED;
  }
  return word >> 24 == 0 ? NONE : EVEN;
}

/** Blends the strip into the MCUs from `first` up to `end` of a row. */
export function blendMcus(row: i32, first: i32, end: i32): void {
  for (let index = 0; index < outputs; index++) {
    const component = outputAt(index);
    for (let down = 0; down < component.vertical; down++) {
      for (let column = first; column < end; column++) {
        for (let across = 0; across < component.horizontal; across++) {
          const left = (column * component.horizontal + across) * component.scaleX;
          const top = down * component.scaleY;
          blend(blockAt(component, row, column, down, across), index, left, top);
        }
      }
    }
  }
}

/** `left` and `top`: in cells of the strip. */
function blend(block: usize, index: i32, left: i32, top: i32): void {
  const component = outputAt(index);
  const pixels = strip + (((top * stride + left) << 3) << 2);
  const coverage = coverageOf(component, left, top);
  if (coverage == EVEN) blendEven(block, component, load<u32>(pixels));
  else if (coverage == MIXED) blendMixed(block, component, index, pixels);
}

/** Returns the coverage of all cells that the block covers. */
function coverageOf(component: Output, left: i32, top: i32): u8 {
  const start = cells + top * cellsPerRow + left;
  const first = load<u8>(start);
  const word = load<u32>(strip + (((top * stride + left) << 3) << 2));
  for (let row = 0; row < component.scaleY; row++) {
    for (let column = 0; column < component.scaleX; column++) {
      if (load<u8>(start + row * cellsPerRow + column) != first) return MIXED;
      const other = load<u32>(strip + ((((top + row) * stride + left + column) << 3) << 2));
      if (first == EVEN && other != word) return MIXED;
    }
  }
  return first;
}

/** One color at one alpha scales the coefficients, and moves the DC value. */
function blendEven(block: usize, component: Output, word: u32): void {
  const alpha = <f32>(word >> 24) / 255;
  const share = f32x4.splat(1 - alpha);
  const level =
    component.red * <f32>(word & 255) +
    component.green * <f32>((word >> 8) & 255) +
    component.blue * <f32>((word >> 16) & 255) +
    component.middle;
  const dc = <f32>load<i16>(block) * (1 - alpha) + (DC_SCALE * level * alpha) / component.step;
  for (let at = block; at < block + 128; at += 16) {
    const values = v128.load(at);
    const low = f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(values)), share);
    const high = f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(values)), share);
    v128.store(at, rounded(low, high));
  }
  store<i16>(block, <i16>nearest<f32>(max<f32>(-HIGHEST, min<f32>(HIGHEST, dc))));
}

/** Eight numbers as 16-bit integers. */
// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
function rounded(low: v128, high: v128): v128 {
  const first = i32x4.trunc_sat_f32x4_s(f32x4.nearest(low));
  return i16x8.narrow_i32x4_s(first, i32x4.trunc_sat_f32x4_s(f32x4.nearest(high)));
}

/** Coefficients at the places of `SAMPLES`. */
const PLACED: usize = memory.data(128, 16);

function blendMixed(block: usize, component: Output, index: i32, pixels: usize): void {
  placeCoefficients(block);
  const up = TO_SAMPLES + <usize>index * 256;
  for (let at: usize = 0; at < 64; at += 8) {
    const values = v128.load(PLACED + (at << 1));
    const low = f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(values));
    const high = f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(values));
    v128.store(SAMPLES + (at << 2), f32x4.mul(low, v128.load(up + (at << 2))));
    v128.store(SAMPLES + (at << 2), f32x4.mul(high, v128.load(up + (at << 2), 16)), 16);
  }
  toSamples();
  for (let row: usize = 0; row < 8; row++) {
    mixRow(component, pixels + row * <usize>(component.scaleY * stride * 4), SAMPLES + row * 32);
  }
  toFrequencies();
  quantize(block, TO_COEFFICIENTS + <usize>index * 256);
}

function placeCoefficients(block: usize): void {
  for (let at: usize = 0; at < 128; at += 16) v128.store(PLACED + at, i16x8.splat(0));
  for (let marks = marksOf(block); marks != 0; marks &= marks - 1) {
    const index = <usize>ctz<u64>(marks);
    store<i16>(PLACED + (<usize>load<u8>(PLACES + index) << 1), load<i16>(block + (index << 1)));
  }
}

function quantize(block: usize, down: usize): void {
  const highest = i16x8.splat(HIGHEST);
  const lowest = i16x8.splat(-HIGHEST);
  for (let at: usize = 0; at < 64; at += 8) {
    const low = f32x4.mul(v128.load(SAMPLES + (at << 2)), v128.load(down + (at << 2)));
    const high = f32x4.mul(v128.load(SAMPLES + (at << 2), 16), v128.load(down + (at << 2), 16));
    v128.store(PLACED + (at << 1), i16x8.max_s(lowest, i16x8.min_s(highest, rounded(low, high))));
  }
  for (let index: usize = 0; index < 64; index++) {
    store<i16>(block + (index << 1), load<i16>(PLACED + (<usize>load<u8>(PLACES + index) << 1)));
  }
}

/** For the pixels of a line: the sum of their alphas and of their colors times alpha over the lines of a sample. */
const ALPHAS: usize = memory.data(32 * 4, 16);
const COLORS: usize = memory.data(32 * 4, 16);

/** Mixes the pixels that eight samples cover into them. A sample becomes the mean over its pixels. */
function mixRow(component: Output, pixels: usize, samples: usize): void {
  let columns = component.scaleX << 3;
  for (let column: usize = 0; column < <usize>columns; column += 4) {
    let alphas = f32x4.splat(0);
    let colors = f32x4.splat(0);
    for (let line = 0; line < component.scaleY; line++) {
      const words = v128.load(pixels + (((<usize>(line * stride)) + column) << 2));
      const alpha = f32x4.convert_i32x4_s(i32x4.shr_u(words, 24));
      alphas = f32x4.add(alphas, alpha);
      colors = f32x4.add(colors, f32x4.mul(levels(component, words), alpha));
    }
    v128.store(ALPHAS + (column << 2), alphas);
    v128.store(COLORS + (column << 2), colors);
  }
  for (; columns > 8; columns >>= 1) {
    for (let column: usize = 0; column < <usize>columns >> 1; column += 4) {
      addPairs(ALPHAS + (column << 2), ALPHAS + (column << 3));
      addPairs(COLORS + (column << 2), COLORS + (column << 3));
    }
  }
  const total = <f32>(component.scaleX * component.scaleY) * 255;
  mixSamples(samples, ALPHAS, COLORS, total);
  mixSamples(samples + 16, ALPHAS + 16, COLORS + 16, total);
}

// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
function levels(component: Output, words: v128): v128 {
  const byte = i32x4.splat(255);
  const red = f32x4.convert_i32x4_s(v128.and(words, byte));
  const green = f32x4.convert_i32x4_s(v128.and(i32x4.shr_u(words, 8), byte));
  const blue = f32x4.convert_i32x4_s(v128.and(i32x4.shr_u(words, 16), byte));
  const first = f32x4.add(f32x4.mul(red, f32x4.splat(component.red)), f32x4.splat(component.middle));
  const second = f32x4.mul(green, f32x4.splat(component.green));
  return f32x4.add(first, f32x4.add(second, f32x4.mul(blue, f32x4.splat(component.blue))));
}

/** Four sums of two neighbors each. */
// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
function addPairs(to: usize, from: usize): void {
  const a = v128.load(from);
  const b = v128.load(from, 16);
  v128.store(to, f32x4.add(v128.shuffle<f32>(a, b, 0, 2, 4, 6), v128.shuffle<f32>(a, b, 1, 3, 5, 7)));
}

/** Samples are relative to the middle of their range. */
// @ts-ignore: AssemblyScript allows decorators on functions.
@inline
function mixSamples(samples: usize, alphasAt: usize, colorsAt: usize, total: f32): void {
  const before = v128.load(samples);
  const alphas = v128.load(alphasAt);
  const original = f32x4.min(f32x4.splat(127), f32x4.max(f32x4.splat(-128), before));
  const mixed = f32x4.add(f32x4.mul(original, f32x4.sub(f32x4.splat(total), alphas)), v128.load(colorsAt));
  const after = f32x4.mul(mixed, f32x4.splat(1 / total));
  v128.store(samples, v128.bitselect(before, after, f32x4.eq(alphas, f32x4.splat(0))));
}
