// A render does what POST /v1/layout promises.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decode, pixelAt } from '../../../test/pictures.ts';
import { anyCaption } from '../../../test/random-captions.ts';
import { randomCases } from '../../../test/random-cases.ts';
import { renderLayout } from './layout-report.ts';
import { composeLayoutRecipe, composeTransparentRecipe } from './recipe.ts';
import { renderTransparent } from './render.ts';
import { createRenderTools } from './renderer-tools.ts';

const position = fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 100 }));
const caption = fc.oneof(anyCaption, fc.constantFrom('\u{12000}', 'a\u{12000}b \u{12001}'));
const anyOverlays = fc.array(fc.record({ text: caption, position }), { minLength: 1, maxLength: 5 });
const anyCanvas = fc.record({ width: fc.integer({ min: 16, max: 600 }), height: fc.integer({ min: 16, max: 600 }) });

it('a layout has the bars, warnings and missing characters of the render, and the render has pixels exactly there', async () => {
  const tools = createRenderTools();
  await fc.assert(
    fc.asyncProperty(anyCanvas, anyOverlays, async (canvas, overlays) => {
      const { layout = [], ...facts } = await renderLayout(composeLayoutRecipe(canvas, overlays), tools);
      const rendered = await renderTransparent(composeTransparentRecipe(canvas, overlays), tools);
      expect(facts.bars).toEqual(rendered.bars);
      expect(facts.warnings).toEqual(rendered.warnings);
      expect(facts.missingGlyphs).toBe(rendered.missingGlyphs);
      expect(layout.map(({ top, height }) => ({ top, height }))).toEqual(rendered.bars);
      expect(layout.flatMap(({ missingCharacters }) => missingCharacters).length > 0).toBe(rendered.missingGlyphs > 0);
      expect(facts.warnings.includes('missing_glyphs')).toBe(rendered.missingGlyphs > 0);
      const pixels = await decode(rendered.bytes);
      for (let row = 0; row < canvas.height; row += 1) {
        const isInBar = layout.some(({ top, height }) => row >= top && row < top + height);
        // A bar is as wide as the canvas, so its first column has no text.
        expect([row, (pixelAt(pixels, 0, row)[3] ?? 0) > 0]).toEqual([row, isInBar]);
      }
    }),
    { seed: 20_261_116, numRuns: randomCases({ usually: 10, all: 60 }) },
  );
});

it('a layout draws nothing and leaves an empty file', async () => {
  const recipe = composeLayoutRecipe({ width: 320, height: 200 }, [{ text: 'Hello', position: null }]);
  const { bytes, timings } = await renderLayout(recipe, createRenderTools());
  expect(bytes).toHaveLength(0);
  expect(Object.keys(timings)).toEqual(['layout']);
});
