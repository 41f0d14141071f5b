import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fakeMeasurer } from '../../../test/fake-measurer.ts';
import { anyCanvas, anyCaption, ltrCaption } from '../../../test/random-captions.ts';
import { randomCases } from '../../../test/random-cases.ts';
import { graphemes } from '../caption/graphemes.ts';
import { defaultPosition, type Overlay } from '../caption/overlay.ts';
import { must } from '../../shared/must.ts';
import { type Bar, type Layout, layoutOverlays } from './layout.ts';
import type { Size } from './geometry.ts';
import { placeBars, type Rows } from './placement.ts';

/** The seed is fixed, so that a failure is the same on every machine. Slow properties use fewer runs. */
const RUNS = { seed: 20_240_229, numRuns: randomCases({ usually: 25, all: 400 }) } as const;

function layOut(overlays: readonly Overlay[], canvas: Size): Layout {
  return layoutOverlays(overlays, canvas, () => fakeMeasurer);
}

function barOf(text: string, canvas: Size): Bar {
  const [bar] = layOut([{ text, position: null }], canvas).bars;
  if (!bar) throw new Error('no bar');
  return bar;
}

const position = fc.oneof(fc.constant(null), fc.double({ min: 0, max: 100, noNaN: true }));
const anyOverlays = fc.array(fc.record({ text: anyCaption, position }), { minLength: 1, maxLength: 6 });

/** Returns the texts of the runs of each line, from left to right. */
function runTexts({ lines }: Bar): string[][] {
  return lines.map((line) => line.runs.map((run) => run.text));
}

/**
 * Returns the part of the caption that each line shows: as long as its runs, without the spaces and newlines between
 * lines.
 */
function sourceOfLines(caption: string, lines: readonly string[][]): string[] {
  let at = 0;
  const sources = lines.map((runs) => {
    const { length } = runs.join('');
    if (length > 0) while (/\s/u.test(caption.charAt(at))) at += 1;
    at += length;
    return caption.slice(at - length, at);
  });
  expect(caption.slice(at).trim()).toBe('');
  return sources;
}

describe('every line of every caption', () => {
  it('every line fits the wrap width', () => {
    fc.assert(
      fc.property(anyCaption, anyCanvas, (text, canvas) => {
        const widest = Math.max(...barOf(text, canvas).lines.map(({ width }) => width));
        expect(widest).toBeLessThanOrEqual(0.92 * canvas.width + 1e-6);
      }),
      RUNS,
    );
  });

  it('every line shows its part of a left-to-right caption unchanged', () => {
    fc.assert(
      fc.property(ltrCaption, anyCanvas, (text, canvas) => {
        const lines = runTexts(barOf(text, canvas));
        expect(lines.map((runs) => runs.join(''))).toEqual(sourceOfLines(text, lines));
      }),
      RUNS,
    );
  });

  it('every line shows its part of a bidirectional caption without lost or repeated characters or spaces at the ends', () => {
    fc.assert(
      fc.property(anyCaption, anyCanvas, (text, canvas) => {
        const lines = runTexts(barOf(text, canvas));
        sourceOfLines(text, lines).forEach((source, index) => {
          const runs = lines[index] ?? [];
          expect(runs.flatMap(graphemes).toSorted()).toEqual(graphemes(source).toSorted());
          for (const run of runs) expect(source).toContain(run);
          expect(source).toBe(source.trim());
        });
      }),
      RUNS,
    );
  });

  it('every line is as wide as its runs, which have no gaps between them', () => {
    fc.assert(
      fc.property(anyCaption, anyCanvas, (text, canvas) => {
        const { lines, fontSize } = barOf(text, canvas);
        for (const line of lines) {
          let x = 0;
          for (const run of line.runs) {
            expect(run.x).toBeCloseTo(x, 6);
            x += fakeMeasurer.measure(run, fontSize).width;
          }
          expect(line.width).toBeCloseTo(x, 6);
        }
      }),
      RUNS,
    );
  });

  it('every line has its baseline inside the bar, below that of the line before', () => {
    fc.assert(
      fc.property(anyCaption, anyCanvas, (text, canvas) => {
        const { lines, height } = barOf(text, canvas);
        const baselines = lines.map(({ baseline }) => baseline);
        expect(baselines).toEqual(baselines.toSorted((a, b) => a - b));
        expect(Math.min(...baselines)).toBeGreaterThanOrEqual(0);
        expect(Math.max(...baselines)).toBeLessThanOrEqual(height);
      }),
      RUNS,
    );
  });
});

