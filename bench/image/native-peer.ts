// Our pipeline with a native PNG encoder in place of our own, which is how Storybar encoded in its first versions.

import { CompressionType, FilterType, Transformer } from '@napi-rs/image';
import { decodeImage } from '../../src/engine/media/image.ts';
import { bakeBands, type RawImage } from '../../src/engine/raster/blend.ts';
import { drawBands } from '../../src/engine/render/bands.ts';
import { createRenderTools } from '../../src/engine/render/renderer-tools.ts';
import { Stopwatch } from '../../src/engine/render/timing.ts';
import type { Contender } from './contender.ts';
import { CAPTIONS } from './scene.ts';

export const NATIVE_ENCODER = 'native PNG encoder';

export const nativeEncoder: Contender = {
  name: NATIVE_ENCODER,
  prepare: async ({ photo: { jpeg, width, height } }) => {
    const tools = createRenderTools();
    return async () => {
      const [image, { bands }] = await Promise.all([
        decodeImage(jpeg, { maxPixels: width * height, ignoreProfile: false }),
        drawBands({ canvas: { width, height }, overlays: CAPTIONS }, tools, new Stopwatch()),
      ]);
      bakeBands(image, bands);
      return await encode(image);
    };
  },
};

/** The encoder has no function for raw RGB, so the pixels go through its PNM decoder. */
async function encode({ width, height, data }: RawImage): Promise<Uint8Array> {
  const pnm = Buffer.concat([Buffer.from(`P6\n${width} ${height}\n255\n`), data]);
  return await new Transformer(pnm).png({ compressionType: CompressionType.Fast, filterType: FilterType.Paeth }, null);
}
