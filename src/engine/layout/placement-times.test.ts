import { describe, expect, it } from 'vitest';
import type { Overlay } from '../caption/overlay.ts';
import { placeBars } from './placement.ts';

const CANVAS = 1_000;

function tops(overlays: readonly Partial<Overlay>[], height = 100): number[] {
  const list = overlays.map((overlay) => ({ text: 'a', position: null, ...overlay }));
  return placeBars(
    list,
    list.map(() => height),
    CANVAS,
  ).map(({ top }) => top);
}

describe('placeBars: defaulted bars with times', () => {
  it('bars with times keep their default positions when they are never shown together', () => {
    expect(tops([{ end: 1 }, { start: 1 }], 200)).toEqual([400, 500]);
    expect(tops([{ end: 1.001 }, { start: 1 }], 200)).toEqual([400, 600]);
  });

  it('avoid only the bars that are shown at the same time', () => {
    const bars = [{ position: 50, end: 2 }, { start: 1, end: 3 }, { start: 2.5 }];
    expect(tops(bars, 200)).toEqual([400, 600, 800]);
    expect(tops([bars[0] ?? {}, { start: 2 }, { start: 2.5 }], 200)).toEqual([400, 500, 700]);
  });

  it('bars without a position are packed only with bars shown in the same part of the video', () => {
    const crowd = Array.from({ length: 5 }, () => ({ end: 1 }));
    const later = Array.from({ length: 5 }, () => ({ start: 1 }));
    const placed = tops([...crowd, ...later], 180);
    for (const group of [placed.slice(0, 5), placed.slice(5)]) {
      const sorted = group.toSorted((a, b) => a - b);
      sorted.slice(1).forEach((top, index) => expect(top - (sorted[index] ?? 0)).toBeGreaterThanOrEqual(180));
    }
  });
});

describe('placeBars: cues', () => {
  const cue = (start: number, end: number) => ({ position: 80, start, end, isCue: true }) as const;

  it('cues have the same place when one follows the other', () => {
    expect(tops([cue(0, 1), cue(1, 2), cue(2, 3)])).toEqual([750, 750, 750]);
  });

  it('stack upward while they are shown together', () => {
    expect(tops([cue(0, 3), cue(1, 3), cue(2, 3)])).toEqual([750, 650, 550]);
  });

  it('cues return to their place when it is free again', () => {
    expect(tops([cue(0, 2), cue(1, 4), cue(2, 5)])).toEqual([750, 650, 750]);
  });

  it('stack in order of time, whatever the order of the file', () => {
    expect(tops([cue(1, 3), cue(0, 3)])).toEqual([650, 750]);
  });

  it('cues go below when there is no room above', () => {
    expect(
      tops([
        { ...cue(0, 2), position: 0 },
        { ...cue(0, 2), position: 0 },
      ]),
    ).toEqual([0, 100]);
  });
});
