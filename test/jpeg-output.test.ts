// Real JPEGs with a bar, as JPEGs again.

import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { RequestedOutput } from '../src/caption/format-field.ts';
import { probeImage } from '../src/media/image.ts';
import { readHeaders } from '../src/raster/jpeg/headers.ts';
import { composeImageRecipe, DEFAULT_IMAGE_LIMITS } from '../src/render/recipe.ts';
import { type Rendered, renderOnImage } from '../src/render/render.ts';
import { createRenderTools } from '../src/render/renderer-tools.ts';
import { filesOf, hasSharedMedia, sharedMedia } from './shared-media.ts';

const tools = createRenderTools();

async function render(asset: Buffer, output: RequestedOutput): Promise<Rendered> {
  const overlays = [{ text: 'Hello', position: 50 }];
  const recipe = composeImageRecipe(await probeImage(asset), overlays, DEFAULT_IMAGE_LIMITS, { output });
  return await renderOnImage(recipe, asset, tools);
}

/** The caption of these files takes more bytes than the image. */
const SMALL = /white-1x1|testorig|hopper|ink/u;

/** The other segments. */
const HEADERS = 700;

describe.skipIf(!hasSharedMedia)('real JPEGs (skipped without ../shared/media)', () => {
  it.each([...filesOf('jpeg_photos'), ...filesOf('jpeg_variants')].filter((file) => !SMALL.test(file)))(
    'keeps %s at 1.05 times its image data or less with one bar, or encodes it again',
    async (file) => {
      const source = readFileSync(sharedMedia(file));
      const headers = readHeaders(source);
      const isDecodable = !file.includes('monkey12');
      const rendered = await render(source, { format: 'jpeg' }).catch((error: unknown) => error);
      expect(rendered).toMatchObject(isDecodable ? { bars: [{}] } : { code: 'asset_undecodable' });
      const { bytes, sourcePixels } = rendered as Rendered;
      if (sourcePixels !== 'kept' || headers === undefined) return;
      const imageData = source.length - headers.firstScan.dataStart + HEADERS + (headers.profile?.length ?? 0);
      expect(bytes.length).toBeLessThan(imageData * 1.05);
    },
  );

  /** The others have a mirrored side that ends within an MCU. */
  const TURNED = ['Landscape_4', 'Landscape_5', 'Landscape_8', 'Portrait_2', 'Portrait_5', 'Portrait_6'];

  it.each(filesOf('jpeg_orientation'))('turns %s upright, without encoding it again if it can', async (file) => {
    const { bytes, sourcePixels } = await render(readFileSync(sharedMedia(file)), { format: 'jpeg' });
    const isKept = /_[01]\.jpg$/u.test(file) || TURNED.some((name) => file.includes(name));
    expect(sourcePixels).toBe(isKept ? 'kept' : 'reencoded');
    const { width, height, orientation } = await sharp(bytes).metadata();
    const isWide = file.includes('Landscape');
    expect({ width, height, orientation }).toEqual({
      width: isWide ? 1800 : 1200,
      height: isWide ? 1200 : 1800,
      orientation: undefined,
    });
  });

  it.each(filesOf('jpeg_corrupt'))(
    'refuses the damaged file %s as JPEG exactly when it refuses it as PNG',
    async (file) => {
      const source = readFileSync(sharedMedia(file));
      const outcomeOf = async (output: RequestedOutput): Promise<unknown> =>
        await render(source, output).then(
          ({ width, height }) => ({ width, height }),
          (error: unknown) => error,
        );
      expect(await outcomeOf({ format: 'jpeg' })).toEqual(await outcomeOf({}));
    },
  );
});
