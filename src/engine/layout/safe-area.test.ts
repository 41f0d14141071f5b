import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { fakeMeasurer } from '../../../test/fake-measurer.ts';
import type { Overlay } from '../caption/overlay.ts';
import { SAFE_AREA_MARGINS, type SafeAreaName } from '../caption/safe-area.ts';
import type { Size } from './geometry.ts';
import { type Bar, layoutOverlays } from './layout.ts';
import { marginsFor, NO_MARGINS } from './safe-area.ts';

const STORY = { width: 1080, height: 1920 };
const AREAS = Object.entries(SAFE_AREA_MARGINS) as [Exclude<SafeAreaName, 'none'>, typeof NO_MARGINS][];
const LONG = 'many words that fill the whole width of a line several times '.repeat(2).trim();

function bars(overlays: readonly Overlay[], safeArea: SafeAreaName, canvas: Size = STORY): readonly Bar[] {
  return layoutOverlays(
    overlays.map((overlay) => ({ ...overlay, safeArea })),
    canvas,
    () => fakeMeasurer,
  ).bars;
}

describe('marginsFor', () => {
  it('has the table of the documentation', () => {
    const docs = readFileSync(path.resolve(import.meta.dirname, '../../../docs/api.md'), 'utf8');
    for (const [name, { top, bottom, left, right }] of AREAS) {
      expect(docs).toContain(`| \`${name}\` | ${top} | ${bottom} | ${left} | ${right} |`);
    }
  });

  it('leaves, with all, only what is free in every app', () => {
    for (const side of ['top', 'bottom', 'left', 'right'] as const) {
      expect(SAFE_AREA_MARGINS.all[side]).toBeGreaterThanOrEqual(Math.max(...AREAS.map(([, area]) => area[side])));
    }
  });

  it('scales with the canvas, rounded so that nothing reaches into a margin', () => {
    expect(marginsFor({ width: 540, height: 960 }, 'shorts')).toEqual({ top: 144, bottom: 336, left: 24, right: 96 });
    expect(marginsFor({ width: 720, height: 1280 }, 'reels')).toEqual({ top: 180, bottom: 448, left: 44, right: 44 });
  });

  it.each([
    [1080, 1920, true],
    [1133, 1920, true],
    [1135, 1920, false],
    [1027, 1920, true],
    [1025, 1920, false],
    [1080, 1080, false],
    [1920, 1080, false],
    [1080, 1350, false],
  ])('applies to portrait shapes of 9:16 within 5 %%: %d x %d is %s', (width, height, isSafe) => {
    expect(marginsFor({ width, height }, 'all') !== NO_MARGINS).toBe(isSafe);
  });

  it.each([undefined, 'none'] as const)('has no margins for %s', (area) => {
    expect(marginsFor(STORY, area)).toBe(NO_MARGINS);
  });
});

describe.each(AREAS)('the safe area %s', (name, { top, bottom, left, right }) => {
  it('a safe area keeps bars between its top and bottom margin, touching them at 0 and 100', () => {
    const [first, last] = bars(
      [
        { text: 'a', position: 0 },
        { text: 'b', position: 100 },
      ],
      name,
    );
    expect(first?.top).toBe(top);
    expect((last?.top ?? 0) + (last?.height ?? 0)).toBe(STORY.height - bottom);
    expect([first?.isMoved, last?.isMoved]).toEqual([true, true]);
  });

  it('a safe area leaves a position inside it exactly where it was', () => {
    const overlays = [{ text: 'a', position: 40 }];
    const [safe] = bars(overlays, name);
    const [usual] = bars(overlays, 'none');
    expect(safe?.top).toBe(usual?.top);
    expect(safe?.isMoved).toBe(false);
  });

  it('a safe area keeps a full-width bar full-width and centers its text on the canvas within the wider margin', () => {
    const [bar] = bars([{ text: LONG, position: null }], name);
    expect([bar?.left, bar?.right]).toEqual([0, STORY.width]);
    const free = STORY.width - 2 * Math.max(left, right);
    for (const line of bar?.lines ?? []) {
      expect(line.width).toBeLessThanOrEqual(free);
      expect(line.x + line.width / 2).toBeCloseTo(STORY.width / 2, 6);
    }
  });

  it.each(['left', 'right'] as const)(
    'a safe area keeps boxes aligned to the %s between its left and right margin',
    (align) => {
      const [bar] = bars([{ text: LONG, position: null, style: { preset: 'box', align } }], name);
      expect(bar?.left).toBeGreaterThanOrEqual(left);
      expect(bar?.right).toBeLessThanOrEqual(STORY.width - right);
    },
  );

  it('a safe area keeps ten default bars apart and inside, without calling them moved', () => {
    const placed = bars(
      Array.from({ length: 10 }, () => ({ text: 'a', position: null, style: { size: 0.8 } })),
      name,
    );
    const sorted = placed.toSorted((a, b) => a.top - b.top);
    expect(sorted[0]?.top).toBeGreaterThanOrEqual(top);
    expect((sorted[9]?.top ?? 0) + (sorted[9]?.height ?? 0)).toBeLessThanOrEqual(STORY.height - bottom);
    sorted.slice(1).forEach((bar, index) => {
      const above = sorted[index];
      expect(bar.top).toBeGreaterThanOrEqual((above?.top ?? 0) + (above?.height ?? 0));
    });
    expect(placed.some(({ isMoved }) => isMoved)).toBe(false);
  });

  it('a safe area shrinks a caption that is taller than it', () => {
    const text = Array.from({ length: 60 }, () => 'a').join('\n');
    const [bar] = bars([{ text, position: 50 }], name);
    expect(bar?.top).toBeGreaterThanOrEqual(top);
    expect((bar?.top ?? 0) + (bar?.height ?? 0)).toBeLessThanOrEqual(STORY.height - bottom);
    expect(bar?.lines).toHaveLength(60);
  });
});
