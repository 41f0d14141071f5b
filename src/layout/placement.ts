// Bars on the canvas: from positions in percent to pixel rows.

import { defaultPosition, type Overlay } from '../caption/overlay.ts';

export interface Rows {
  readonly top: number;
  readonly height: number;
}

/**
 * An explicit position is obeyed exactly, even over another bar. A defaulted one gives way to the bars before it: down, or
 * up where there is no room below, just as far as needed.
 */
export function placeBars(overlays: readonly Overlay[], heights: readonly number[], canvasHeight: number): Rows[] {
  const placed = placeInOrder(overlays, heights, canvasHeight);
  const crowded = overlays.every(({ position }) => position === null) && overlapping(placed);
  return (crowded ? packDefaults(heights, canvasHeight) : undefined) ?? placed;
}

/**
 * Many bars on a low canvas: giving way one after the other leaves gaps that are too small, though all would fit. Then all
 * move: from the top in the order of their default positions, each as near to its own as the others let it.
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
    const height = heights[index] ?? 0;
    const wanted = topFor(overlay.position ?? defaultPosition(index), height, canvasHeight);
    const top = overlay.position === null ? freeTop(wanted, height, canvasHeight, placed) : wanted;
    placed.push({ top, height });
  });
  return placed;
}

/** The bar's centre at `position` percent of the height, then moved inside: 0 touches the top edge, 100 the bottom edge. */
function topFor(position: number, height: number, canvasHeight: number): number {
  const centred = Math.round((position / 100) * canvasHeight - height / 2);
  return Math.min(Math.max(centred, 0), canvasHeight - height);
}

function freeTop(wanted: number, height: number, canvasHeight: number, placed: readonly Rows[]): number {
  const isFree = (top: number): boolean =>
    placed.every((bar) => top >= bar.top + bar.height || top + height <= bar.top) &&
    top >= 0 &&
    top + height <= canvasHeight;
  if (isFree(wanted)) return wanted;
  // The nearest free place always touches an earlier bar.
  const below = placed.map((bar) => bar.top + bar.height).filter((top) => top >= wanted && isFree(top));
  if (below.length > 0) return Math.min(...below);
  const above = placed.map((bar) => bar.top - height).filter((top) => top <= wanted && isFree(top));
  return above.length > 0 ? Math.max(...above) : wanted;
}
