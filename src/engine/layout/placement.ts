// Places bars on the canvas, which converts positions in percent to pixel rows.

import { DEFAULT_CUE_POSITION, defaultPosition, type Overlay } from '../caption/overlay.ts';
import { areShownTogether } from '../caption/timing-field.ts';
import { must } from '../../shared/must.ts';
import type { Margins } from '../caption/safe-area.ts';
import { NO_MARGINS } from './safe-area.ts';

export interface Rows {
  readonly top: number;
  readonly height: number;
}

/** The rows that bars may use. Positions are percentages of the whole height. */
interface Room {
  readonly top: number;
  readonly bottom: number;
  readonly canvasHeight: number;
}

/**
 * An explicit position is used exactly, even if it covers another bar. A bar with a default position moves to avoid the
 * bars before it: down, or up where there is no room below, and only as far as needed. Cues of subtitles move up first.
 * Bars that are never shown at the same time don't avoid each other.
 */
export function placeBars(
  overlays: readonly Overlay[],
  heights: readonly number[],
  canvasHeight: number,
  margins: Pick<Margins, 'top' | 'bottom'> = NO_MARGINS,
): Rows[] {
  const room = roomWithin(canvasHeight, margins);
  const placed = placeInOrder(overlays, heights, room);
  for (const group of overlays.every(({ position, isCue }) => position === null && isCue !== true)
    ? shownTogether(overlays)
    : []) {
    const rows = group.map((index) => must(placed[index], 'the rows of the bar'));
    const packed = overlapping(rows) ? packDefaults(group, heights, room) : undefined;
    for (const [at, index] of group.entries()) placed[index] = must((packed ?? rows)[at], 'the rows of the bar');
  }
  return placed;
}

function roomWithin(canvasHeight: number, { top, bottom }: Pick<Margins, 'top' | 'bottom'>): Room {
  return { top, bottom: canvasHeight - bottom, canvasHeight };
}

/** Returns the indexes of bars, in groups that have no time in common. */
function shownTogether(overlays: readonly Overlay[]): number[][] {
  let groups: number[][] = [];
  for (const [index, overlay] of overlays.entries()) {
    const isTogether = (group: readonly number[]): boolean =>
      group.some((other) => areShownTogether(overlay, must(overlays[other], 'the other bar')));
    const together = groups.filter(isTogether);
    groups = [...groups.filter((group) => !together.includes(group)), [...together.flat(), index]];
  }
  return groups.map((group) => group.toSorted((a, b) => a - b));
}

/**
 * With many bars on a low canvas, moving them one by one leaves gaps that are too small, although all bars would fit.
 * In that case all of them move: in the order of their default positions, each as close to its own position as
 * possible. Returns `undefined` when they don't fit.
 */
function packDefaults(indexes: readonly number[], heights: readonly number[], room: Room): Rows[] | undefined {
  const bars = indexes
    .map((index) => ({ index, height: must(heights[index], 'the height of the bar') }))
    .map((bar) => ({ ...bar, top: topFor(defaultPosition(bar.index), bar.height, room) }))
    .toSorted((a, b) => defaultPosition(a.index) - defaultPosition(b.index));
  let free = room.top;
  for (const bar of bars) {
    bar.top = Math.max(bar.top, free);
    free = bar.top + bar.height;
  }
  let limit = room.bottom;
  for (const bar of bars.toReversed()) {
    bar.top = Math.min(bar.top, limit - bar.height);
    limit = bar.top;
  }
  if (limit < room.top) return undefined;
  return bars.toSorted((a, b) => a.index - b.index).map(({ top, height }) => ({ top, height }));
}

function overlapping(bars: readonly Rows[]): boolean {
  const sorted = bars.toSorted((a, b) => a.top - b.top);
  return sorted.some((bar, index) => bar.top + bar.height > (sorted[index + 1]?.top ?? Number.POSITIVE_INFINITY));
}

function placeInOrder(overlays: readonly Overlay[], heights: readonly number[], room: Room): Rows[] {
  const placed: Rows[] = [];
  for (const index of placingOrder(overlays)) {
    const overlay = must(overlays[index], 'the overlay');
    const height = must(heights[index], 'the height of the bar');
    const requested = topFor(positionOf(overlay, index), height, room);
    const others = placed.filter((_, other) => areShownTogether(overlay, must(overlays[other], 'the other bar')));
    const isMovable = overlay.position === null || overlay.isCue === true;
    const direction = overlay.isCue === true ? 'up' : 'down';
    const top = isMovable ? freeTop(requested, height, room, others, direction) : requested;
    placed[index] = { top, height };
  }
  return placed;
}

/**
 * Returns the order of the request, but subtitles in order of time, so that a new cue goes above one that is already
 * there.
 */
function placingOrder(overlays: readonly Overlay[]): number[] {
  const startOf = ({ isCue, start = 0 }: Overlay): number => (isCue === true ? start : 0);
  return overlays
    .map((overlay, index) => ({ index, start: startOf(overlay) }))
    .toSorted((a, b) => a.start - b.start)
    .map(({ index }) => index);
}

function positionOf({ position, isCue }: Overlay, index: number): number {
  return position ?? (isCue === true ? DEFAULT_CUE_POSITION : defaultPosition(index));
}

/** Centers the bar at `position` percent of the height, then moves it inside, so that 0 and 100 touch the edges. */
function topFor(position: number, height: number, { top, bottom, canvasHeight }: Room): number {
  const centered = Math.round((position / 100) * canvasHeight - height / 2);
  return Math.min(Math.max(centered, top), bottom - height);
}

/** Returns whether margins move a bar away from its explicit position. */
export function isMoved(
  { position }: Pick<Overlay, 'position'>,
  height: number,
  canvasHeight: number,
  margins: Pick<Margins, 'top' | 'bottom'>,
): boolean {
  if (position === null) return false;
  const [inside, anywhere] = [margins, NO_MARGINS].map((limits) => roomWithin(canvasHeight, limits));
  return topFor(position, height, must(inside, 'the room')) !== topFor(position, height, must(anywhere, 'the canvas'));
}

function freeTop(
  requested: number,
  height: number,
  room: Room,
  placed: readonly Rows[],
  direction: 'up' | 'down',
): number {
  const isFree = (top: number): boolean =>
    placed.every((bar) => top >= bar.top + bar.height || top + height <= bar.top) &&
    top >= room.top &&
    top + height <= room.bottom;
  if (isFree(requested)) return requested;
  // The nearest free place always touches an earlier bar.
  const below = placed.map((bar) => bar.top + bar.height).filter((top) => top >= requested && isFree(top));
  const above = placed.map((bar) => bar.top - height).filter((top) => top <= requested && isFree(top));
  const nearest = [Math.max(...above), Math.min(...below)];
  return (direction === 'up' ? nearest : nearest.toReversed()).find(Number.isFinite) ?? requested;
}
