import { describe, expect, it } from 'vitest';
import { defaultPosition, type Overlay } from '../caption/overlay.ts';
import { placeBars } from './placement.ts';

const CANVAS = 1000;

/** The top rows of bars with these positions (`null` = default), all of one height unless told. */
function tops(
  positions: readonly (number | null)[],
  heights: readonly number[] | number = 100,
  canvas = CANVAS,
): number[] {
  const overlays: Overlay[] = positions.map((position) => ({ text: 'a', position }));
  const list = typeof heights === 'number' ? positions.map(() => heights) : heights;
  return placeBars(overlays, list, canvas).map(({ top }) => top);
}

describe('position', () => {
  it.each([
    [0, 0],
    [5, 0],
    [10, 50],
    [25, 200],
    [50, 450],
    [75, 700],
    [95, 900],
    [100, 900],
  ])('%d %% puts the centre there, then the whole bar inside: top row %d', (position, top) => {
    expect(tops([position])).toEqual([top]);
  });

  it('is a share of the height, to the nearest row', () => {
    expect(tops([33.333], 104, 1920)).toEqual([588]);
    expect(tops([50], 103, 1080)).toEqual([489]);
    expect(tops([50], 1, 2)).toEqual([1]);
  });

  it.each([0, 50, 100])('of a bar as tall as the canvas makes no difference: %d', (position) => {
    expect(tops([position], CANVAS)).toEqual([0]);
  });

  it('gives every bar its own height back', () => {
    const overlays = [10, 90].map((position) => ({ text: 'a', position }));
    expect(placeBars(overlays, [100, 160], CANVAS)).toEqual([
      { top: 50, height: 100 },
      { top: 820, height: 160 },
    ]);
  });
});

describe('default positions', () => {
  it('are 50 and down to the edge, then 40 and up', () => {
    expect(Array.from({ length: 10 }, (_, index) => defaultPosition(index))).toEqual([
      50, 60, 70, 80, 90, 100, 40, 30, 20, 10,
    ]);
    expect(() => defaultPosition(10)).toThrow(RangeError);
  });

  it('are kept exactly where nothing collides', () => {
    expect(
      tops(
        Array.from({ length: 10 }, () => null),
        50,
      ),
    ).toEqual([475, 575, 675, 775, 875, 950, 375, 275, 175, 75]);
  });

  it('count by place in the list, also after explicit ones', () => {
    expect(tops([10, null, 30, null], 50)).toEqual([75, 575, 275, 775]);
  });

  it('touch without moving when bars are exactly ten points tall', () => {
    expect(tops([null, null, null], 100)).toEqual([450, 550, 650]);
  });
});

describe('bars that would cover each other', () => {
  it('a defaulted one moves down, just far enough', () => {
    expect(tops([null, null, null], 130)).toEqual([435, 565, 695]);
  });

  it('passes several bars in one go', () => {
    expect(tops([50, 60, 70, null], [100, 100, 100, 300])).toEqual([450, 550, 650, 100 + 50]);
    expect(tops([60, 70, null], 100)).toEqual([550, 650, 750]);
  });

  it('moves up when there is no room below, just far enough', () => {
    expect(tops([95, null, null, null], [100, 100, 100, 400])).toEqual([900, 550, 650, 150]);
  });

  it('takes a gap between two bars only if it fits', () => {
    expect(tops([60, 80, null], [100, 100, 100])).toEqual([550, 750, 650]);
    expect(tops([60, 80, null], [100, 100, 110])).toEqual([550, 750, 850]);
  });

  it('an explicit one is obeyed exactly, even over another bar', () => {
    expect(tops([50, 50, 52], 100)).toEqual([450, 450, 470]);
    expect(tops([null, 50], 100)).toEqual([450, 450]);
  });

  it('a defaulted one does not give way to a later explicit bar', () => {
    expect(tops([null, 52], 100)).toEqual([450, 470]);
  });

  it('without room anywhere a defaulted one stays at its position', () => {
    expect(tops([50, null], [700, 200])).toEqual([150, 500]);
  });
});

describe('ten defaults on a low canvas', () => {
  it('all move a little rather than one covering another', () => {
    const placed = tops(Array(10).fill(null), 104, 1080).toSorted((a, b) => a - b);
    expect(placed[0]).toBeGreaterThanOrEqual(0);
    placed.forEach((top, index) => expect(top + 104).toBeLessThanOrEqual(placed[index + 1] ?? 1080));
  });

  it('stay where they are when even that is not enough', () => {
    expect(tops(Array(10).fill(null), 200, 1080)).toHaveLength(10);
  });
});
