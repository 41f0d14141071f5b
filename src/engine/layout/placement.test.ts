import { describe, expect, it } from 'vitest';
import { defaultPosition, type Overlay } from '../caption/overlay.ts';
import { placeBars } from './placement.ts';

const CANVAS = 1000;

/** Returns the top rows of bars at these positions (`null` means default), all of the same height unless given. */
function tops(
  positions: readonly (number | null)[],
  heights: readonly number[] | number = 100,
  canvas = CANVAS,
): number[] {
  const overlays: Overlay[] = positions.map((position) => ({ text: 'a', position }));
  const list = typeof heights === 'number' ? positions.map(() => heights) : heights;
  return placeBars(overlays, list, canvas).map(({ top }) => top);
}

describe('placeBars: explicit positions', () => {
  it.each([
    [0, 0],
    [5, 0],
    [10, 50],
    [25, 200],
    [50, 450],
    [75, 700],
    [95, 900],
    [100, 900],
  ])('centers the bar at %d %% and moves it inside the canvas: top row %d', (position, top) => {
    expect(tops([position])).toEqual([top]);
  });

  it('rounds to the nearest row', () => {
    expect(tops([33.333], 104, 1920)).toEqual([588]);
    expect(tops([50], 103, 1080)).toEqual([489]);
    expect(tops([50], 1, 2)).toEqual([1]);
  });

  it.each([0, 50, 100])('places a bar as tall as the canvas at the top: position %d', (position) => {
    expect(tops([position], CANVAS)).toEqual([0]);
  });

  it('returns the height of each bar', () => {
    const overlays = [10, 90].map((position) => ({ text: 'a', position }));
    expect(placeBars(overlays, [100, 160], CANVAS)).toEqual([
      { top: 50, height: 100 },
      { top: 820, height: 160 },
    ]);
  });
});

describe('placeBars: default positions', () => {
  it('default positions are 50 to 100 in steps of 10, then 40 to 10', () => {
    expect(Array.from({ length: 10 }, (_, index) => defaultPosition(index))).toEqual([
      50, 60, 70, 80, 90, 100, 40, 30, 20, 10,
    ]);
    expect(() => defaultPosition(10)).toThrow(RangeError);
  });

  it('default positions are used exactly when no bars overlap', () => {
    expect(
      tops(
        Array.from({ length: 10 }, () => null),
        50,
      ),
    ).toEqual([475, 575, 675, 775, 875, 950, 375, 275, 175, 75]);
  });

  it('depend on the index in the list, also after explicit positions', () => {
    expect(tops([10, null, 30, null], 50)).toEqual([75, 575, 275, 775]);
  });

  it('default positions do not change when bars are exactly 10 % tall and touch each other', () => {
    expect(tops([null, null, null], 100)).toEqual([450, 550, 650]);
  });
});

describe('placeBars: bars that would overlap', () => {
  it('moves a bar with a default position down, just far enough', () => {
    expect(tops([null, null, null], 130)).toEqual([435, 565, 695]);
  });

  it('moves a bar past several others', () => {
    expect(tops([50, 60, 70, null], [100, 100, 100, 300])).toEqual([450, 550, 650, 100 + 50]);
    expect(tops([60, 70, null], 100)).toEqual([550, 650, 750]);
  });

  it('moves a bar up when there is no room below, just far enough', () => {
    expect(tops([95, null, null, null], [100, 100, 100, 400])).toEqual([900, 550, 650, 150]);
  });

  it('uses a gap between two bars only if the bar fits', () => {
    expect(tops([60, 80, null], [100, 100, 100])).toEqual([550, 750, 650]);
    expect(tops([60, 80, null], [100, 100, 110])).toEqual([550, 750, 850]);
  });

  it('uses an explicit position exactly, even over another bar', () => {
    expect(tops([50, 50, 52], 100)).toEqual([450, 450, 470]);
    expect(tops([null, 50], 100)).toEqual([450, 450]);
  });

  it('a bar does not move for a later one with an explicit position', () => {
    expect(tops([null, 52], 100)).toEqual([450, 470]);
  });

  it('keeps the default position when there is no room anywhere', () => {
    expect(tops([50, null], [700, 200])).toEqual([150, 500]);
  });
});

describe('placeBars: ten default positions on a low canvas', () => {
  it('moves all bars a little so that none overlap', () => {
    const placed = tops(Array(10).fill(null), 104, 1080).toSorted((a, b) => a - b);
    expect(placed[0]).toBeGreaterThanOrEqual(0);
    placed.forEach((top, index) => expect(top + 104).toBeLessThanOrEqual(placed[index + 1] ?? 1080));
  });

  it('returns all bars even when they cannot all fit', () => {
    expect(tops(Array(10).fill(null), 200, 1080)).toHaveLength(10);
  });
});
