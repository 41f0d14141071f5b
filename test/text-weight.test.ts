// Compares the amount of white in a caption with the area of its outlines, which the font file states exactly.

import { openSync } from 'fontkit';
import { expect, it } from 'vitest';
import { layoutOverlays } from '../src/engine/layout/layout.ts';
import { BAR_ALPHA } from '../src/engine/layout/look.ts';
import { must } from '../src/shared/must.ts';
import { FAMILIES } from '../src/engine/raster/catalogue.ts';
import { fontFiles } from '../src/engine/raster/font-files.ts';
import { TextEngine } from '../src/engine/raster/text-engine.ts';

const TEXT = 'Hamburgefonts at the lake';
const CURVE_STEPS = 16;

type Point = readonly [x: number, y: number];

/** The enclosed area of a path, by the shoelace formula. Holes run in the other direction and are subtracted. */
function areaOf(commands: readonly { readonly command: string; readonly args: readonly number[] }[]): number {
  let area = 0;
  let [start, current]: [Point, Point] = [
    [0, 0],
    [0, 0],
  ];
  const lineTo = (next: Point): void => {
    area += (current[0] * next[1] - next[0] * current[1]) / 2;
    current = next;
  };
  for (const { command, args } of commands) {
    const points = args.flatMap((x, index): Point[] => (index % 2 === 0 ? [[x, args[index + 1] ?? 0]] : []));
    if (command === 'closePath') lineTo(start);
    else if (command === 'moveTo') start = current = must(points[0], 'the first point');
    else {
      const control = [current, ...points];
      for (let step = 1; step <= CURVE_STEPS; step += 1) lineTo(bezier(control, step / CURVE_STEPS));
    }
  }
  return Math.abs(area);
}

/** De Casteljau's algorithm, for curves of any degree. */
function bezier(control: readonly Point[], at: number): Point {
  const [first, ...rest] = control;
  if (!first || rest.length === 0) return first ?? [0, 0];
  const between = rest.map((to, index): Point => {
    const from = control[index] ?? to;
    return [from[0] + (to[0] - from[0]) * at, from[1] + (to[1] - from[1]) * at];
  });
  return bezier(between, at);
}

/** Returns the area in square em. */
function areaOfOutlines(text: string): number {
  const [file] = fontFiles(must(FAMILIES[0], 'the main font'));
  const font = openSync(must(file, 'the file of the main font').file);
  if (!('layout' in font)) throw new Error('the main font is a collection');
  const areas = font.layout(text).glyphs.map((glyph) => areaOf(glyph.path.commands));
  return areas.reduce((sum, area) => sum + area, 0) / font.unitsPerEm ** 2;
}

/**
 * Returns the sum of the coverage of all pixels, in square em. The bar's own alpha determines how much of a pixel is
 * white.
 */
function areaOfPixels(text: string, side: number): number {
  const engine = new TextEngine();
  const canvas = { width: side, height: side };
  const layout = layoutOverlays([{ text, position: null }], canvas, (caption) => engine.measurerFor(caption));
  let sum = 0;
  for (const { pixels } of engine.draw(layout)) {
    for (let at = 3; at < pixels.length; at += 4) sum += ((pixels[at] ?? 0) / 255 - BAR_ALPHA) / (1 - BAR_ALPHA);
  }
  return sum / must(layout.bars[0], 'the bar').fontSize ** 2;
}

/** Hinting aligns letters with the pixel grid, which changes the weight of small text a little. */
it.each([
  [320, 0.05],
  [540, 0.05],
  [720, 0.03],
  [1080, 0.02],
  [2160, 0.02],
])('text on a canvas of %i pixels is as heavy as its outlines', (side, tolerance) => {
  expect(Math.abs(areaOfPixels(TEXT, side) / areaOfOutlines(TEXT) - 1)).toBeLessThan(tolerance);
});
