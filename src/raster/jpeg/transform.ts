// The discrete cosine transform of a block, in both directions, after Arai, Agui and Nakajima: five multiplications per
// line, because the rest of the scale is part of the quantization tables.

const SIDE = 8;
const BLOCK = SIDE * SIDE;

/** Maps each index of the zigzag order to its place in the block. */
export const ZIGZAG: Uint8Array = zigzag();

function zigzag(): Uint8Array {
  const cells = Array.from({ length: BLOCK }, (_, at) => ({ row: at >> 3, column: at & 7, at }));
  // The order follows diagonals from the top left, alternately upward and downward.
  cells.sort((a, b) => {
    const [diagonal, other] = [a.row + a.column, b.row + b.column];
    if (diagonal !== other) return diagonal - other;
    return diagonal % 2 === 0 ? b.row - a.row : a.row - b.row;
  });
  return Uint8Array.from(cells, ({ at }) => at);
}

/** The factors that the transforms leave out, by frequency. */
const SCALE = Array.from({ length: SIDE }, (_, frequency) =>
  frequency === 0 ? 1 : Math.SQRT2 * Math.cos((frequency * Math.PI) / 16),
);

/** Factors between quantized coefficients, in zigzag order, and the values that the transforms work on. */
export interface Scales {
  readonly toSamples: Float64Array;
  readonly toCoefficients: Float64Array;
}

export function scalesOf(steps: Uint16Array): Scales {
  const factors = Array.from(steps, (step, index) => {
    const at = ZIGZAG[index] ?? 0;
    return step * (SCALE[at >> 3] ?? 0) * (SCALE[at & 7] ?? 0);
  });
  return {
    toSamples: Float64Array.from(factors, (factor) => factor / SIDE),
    toCoefficients: Float64Array.from(factors, (factor) => 1 / (factor * SIDE)),
  };
}

/** Converts frequencies to samples, in place. */
export function toSamples(block: Float64Array): void {
  for (let at = 0; at < SIDE; at += 1) inverse(block, at, SIDE);
  for (let at = 0; at < BLOCK; at += SIDE) inverse(block, at, 1);
}

/** Converts samples to frequencies, in place. */
export function toFrequencies(block: Float64Array): void {
  for (let at = 0; at < BLOCK; at += SIDE) forward(block, at, 1);
  for (let at = 0; at < SIDE; at += 1) forward(block, at, SIDE);
}

const { SQRT2, SQRT1_2 } = Math;
const COSINE_6 = 2 * Math.cos((3 * Math.PI) / 8);
const COSINE_2 = 2 * Math.cos(Math.PI / 8);
const DIFFERENCE = 2 * (Math.cos(Math.PI / 8) - Math.cos((3 * Math.PI) / 8));
const SUM = 2 * (Math.cos(Math.PI / 8) + Math.cos((3 * Math.PI) / 8));

function inverse(block: Float64Array, at: number, step: number): void {
  const i1 = step;
  const i2 = 2 * step;
  const i3 = 3 * step;
  const i4 = 4 * step;
  const i5 = 5 * step;
  const i6 = 6 * step;
  const i7 = 7 * step;
  const evenSum = (block[at] ?? 0) + (block[at + i4] ?? 0);
  const evenDifference = (block[at] ?? 0) - (block[at + i4] ?? 0);
  const innerSum = (block[at + i2] ?? 0) + (block[at + i6] ?? 0);
  const inner = ((block[at + i2] ?? 0) - (block[at + i6] ?? 0)) * SQRT2 - innerSum;
  const even0 = evenSum + innerSum;
  const even3 = evenSum - innerSum;
  const even1 = evenDifference + inner;
  const even2 = evenDifference - inner;
  const sum53 = (block[at + i5] ?? 0) + (block[at + i3] ?? 0);
  const difference53 = (block[at + i5] ?? 0) - (block[at + i3] ?? 0);
  const sum17 = (block[at + i1] ?? 0) + (block[at + i7] ?? 0);
  const difference17 = (block[at + i1] ?? 0) - (block[at + i7] ?? 0);
  const rotated = (difference53 + difference17) * COSINE_2;
  const odd0 = sum17 + sum53;
  const odd1 = rotated - difference53 * SUM - odd0;
  const odd2 = (sum17 - sum53) * SQRT2 - odd1;
  const odd3 = rotated - difference17 * DIFFERENCE - odd2;
  block[at] = even0 + odd0;
  block[at + i7] = even0 - odd0;
  block[at + i1] = even1 + odd1;
  block[at + i6] = even1 - odd1;
  block[at + i2] = even2 + odd2;
  block[at + i5] = even2 - odd2;
  block[at + i3] = even3 + odd3;
  block[at + i4] = even3 - odd3;
}

function forward(block: Float64Array, at: number, step: number): void {
  const i1 = step;
  const i2 = 2 * step;
  const i3 = 3 * step;
  const i4 = 4 * step;
  const i5 = 5 * step;
  const i6 = 6 * step;
  const i7 = 7 * step;
  const sum07 = (block[at] ?? 0) + (block[at + i7] ?? 0);
  const difference07 = (block[at] ?? 0) - (block[at + i7] ?? 0);
  const sum16 = (block[at + i1] ?? 0) + (block[at + i6] ?? 0);
  const difference16 = (block[at + i1] ?? 0) - (block[at + i6] ?? 0);
  const sum25 = (block[at + i2] ?? 0) + (block[at + i5] ?? 0);
  const difference25 = (block[at + i2] ?? 0) - (block[at + i5] ?? 0);
  const sum34 = (block[at + i3] ?? 0) + (block[at + i4] ?? 0);
  const difference34 = (block[at + i3] ?? 0) - (block[at + i4] ?? 0);
  const outer = sum07 - sum34;
  const turned = (sum16 - sum25 + outer) * SQRT1_2;
  block[at] = sum07 + sum34 + sum16 + sum25;
  block[at + i4] = sum07 + sum34 - sum16 - sum25;
  block[at + i2] = outer + turned;
  block[at + i6] = outer - turned;
  const low = difference34 + difference25;
  const high = difference16 + difference07;
  const shared = (low - high) * (COSINE_6 / 2);
  const z2 = low * (DIFFERENCE / 2) + shared;
  const z4 = high * (SUM / 2) + shared;
  const middle = (difference25 + difference16) * SQRT1_2;
  block[at + i5] = difference07 - middle + z2;
  block[at + i3] = difference07 - middle - z2;
  block[at + i1] = difference07 + middle + z4;
  block[at + i7] = difference07 + middle - z4;
}
