// Real JPEGs with a bar, as JPEGs again.

import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { RequestedOutput } from '../src/engine/caption/format-field.ts';
import { probeImage } from '../src/engine/media/image.ts';
import { readHeaders } from '../src/engine/raster/jpeg/headers.ts';
import { composeImageRecipe, DEFAULT_IMAGE_LIMITS } from '../src/engine/render/recipe.ts';
import { type Rendered, renderOnImage } from '../src/engine/render/render.ts';
import { createRenderTools } from '../src/engine/render/renderer-tools.ts';
import { must } from '../src/shared/must.ts';
import { pixelsOf } from './jpeg-samples.ts';
import { filesOf, hasSharedMedia, sharedMedia } from './shared-media.ts';

const tools = createRenderTools();

async function render(asset: Buffer, output: RequestedOutput, text = 'Hello'): Promise<Rendered> {
  const overlays = [{ text, position: 50 }];
  const recipe = composeImageRecipe(await probeImage(asset), overlays, DEFAULT_IMAGE_LIMITS, { output });
  return await renderOnImage(recipe, asset, tools);
}

/** Why files are encoded again. Every other JPEG keeps its pixels. */
const ENCODED_AGAIN: readonly (readonly [cause: string, files: RegExp])[] = [
  ['damaged', /junk_jpeg_header|truncated|motion-photo-shortened|pillow__ultrahdr/u],
  ['CMYK', /cmyk/iu],
  ['arithmetic coding', /testimgari|small__jpeg/u],
  ['too coarse for text', /16bit_qtables/u],
  ['a profile over 64 KiB', /icc_profile_big/u],
  ['turned, with partial blocks on the mirrored side', /Landscape_[2367]|Portrait_[3478]|Blackberry_Z10/u],
];
/** 12 bits, no pixels at all, and more pixels than the limit. */
const UNDECODABLE = /monkey12|corrupt-header|giant-image/u;
/** Of these, the caption takes more bytes than the image. */
const SMALL = /white-1x1|testorig|hopper|ink/u;
/** The segments of the output, besides a profile. */
const HEADERS = 700;
const FOLDERS = [
  'jpeg_photos',
  'jpeg_variants',
  'jpeg_hdr',
  'jpeg_orientation',
  'jpeg_corrupt',
  'tiny',
  'bombs',
  '../photos',
];
const JPEGS = FOLDERS.flatMap((folder) => filesOf(folder)).filter((file) => /\.(?:jpe?g|mpo)$/u.test(file));

/** The rows outside the bars, and the rows of MCUs around them, that have changed. */
async function changedRows(source: Buffer, { bytes, bars, width, height }: Rendered): Promise<number[]> {
  const pixels = await Promise.all([source, bytes].map((file) => pixelsOf(file)));
  const [before, after] = [must(pixels[0], 'source'), must(pixels[1], 'output')];
  expect(after.length).toBe(before.length);
  const stride = width * 3;
  const isNear = (row: number): boolean =>
    bars.some(({ top, height: rows }) => row >= top - 17 && row < top + rows + 17);
  const isChanged = (row: number): boolean =>
    before.compare(after, row * stride, (row + 1) * stride, row * stride, (row + 1) * stride) !== 0;
  return Array.from({ length: height }, (_, row) => row).filter((row) => !isNear(row) && isChanged(row));
}

describe.skipIf(!hasSharedMedia)('real JPEGs (skipped without ../shared/media)', () => {
  it.each(JPEGS.filter((file) => !UNDECODABLE.test(file)))(
    'keeps every pixel of %s outside the bar, or encodes it again for a known cause',
    async (file) => {
      const source = readFileSync(sharedMedia(file));
      const rendered = await render(source, { format: 'jpeg' }, 'Hello 🍎');
      const [cause] = ENCODED_AGAIN.find(([, files]) => files.test(file)) ?? [];
      expect([rendered.sourcePixels, cause]).toEqual([cause === undefined ? 'kept' : 'reencoded', cause]);
      const headers = readHeaders(source);
      if (cause !== undefined || headers === undefined) return;
      const { orientation = 1 } = await sharp(source).metadata();
      // A decoder rounds a turned image differently.
      expect(orientation <= 1 ? await changedRows(source, rendered) : []).toEqual([]);
      if (SMALL.test(file)) return;
      const imageData = source.length - headers.firstScan.dataStart + HEADERS + (headers.profile?.length ?? 0);
      expect(rendered.bytes.length).toBeLessThan(imageData * (headers.isProgressive ? 1.1 : 1.05));
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
