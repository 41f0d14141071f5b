// A render does what POST /v1/layout promises about styled captions.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decode, pixelAt } from '../../../test/pictures.ts';
import { anyCaption } from '../../../test/random-captions.ts';
import { randomCases } from '../../../test/random-cases.ts';
import { SAFE_AREAS } from '../caption/safe-area.ts';
import { type CaptionStyle, STYLE_FIELDS } from '../caption/style.ts';
import { renderLayout } from './layout-report.ts';
import { composeLayoutRecipe, composeTransparentRecipe } from './recipe.ts';
import { renderTransparent } from './render.ts';
import { createRenderTools } from './renderer-tools.ts';

const anyStyle: fc.Arbitrary<CaptionStyle> = fc.record(
  {
    preset: fc.constantFrom(...STYLE_FIELDS.preset.enum),
    color: fc.constantFrom('#ff0000', '#22222280', '#ffffff'),
    size: fc.double({ min: 0.5, max: 3, noNaN: true }),
    align: fc.constantFrom(...STYLE_FIELDS.align.enum),
    weight: fc.constantFrom(...STYLE_FIELDS.weight.enum),
  },
  { requiredKeys: ['preset'] },
);
const anyCanvas = fc.oneof(
  fc.record({ width: fc.integer({ min: 16, max: 400 }), height: fc.integer({ min: 16, max: 400 }) }),
  fc.constant({ width: 270, height: 480 }),
);
const position = fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 100 }));

it('a layout of styled captions has the bars and warnings of the render, which draws nothing outside them', async () => {
  const tools = createRenderTools();
  const overlay = fc.record({ text: anyCaption, position, style: anyStyle });
  const request = fc.record({
    canvas: anyCanvas,
    safeArea: fc.constantFrom(...SAFE_AREAS),
    overlays: fc.array(overlay, { minLength: 1, maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(request, async ({ canvas, safeArea, overlays }) => {
      const safe = overlays.map((item) => ({ ...item, safeArea }));
      const { layout = [], ...facts } = await renderLayout(composeLayoutRecipe(canvas, safe), tools);
      const rendered = await renderTransparent(composeTransparentRecipe(canvas, safe), tools);
      expect(facts.bars).toEqual(rendered.bars);
      expect(facts.warnings).toEqual(rendered.warnings);
      const pixels = await decode(rendered.bytes);
      for (const { top, height, left, width } of layout) {
        expect(top).toBeGreaterThanOrEqual(0);
        expect(top + height).toBeLessThanOrEqual(canvas.height);
        expect(left).toBeGreaterThanOrEqual(0);
        expect(left + width).toBeLessThanOrEqual(canvas.width);
      }
      for (let row = 0; row < canvas.height; row += 1) {
        if (layout.some(({ top, height }) => row >= top && row < top + height)) continue;
        const line = pixels.data.subarray(row * canvas.width * 4, (row + 1) * canvas.width * 4);
        expect([row, line.some((value) => value > 0)]).toEqual([row, false]);
      }
    }),
    { seed: 20_261_117, numRuns: randomCases({ usually: 10, all: 60 }) },
  );
});

it('the rectangle of a box in a layout is its label', async () => {
  const tools = createRenderTools();
  const canvas = { width: 400, height: 300 };
  const overlays = [{ text: 'Wide enough\nfor two', position: 50, style: { preset: 'box', align: 'left' } as const }];
  const { layout: [bar] = [] } = await renderLayout(composeLayoutRecipe(canvas, overlays), tools);
  const pixels = await decode((await renderTransparent(composeTransparentRecipe(canvas, overlays), tools)).bytes);
  const inked = Array.from({ length: canvas.width }, (_, x) => x).filter((x) =>
    Array.from({ length: canvas.height }, (_row, y) => pixelAt(pixels, x, y)[3] ?? 0).some((alpha) => alpha > 0),
  );
  expect([bar?.left, (bar?.left ?? 0) + (bar?.width ?? 0)]).toEqual([Math.min(...inked), Math.max(...inked) + 1]);
});
