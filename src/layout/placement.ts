// Places bars on the canvas: from positions in percent to pixel rows.

import { defaultPosition, type Overlay } from '../caption/overlay.ts';
import { must } from '../primitives/must.ts';

export interface Rows {
  readonly top: number;
  readonly height: number;
}

/**
 * An explicit position is used exactly, even if it covers another bar. A bar with a default position moves to avoid the
 * bars before it: down, or up where there is no room below, and only as far as needed.
 */
export function placeBars(overlays: readonly Overlay[], heights: readonly number[], canvasHeight: number): Rows[] {
  const placed = placeInOrder(overlays, heights, canvasHeight);
  const isCrowded = overlays.every(({ position }) => position === null) && overlapping(placed);
  return (isCrowded ? packDefaults(heights, canvasHeight) : undefined) ?? placed;
}

/**
 * With many bars on a low canvas, moving them one by one leaves gaps that are too small, although all bars would fit.
 * In that case all of them move: in the order of their default positions, each as close to its own position as
 * possible. Returns `undefined` when they don't fit.
 */
function packDefaults(heights: readonly number[], canvasHeight: number): Rows[] | undefined {
  const bars = heights
    .map((height, index) => ({ index, height, top: topFor(defaultPosition(index), height, canvasHeight) }))
    .toSorted((a, b) => defaultPosition(a.index) - defaultPosition(b.index));
  let free = 0;
  for (const bar of bars) {
    bar.top = Math.max(bar.top, free);
    free = bar.top + bar.height;
  }
  let limit = canvasHeight;
  for (const bar of bars.toReversed()) {
    bar.top = Math.min(bar.top, limit - bar.height);
    limit = bar.top;
  }
  if (limit < 0) return undefined;
  return bars.toSorted((a, b) => a.index - b.index).map(({ top, height }) => ({ top, height }));
}

function overlapping(bars: readonly Rows[]): boolean {
  const sorted = bars.toSorted((a, b) => a.top - b.top);
  return sorted.some((bar, index) => bar.top + bar.height > (sorted[index + 1]?.top ?? Number.POSITIVE_INFINITY));
}

function placeInOrder(overlays: readonly Overlay[], heights: readonly number[], canvasHeight: number): Rows[] {
  const placed: Rows[] = [];
  overlays.forEach((overlay, index) => {
    const height = must(heights[index], 'the height of the bar');
    const requested = topFor(overlay.position ?? defaultPosition(index), height, canvasHeight);
    const top = overlay.position === null ? freeTop(requested, height, canvasHeight, placed) : requested;
    placed.push({ top, height });
  });
  return placed;
}

/** Centers the bar at `position` percent of the height, then moves it inside, so that 0 and 100 touch the edges. */
function topFor(position: number, height: number, canvasHeight: number): number {
  const centered = Math.round((position / 100) * canvasHeight - height / 2);
  return Math.min(Math.max(centered, 0), canvasHeight - height);
}

function freeTop(requested: number, height: number, canvasHeight: number, placed: readonly Rows[]): number {
  const isFree = (top: number): boolean =>
    placed.every((bar) => top >= bar.top + bar.height || top + height <= bar.top) &&
    top >= 0 &&
    top + height <= canvasHeight;
  if (isFree(requested)) return requested;
  // The nearest free place always touches an earlier bar.
  const below = placed.map((bar) => bar.top + bar.height).filter((top) => top >= requested && isFree(top));
  if (below.length > 0) return Math.min(...below);
  const above = placed.map((bar) => bar.top - height).filter((top) => top <= requested && isFree(top));
  return above.length > 0 ? Math.max(...above) : requested;
}
