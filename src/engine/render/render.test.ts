import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { probeImage } from '../media/image.ts';
import { composeImageRecipe, DEFAULT_IMAGE_LIMITS, type ImageRecipe } from './recipe.ts';
import { renderOnImage } from './render.ts';
import { createRenderTools } from './renderer-tools.ts';

describe('renderOnImage', () => {
  const tools = createRenderTools();
  let photo: Buffer;
  let recipe: ImageRecipe;

  beforeAll(async () => {
    photo = await sharp({ create: { width: 300, height: 200, channels: 3, background: '#4682b4' } })
      .png()
      .toBuffer();
    recipe = composeImageRecipe(await probeImage(photo), [{ text: 'Hello', position: 50 }], DEFAULT_IMAGE_LIMITS);
  });

  it('uses the decoded size when the header declares another one', async () => {
    const misdeclared = { ...recipe, canvas: { width: 200, height: 300 } };
    const [expected, rendered] = [
      await renderOnImage(recipe, photo, tools),
      await renderOnImage(misdeclared, photo, tools),
    ];
    expect(rendered).toMatchObject({ width: 300, height: 200 });
    expect(rendered.bytes.equals(expected.bytes)).toBe(true);
  });

  it('reports the timings of its steps in the order they started', async () => {
    const { timings } = await renderOnImage(recipe, photo, tools);
    expect(Object.keys(timings)).toEqual(['decode', 'layout', 'draw', 'blend', 'encode']);
  });
});
