// Grows a mask by a distance in all directions, with smooth edges. It draws the outline around color emoji, which have no
// outlines that Skia could stroke.

import type { Mask } from './soft-shadow.ts';

/**
 * Draws a disc around each pixel where the mask ends. The disc of a partly covered pixel is smaller by the missing
 * part. A line through a disc costs only its ends, so the time grows with the pixels of an emoji and not with their
 * square. `distance` is at least 1.
 */
export function grown(mask: Mask, distance: number): Uint8Array {
  const { width, height, values } = mask;
  const { rowStarts, columns } = edgesOf(mask, maxDrop(distance));
  // A pixel of the mask is at the center of its own disc.
  const result = values.map((value) => (value === 0 ? 0 : 255));
  const reach = Math.ceil(distance + 1);
  const solid = new Int32Array(width + 1);
  for (let y = 0; y < height; y += 1) {
    const line = result.subarray(y * width, (y + 1) * width);
    for (let row = Math.max(0, y - reach); row <= Math.min(height - 1, y + reach); row += 1) {
      const end = rowStarts[row + 1] ?? 0;
      for (let edge = rowStarts[row] ?? 0; edge < end; edge += 1) {
        const x = columns[edge] ?? 0;
        addDisc(line, solid, x, y - row, distance + (values[row * width + x] ?? 0) / 255);
      }
    }
    fillSolid(line, solid);
  }
  return result;
}

interface Edges {
  /** The start of each row's edges in `columns`, and the end of the last row's. */
  readonly rowStarts: Uint32Array;
  readonly columns: Uint32Array;
}

/** Leaves out a pixel whose neighbors cover at most `drop` less than it, because their discs cover all that its disc would. */
function edgesOf({ width, height, values }: Mask, drop: number): Edges {
  const rowStarts = new Uint32Array(height + 1);
  const columns: number[] = [];
  for (let y = 0; y < height; y += 1) {
    const isOuterRow = y === 0 || y === height - 1;
    for (let x = 0, at = y * width; x < width; x += 1, at += 1) {
      const value = values[at] ?? 0;
      if (value === 0) continue;
      const least = Math.max(1, value - drop);
      const isOuter = isOuterRow || x === 0 || x === width - 1;
      const isEdge =
        isOuter ||
        (values[at - 1] ?? 0) < least ||
        (values[at + 1] ?? 0) < least ||
        (values[at - width] ?? 0) < least ||
        (values[at + width] ?? 0) < least;
      if (isEdge) columns.push(x);
    }
    rowStarts[y + 1] = columns.length;
  }
  return { rowStarts, columns: Uint32Array.from(columns) };
}

/**
 * Returns how much closer the step to a neighbor comes to any pixel that isn't solid anyway, as a coverage. The minimum
 * is at a pixel in a diagonal direction.
 */
function maxDrop(distance: number): number {
  const nearest = Math.max(Math.SQRT2, distance - 1);
  return Math.floor(255 * (nearest - Math.sqrt(nearest * nearest - Math.SQRT2 * nearest + 1)));
}

/** `depth` is how far a pixel is inside the disc, whose radius is half a pixel more. */
function coverageOf(depth: number): number {
  return Math.max(0, Math.min(255, Math.round(depth * 255)));
}

/** A pixel that is this far inside the disc is fully covered. */
const SOLID_DEPTH = 254.5 / 255;

/**
 * Adds a line through a disc, `dy` above or below its center. `solid` counts where fully covered pixels start and end.
 */
function addDisc(line: Uint8Array, solid: Int32Array, x: number, dy: number, radius: number): void {
  const squared = dy * dy;
  const inner = radius - SOLID_DEPTH;
  let dx = 0;
  if (inner * inner >= squared && inner >= 0) {
    const half = Math.floor(Math.sqrt(inner * inner - squared));
    const start = Math.max(0, x - half);
    const end = Math.min(line.length, x + half + 1);
    solid[start] = (solid[start] ?? 0) + 1;
    solid[end] = (solid[end] ?? 0) - 1;
    dx = half + 1;
  }
  for (; ; dx += 1) {
    const coverage = coverageOf(radius - Math.sqrt(dx * dx + squared));
    if (coverage === 0) return;
    if (x >= dx && coverage > (line[x - dx] ?? 0)) line[x - dx] = coverage;
    if (x + dx < line.length && coverage > (line[x + dx] ?? 0)) line[x + dx] = coverage;
  }
}

/** Fills solid areas, and clears `solid` for the next line. */
function fillSolid(line: Uint8Array, solid: Int32Array): void {
  let discs = 0;
  for (let x = 0; x < line.length; x += 1) {
    discs += solid[x] ?? 0;
    if (discs > 0) line[x] = 255;
  }
  solid.fill(0);
}
