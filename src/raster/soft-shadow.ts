// A soft shadow: a blurred copy of what casts it. It is computed with 16 bits more than a byte has, so that it fades without
// visible steps.

export interface Mask {
  readonly width: number;
  readonly height: number;
  /** Coverage from 0 to 255, row by row. */
  readonly values: Uint8Array;
}

/** A box blur that runs three times is nearly Gaussian. */
const PASSES = 3;
const FRACTION_BITS = 16;

/** Blurs the mask by three boxes of this radius. Pixels beyond its edges count as empty. Values have 24 bits. */
export function blurred({ width, height, values }: Mask, radius: number): Int32Array {
  const current = Int32Array.from(values, (value) => value << FRACTION_BITS);
  const next = new Int32Array(current.length);
  for (let pass = 0; pass < PASSES; pass += 1) {
    blurLines(current, next, { lines: height, lineStep: width, length: width, step: 1, radius });
    blurLines(next, current, { lines: width, lineStep: 1, length: height, step: width, radius });
  }
  return current;
}

interface Lines {
  readonly lines: number;
  readonly lineStep: number;
  readonly length: number;
  readonly step: number;
  readonly radius: number;
}

/** Replaces each value by the mean of the values within the radius, with a running sum. */
function blurLines(from: Int32Array, to: Int32Array, { lines, lineStep, length, step, radius }: Lines): void {
  const share = 1 / (2 * radius + 1);
  for (let line = 0; line < lines; line += 1) {
    const start = line * lineStep;
    let sum = 0;
    for (let index = 0; index < Math.min(radius, length); index += 1) sum += from[start + index * step] ?? 0;
    for (let index = 0; index < length; index += 1) {
      if (index + radius < length) sum += from[start + (index + radius) * step] ?? 0;
      to[start + index * step] = sum * share;
      if (index >= radius) sum -= from[start + (index - radius) * step] ?? 0;
    }
  }
}
