// The discrete cosine transform of a block, in both directions.

const SIDE = 8;

/** For each index of the zigzag order, the place in the block. */
export const ZIGZAG: Uint8Array = zigzag();

function zigzag(): Uint8Array {
  const cells = Array.from({ length: SIDE * SIDE }, (_, at) => ({ row: at >> 3, column: at & 7, at }));
  // Diagonals from the top left, alternately upward and downward.
  cells.sort((a, b) => {
    const [diagonal, other] = [a.row + a.column, b.row + b.column];
    if (diagonal !== other) return diagonal - other;
    return diagonal % 2 === 0 ? b.row - a.row : a.row - b.row;
  });
  return Uint8Array.from(cells, ({ at }) => at);
}

/** By frequency, then by position. */
const BASIS = Float64Array.from({ length: SIDE * SIDE }, (_, index) => {
  const [frequency, position] = [index >> 3, index & 7];
  const scale = frequency === 0 ? Math.SQRT1_2 : 1;
  return (scale / 2) * Math.cos(((2 * position + 1) * frequency * Math.PI) / 16);
});
const columns = new Float64Array(SIDE * SIDE);

/** Frequencies to samples, in place. */
export function toSamples(block: Float64Array): void {
  columns.fill(0);
  for (let frequency = 0; frequency < SIDE; frequency += 1) {
    for (let column = 0; column < SIDE; column += 1) {
      const value = block[frequency * SIDE + column] ?? 0;
      if (value === 0) continue;
      for (let row = 0; row < SIDE; row += 1) {
        columns[row * SIDE + column] =
          (columns[row * SIDE + column] ?? 0) + value * (BASIS[frequency * SIDE + row] ?? 0);
      }
    }
  }
  for (let row = 0; row < SIDE * SIDE; row += SIDE) {
    for (let column = 0; column < SIDE; column += 1) {
      let sum = 0;
      for (let frequency = 0; frequency < SIDE; frequency += 1) {
        sum += (columns[row + frequency] ?? 0) * (BASIS[frequency * SIDE + column] ?? 0);
      }
      block[row + column] = sum;
    }
  }
}

/** Samples to frequencies, in place. */
export function toFrequencies(block: Float64Array): void {
  for (let frequency = 0; frequency < SIDE; frequency += 1) {
    for (let column = 0; column < SIDE; column += 1) {
      let sum = 0;
      for (let row = 0; row < SIDE; row += 1) {
        sum += (block[row * SIDE + column] ?? 0) * (BASIS[frequency * SIDE + row] ?? 0);
      }
      columns[frequency * SIDE + column] = sum;
    }
  }
  for (let row = 0; row < SIDE * SIDE; row += SIDE) {
    for (let frequency = 0; frequency < SIDE; frequency += 1) {
      let sum = 0;
      for (let column = 0; column < SIDE; column += 1) {
        sum += (columns[row + column] ?? 0) * (BASIS[frequency * SIDE + column] ?? 0);
      }
      block[row + frequency] = sum;
    }
  }
}