describe('every layout', () => {
  it('every layout places all bars inside the canvas, in whole pixels', () => {
    fc.assert(
      fc.property(anyOverlays, anyCanvas, (overlays, canvas) => {
        const { bars } = layOut(overlays, canvas);
        expect(bars).toHaveLength(overlays.length);
        for (const { top, height } of bars) {
          expect(Number.isInteger(top) && Number.isInteger(height)).toBe(true);
          expect(top).toBeGreaterThanOrEqual(0);
          expect(height).toBeGreaterThanOrEqual(1);
          expect(top + height).toBeLessThanOrEqual(canvas.height);
        }
      }),
      { ...RUNS, numRuns: randomCases({ usually: 25, all: 200 }) },
    );
  });

  it('the same input always gets the same layout', () => {
    fc.assert(
      fc.property(anyOverlays, anyCanvas, (overlays, canvas) => {
        expect(layOut(structuredClone(overlays), { ...canvas })).toEqual(layOut(overlays, canvas));
      }),
      { ...RUNS, numRuns: randomCases({ usually: 20, all: 100 }) },
    );
  });

  it('every bar has the height it would have alone', () => {
    fc.assert(
      fc.property(anyOverlays, anyCanvas, (overlays, canvas) => {
        const alone = overlays.map(({ text }) => barOf(text, canvas).height);
        expect(layOut(overlays, canvas).bars.map(({ height }) => height)).toEqual(alone);
      }),
      { ...RUNS, numRuns: randomCases({ usually: 20, all: 100 }) },
    );
  });
});

describe('placeBars', () => {
  const bars = fc.array(fc.record({ position, share: fc.double({ min: 0.01, max: 0.6, noNaN: true }) }), {
    minLength: 1,
    maxLength: 10,
  });
  const canvasHeight = fc.integer({ min: 16, max: 600 });

  /** This is a reference implementation of the contract. It tries every row, first downwards, then upwards. */
  function nearestFree(requested: number, height: number, canvas: number, earlier: readonly Rows[]): number {
    const isFree = (top: number): boolean =>
      earlier.every((bar) => top >= bar.top + bar.height || top + height <= bar.top);
    for (let top = requested; top + height <= canvas; top += 1) if (isFree(top)) return top;
    for (let top = requested; top >= 0; top -= 1) if (isFree(top)) return top;
    return requested;
  }

  /** Places bars one after the other, each avoiding those before it. */
  function oneByOne(overlays: readonly Overlay[], heights: readonly number[], canvas: number): Rows[] {
    const rows: Rows[] = [];
    overlays.forEach((overlay, index) => {
      const height = must(heights[index], 'the height of the bar');
      const centered = Math.round(((overlay.position ?? defaultPosition(index)) / 100) * canvas - height / 2);
      const requested = Math.min(Math.max(centered, 0), canvas - height);
      rows.push({ top: overlay.position === null ? nearestFree(requested, height, canvas, rows) : requested, height });
    });
    return rows;
  }

  const hasOverlap = (rows: readonly Rows[]): boolean =>
    rows.some((bar, index) =>
      rows.slice(0, index).some((other) => bar.top < other.top + other.height && other.top < bar.top + bar.height),
    );

  it('keeps explicit positions, and moves default ones down or up just enough to avoid earlier bars', () => {
    fc.assert(
      fc.property(bars, canvasHeight, (list, canvas) => {
        const heights = list.map(({ share }) => Math.max(1, Math.round(share * canvas)));
        const overlays = list.map((bar) => ({ text: 'a', position: bar.position }));
        const rows = placeBars(overlays, heights, canvas);
        const expected = oneByOne(overlays, heights, canvas);
        const allDefaulted = overlays.every((overlay) => overlay.position === null);
        const total = heights.reduce((sum, height) => sum + height, 0);
        // All bars move only if they overlap that way although all of them would fit.
        if (allDefaulted && hasOverlap(expected) && total <= canvas)
          return !hasOverlap(rows) && rows.every(({ top }) => top >= 0);
        expect(rows).toEqual(expected);
        return true;
      }),
      RUNS,
    );
  });
});
