// A soft shadow: a blurred copy of the shape that casts it. It is computed with 16 bits more than a byte, so that it
// fades without visible steps. Wide blurs run on a smaller copy, which takes a fraction of the time and looks the same.

export interface Mask {
  readonly width: number;
  readonly height: number;
  /** Coverage from 0 to 255, row by row. */
  readonly values: Uint8Array;
}

/** Like a mask, with 24 bits per value. */
interface FineMask {
  readonly width: number;
  readonly height: number;
  readonly values: Int32Array;
}

/** A box blur that runs three times is nearly Gaussian. */
const PASSES = 3;
const FRACTION_BITS = 16;
/** A blur of at least this many pixels hides that the copy is smaller. */
const MIN_RADIUS = 3;

/** A blurred mask. It is drawn line by line, because storing all of it takes as long as computing it. */
export interface Blurred {
  /** Draws the part of a row from this column on. `words` has a word for each value, by its highest 12 bits of 24. */
  drawLine(row: number, column: number, line: Int32Array, words: Int32Array): void;
}

/** Values have 24 bits, of which the lowest don't matter. */
const UNUSED_BITS = 12;
/** The number of words for `drawLine`. */
export const SHARES: number = 0x1_00_0000 >> UNUSED_BITS;
/** The word for full coverage. */
export const FULL_SHARE: number = 0xff_0000 >> UNUSED_BITS;

/** Blurs the mask by three boxes of this radius. Pixels beyond its edges count as empty. */
export function blurred(mask: Mask, radius: number): Blurred {
  const factor = Math.max(1, Math.floor(radius / MIN_RADIUS));
  const small = shrunk(mask, factor);
  const other = { ...small, values: new Int32Array(small.values.length) };
  for (let pass = 0; pass < PASSES; pass += 1) {
    blurRows(small, other.values, Math.max(1, Math.round(radius / factor)));
    blurColumns(other, small.values, Math.max(1, Math.round(radius / factor)));
  }
  const values = new Float64Array(small.width + 1);
  return {
    drawLine: (row, column, line, words) => {
      interpolateRow(small, (row + 0.5) / factor - 0.5, values);
      drawInterpolated(values, factor, column, line, words);
    },
  };
}

/** Returns the mean of each square of pixels. */
function shrunk({ width, height, values }: Mask, factor: number): FineMask {
  const columns = Math.ceil(width / factor);
  const rows = Math.ceil(height / factor);
  const sums = new Int32Array(columns * rows);
  const share = (1 << FRACTION_BITS) / (factor * factor);
  for (let y = 0, at = 0; y < height; y += 1) {
    const row = Math.floor(y / factor) * columns;
    for (let x = 0; x < width; x += 1, at += 1) {
      const value = values[at] as number;
      if (value > 0) (sums[row + Math.floor(x / factor)] as number) += value * share;
    }
  }
  return { width: columns, height: rows, values: sums };
}

/** Replaces each value by the mean of the values within the radius, with a running sum. */
function blurRows({ width, height, values }: FineMask, to: Int32Array, radius: number): void {
  const share = 1 / (2 * radius + 1);
  for (let row = 0; row < height; row += 1) {
    const start = row * width;
    let sum = 0;
    for (let x = 0; x < radius && x < width; x += 1) sum += values[start + x] as number;
    for (let x = 0; x < width; x += 1) {
      if (x + radius < width) sum += values[start + x + radius] as number;
      to[start + x] = sum * share;
      if (x >= radius) sum -= values[start + x - radius] as number;
    }
  }
}

/** Like `blurRows`, but downward, with a running sum per column, so that memory is read in order. */
function blurColumns({ width, height, values }: FineMask, to: Int32Array, radius: number): void {
  const share = 1 / (2 * radius + 1);
  const sums = new Float64Array(width);
  for (let y = 0; y < radius && y < height; y += 1) {
    for (let x = 0; x < width; x += 1) (sums[x] as number) += values[y * width + x] as number;
  }
  for (let y = 0; y < height; y += 1) {
    const entering = (y + radius) * width;
    const leaving = (y - radius) * width;
    for (let x = 0; x < width; x += 1) {
      let sum = sums[x] as number;
      if (y + radius < height) sum += values[entering + x] as number;
      to[y * width + x] = sum * share;
      if (y >= radius) sum -= values[leaving + x] as number;
      sums[x] = sum;
    }
  }
}

/** Fills `to` with the values between two rows. The last one is there twice. */
function interpolateRow({ width, height, values }: FineMask, place: number, to: Float64Array): void {
  const from = Math.max(0, place);
  const above = Math.floor(from);
  const below = Math.min(height - 1, above + 1);
  const share = from - above;
  for (let column = 0; column < width; column += 1) {
    const upper = values[above * width + column] as number;
    to[column] = upper + ((values[below * width + column] as number) - upper) * share;
  }
  to[width] = to[width - 1] as number;
}

/** Interpolates linearly between values, each of which is in the middle of this many pixels. */
function drawInterpolated(
  values: Float64Array,
  factor: number,
  first: number,
  line: Int32Array,
  words: Int32Array,
): void {
  const width = line.length;
  let x = 0;
  while (x < width) {
    const place = Math.max(0, (first + x + 0.5) / factor - 0.5);
    const column = Math.floor(place);
    const isBefore = first + x + 0.5 < factor / 2;
    const value = values[column] as number;
    const step = isBefore ? 0 : ((values[column + 1] as number) - value) / factor;
    const end = Math.min(width, Math.ceil((column + (isBefore ? 0.5 : 1.5)) * factor - 0.5) - first);
    if (value === 0 && step === 0) {
      line.fill(0, x, end);
      x = end;
      continue;
    }
    let current = value + step * factor * (place - column);
    for (; x < end; x += 1, current += step) line[x] = words[current >> UNUSED_BITS] as number;
  }
}
