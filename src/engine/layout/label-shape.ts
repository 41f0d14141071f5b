// The shape of a `box`: a label around each line, joined where lines touch. Corners are round, and so are the inner corners
// where a line meets a wider one.

import { must } from '../../shared/must.ts';

export interface LabelRow {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** A corner of an outline. All edges are horizontal or vertical. */
export interface LabelCorner {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

/** The radius in em. */
const RADIUS = 0.3;
/** Edges closer than this, in em, are aligned, because a tiny step would look like a mistake. */
const MERGE_DISTANCE = 0.45;

/** Rows overlap their neighbors, so that each has its full padding. The outline runs clockwise from the top left corner. */
export function labelOutline(rows: readonly LabelRow[], em: number): LabelCorner[] {
  const lefts = merged(
    rows.map(({ left }) => -left),
    MERGE_DISTANCE * em,
  ).map((left) => -left);
  const rights = merged(
    rows.map(({ right }) => right),
    MERGE_DISTANCE * em,
  );
  const down = sideOf(rows, rights, (a, b) => a > b);
  const up = sideOf(rows, lefts, (a, b) => a < b).toReversed();
  return rounded([...down, ...up], RADIUS * em);
}

/** Moves edges outward to that of a neighbor which is only a little farther out, until no such pair is left. */
function merged(edges: readonly number[], distance: number): number[] {
  const result = [...edges];
  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    for (let index = 1; index < result.length; index += 1) {
      const [a, b] = [must(result[index - 1], 'the edge'), must(result[index], 'the edge')];
      if (a === b || Math.abs(a - b) >= distance) continue;
      result[index - 1] = Math.max(a, b);
      result[index] = Math.max(a, b);
      isChanged = true;
    }
  }
  return result;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * Returns the corners of one side from top to bottom. Where two rows overlap, the one that reaches farther out is
 * visible.
 */
function sideOf(
  rows: readonly LabelRow[],
  edges: readonly number[],
  isOutside: (a: number, b: number) => boolean,
): Point[] {
  const points: Point[] = [{ x: must(edges[0], 'the edge'), y: must(rows[0], 'the row').top }];
  for (let index = 1; index < rows.length; index += 1) {
    const [above, below] = [must(rows[index - 1], 'the row'), must(rows[index], 'the row')];
    const [from, to] = [must(edges[index - 1], 'the edge'), must(edges[index], 'the edge')];
    if (from === to) continue;
    const y = isOutside(from, to) ? above.bottom : below.top;
    points.push({ x: from, y }, { x: to, y });
  }
  return [...points, { x: must(edges.at(-1), 'the edge'), y: must(rows.at(-1), 'the row').bottom }];
}

/** The two corners of a short edge share it. */
function rounded(points: readonly Point[], radius: number): LabelCorner[] {
  return points.map((point, index) => {
    const before = must(points.at(index - 1), 'the corner before');
    const after = must(points[(index + 1) % points.length], 'the corner after');
    return { ...point, radius: Math.min(radius, lengthOf(before, point) / 2, lengthOf(point, after) / 2) };
  });
}

function lengthOf(a: Point, b: Point): number {
  return Math.abs(a.x - b.x) + Math.abs(a.y - b.y);
}
