import { describe, expect, it } from 'vitest';
import type { StylePreset } from '../caption/style-presets.ts';
import { layoutOverlays } from '../layout/layout.ts';
import { FontIndex } from './font-index.ts';
import { canvasHeight, stripsOf } from './painted-strips.ts';
import { TextEngine } from './text-engine.ts';

describe('stripsOf', () => {
  it('covers all rows once, on a canvas that is never larger than allowed', () => {
    const parts = stripsOf({ width: 100, height: 95 }, { hasEmoji: true, hasShape: true }, 9_000);
    expect(parts.map(({ top, rows }) => [top, rows])).toEqual([
      [0, 30],
      [30, 30],
      [60, 30],
      [90, 5],
    ]);
    expect(parts.map((part) => canvasHeight(part))).toEqual([90, 90, 90, 15]);
  });

  it('paints a bar of usual size at once, with as many strips as it needs', () => {
    expect(stripsOf({ width: 10, height: 20 }, { hasEmoji: false, hasShape: true }, 1_000)).toEqual([
      { top: 0, rows: 20, text: 0, emoji: undefined, shape: 20 },
    ]);
  });

  it('paints row by row when not even two rows fit', () => {
    expect(stripsOf({ width: 10, height: 3 }, { hasEmoji: true, hasShape: false }, 1)).toHaveLength(3);
  });
});

const INDEX = new FontIndex();
const [WHOLE, PARTED] = [new TextEngine(INDEX), new TextEngine(INDEX, 20_000)];

describe('a bar that is painted in parts', () => {
  it.each(['bar', 'outline', 'plain'] as const)(
    'a bar that is painted in parts has the same pixels as one painted at once: %s',
    (preset) => {
      expect(drawn(PARTED, preset).equals(drawn(WHOLE, preset))).toBe(true);
    },
  );

  it('a label that is painted in parts differs at most in the smoothed edges of its corners', () => {
    const [expected, actual] = [drawn(WHOLE, 'box'), drawn(PARTED, 'box')];
    const differing = expected.filter((value, at) => value !== actual[at]);
    expect(differing.length).toBeLessThan(expected.length * 0.001);
  });
});

function drawn(engine: TextEngine, preset: StylePreset): Buffer {
  const overlays = [{ text: 'Ägypten 😂 gy\nเที่ยว 👩‍🚀', position: 50, style: { preset, size: 2 } }];
  const layout = layoutOverlays(overlays, { width: 320, height: 480 }, (text, lang, look) =>
    engine.measurerFor(text, lang, look),
  );
  return Buffer.concat(engine.draw(layout).map(({ pixels }) => Buffer.from(pixels)));
}
