// The order of the coefficients of a block, and the factors of its discrete cosine transform. The transform itself is in
// assembly/jpeg.

const SIDE = 8;
const BLOCK = SIDE * SIDE;

/** Maps each index of the zigzag order to its place in the block. */
export const ZIGZAG: Uint8Array = zigzag();
/** The same in a block whose rows and columns are swapped, as the transform has them. */
export const TRANSFORM_PLACES: Uint8Array = ZIGZAG.map((at) => (at & 7) * SIDE + (at >> 3));

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

/** Factors between quantized coefficients and what the transforms work on, at the places of the transform. */
export interface Scales {
  readonly toSamples: Float32Array;
  readonly toCoefficients: Float32Array;
}

/** `steps`: in zigzag order. */
export function scalesOf(steps: Uint16Array): Scales {
  const scales = { toSamples: new Float32Array(BLOCK), toCoefficients: new Float32Array(BLOCK) };
  for (const [index, place] of TRANSFORM_PLACES.entries()) {
    const factor = (steps[index] ?? 0) * (SCALE[place >> 3] ?? 0) * (SCALE[place & 7] ?? 0);
    scales.toSamples[place] = factor / SIDE;
    scales.toCoefficients[place] = 1 / (factor * SIDE);
  }
  return scales;
}
