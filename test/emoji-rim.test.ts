// Checks that every emoji can be seen on its bar, over dark and bright photos.

import { describe, expect, it } from 'vitest';
import type { StylePreset } from '../src/engine/caption/style-presets.ts';
import { layoutOverlays } from '../src/engine/layout/layout.ts';
import { must } from '../src/shared/must.ts';
import { bakeBands } from '../src/engine/raster/blend.ts';
import { TextEngine } from '../src/engine/raster/text-engine.ts';
import { dataLines } from './text-data.ts';

const engine = new TextEngine();
const CANVAS = { width: 320, height: 400 };
const PHOTOS = [0, 90, 255];
/** The contrast that an emoji must have to its bar, and the share of a square em where it must have it. */
const CONTRAST = 1.6;
const SHARE = 0.03;

const DARK = ['🎧', '🎮', '🖤', '🎓', '📷', '👍🏿', '👋🏿', '🧑🏿', '🎩', '🕶️', '📱', '⚫', '⬛', '🏴', '🐜', '🌑', '🕷️'];
const LIGHT = ['🤍', '☁️', '💀', '👻', '🦷', '⚪', '⬜', '🕊️', '📄', '👍🏻', '❔'];
/** Some emoji, chosen so that each kind and skin tone occurs. */
const SOME = dataLines('emoji-test.txt')
  .filter((line) => /;\s*fully-qualified/u.test(line))
  .filter((_, index) => index % 37 === 0)
  .map((line) => (line.split(';')[0] ?? '').trim().split(' '))
  .map((codes) => String.fromCodePoint(...codes.map((code) => Number.parseInt(code, 16))));

function linear(value: number): number {
  const share = value / 255;
  return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

function contrast(one: number, other: number): number {
  return (Math.max(linear(one), linear(other)) + 0.05) / (Math.min(linear(one), linear(other)) + 0.05);
}

/** The share of a square em with a channel that has the contrast, on the photo where it is the least. */
function visibleShare(text: string, preset: StylePreset): number {
  const overlay = { text, position: 50, style: { preset } };
  const layout = layoutOverlays([overlay], CANVAS, (...caption) => engine.measurerFor(...caption));
  const bar = must(layout.bars[0], 'the bar');
  const bands = engine.draw(layout);
  const shares = PHOTOS.map((photo) => {
    const data = new Uint8Array(CANVAS.width * CANVAS.height * 3).fill(photo);
    bakeBands({ ...CANVAS, channels: 3, data }, bands);
    const bare = data[(bar.top + 4) * CANVAS.width * 3 + Math.round((bar.left + bar.right) / 2) * 3] ?? 0;
    let visible = 0;
    for (let row = bar.top + 2; row < bar.top + bar.height - 2; row += 1) {
      for (let column = bar.left + 10; column < bar.right - 10; column += 1) {
        const at = (row * CANVAS.width + column) * 3;
        const isVisible = [0, 1, 2].some((channel) => contrast(data[at + channel] ?? 0, bare) >= CONTRAST);
        if (isVisible) visible += 1;
      }
    }
    return visible / bar.fontSize ** 2;
  });
  return Math.min(...shares);
}

/** Whether something white, or black on a light bar, is drawn around an emoji. */
function hasRim(text: string, preset: StylePreset): boolean {
  const overlay = { text, position: 50, style: { preset, size: 3 } };
  const layout = layoutOverlays([overlay], CANVAS, (...caption) => engine.measurerFor(...caption));
  const { pixels } = must(engine.draw(layout)[0], 'the band');
  const value = preset.endsWith('light') ? 0 : 255;
  let rim = 0;
  for (let at = 0; at < pixels.length; at += 4) {
    const isRim = [0, 1, 2].every((channel) => Math.abs((pixels[at + channel] ?? 0) - value) < 30);
    if (isRim && (pixels[at + 3] ?? 0) > 220) rim += 1;
  }
  return rim > must(layout.bars[0], 'the bar').fontSize;
}

describe.each(['bar', 'bar-light', 'box', 'box-light'] as const)('on the preset %s', (preset) => {
  it('every emoji can be seen over every photo', () => {
    const hidden = [...DARK, ...LIGHT, ...SOME].filter((emoji) => visibleShare(emoji, preset) < SHARE);
    expect(hidden).toEqual([]);
  });
});

describe('a rim', () => {
  it('dark emoji have a light rim on a dark bar', () => {
    expect(DARK.filter((emoji) => !hasRim(emoji, 'bar'))).toEqual([]);
  });

  it('light emoji have a dark rim on a light bar', () => {
    expect(LIGHT.filter((emoji) => !hasRim(emoji, 'bar-light'))).toEqual([]);
  });

  it.each(['❤️', '💙', '🔴', '🎉', '😀', '🍀', '👍🏽'])('colorful emoji have no rim: %s', (emoji) => {
    expect(hasRim(emoji, 'bar')).toBe(false);
    expect(hasRim(emoji, 'bar-light')).toBe(false);
  });

  it('only the emoji that needs a rim has one, from right to left, too', () => {
    const columnsOf = (text: string): { left: number; right: number } => {
      const overlay = { text, position: 50, style: { size: 3 } };
      const layout = layoutOverlays([overlay], CANVAS, (...caption) => engine.measurerFor(...caption));
      const { pixels, width } = must(engine.draw(layout)[0], 'the band');
      const { x, runs, width: lineWidth } = must(layout.bars[0]?.lines[0], 'the line');
      const [start, end] = runs
        .map((run, index) => ({ run, end: runs[index + 1]?.x ?? lineWidth }))
        .flatMap((item) => (item.run.kind === 'emoji' ? [x + item.run.x, x + item.end] : []));
      const white = (from: number, to: number): number => {
        let count = 0;
        for (let at = 0; at < pixels.length; at += 4) {
          const column = (at / 4) % width;
          if (column < from || column >= to) continue;
          if (Math.min(pixels[at] ?? 0, pixels[at + 1] ?? 0, pixels[at + 2] ?? 0) > 225) count += 1;
        }
        return count;
      };
      const [first, last] = [must(start, 'the start'), must(end, 'the end')];
      return { left: white(first, (first + last) / 2), right: white((first + last) / 2, last) };
    };
    const ltr = columnsOf('a 🖤💙');
    expect(ltr.left).toBeGreaterThan(10 * ltr.right);
    const rtl = columnsOf('שלום 🖤💙');
    expect(rtl.right).toBeGreaterThan(10 * rtl.left);
  });
});
