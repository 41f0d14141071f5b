// The last step of a render: encodes pixels in the requested format.

import { encodeJpeg, encodeLosslessWebp, encodeWebp } from '../media/image-encoder.ts';
import type { Strokes } from '../layout/watermark.ts';
import type { Band } from '../raster/band.ts';
import { bakeBands, type RawImage } from '../raster/blend.ts';
import { encodeLike } from '../raster/jpeg/encode-pixels.ts';
import { encodePng } from '../raster/png/photo.ts';
import { writeTransparentPng } from '../raster/png/transparent.ts';
import { strokeImage } from '../raster/strokes.ts';
import type { ImageOutput } from './image-output.ts';
import { encodeLargeWithin, encodeWithin, isSearchedOnSample, sampleRows } from './size-limit.ts';
import type { TransparentRecipe } from './recipe.ts';
import type { RenderTools } from './renderer-tools.ts';

interface EncodeContext {
  /** The file that the image was decoded from. */
  readonly asset: Uint8Array;
  readonly signal: AbortSignal | undefined;
}

export async function encodeImage(
  image: RawImage,
  output: ImageOutput,
  { asset, signal }: EncodeContext,
): Promise<EncodedImage> {
  if (output.format === 'png') return { bytes: await encodePng(image, signal) };
  const encode = output.format === 'jpeg' ? encodeJpeg : encodeWebp;
  if (output.maxBytes !== undefined) {
    const encodeAny = async (pixels: RawImage, quality: number): Promise<Buffer> => {
      signal?.throwIfAborted();
      return await encode(pixels, quality);
    };
    const encodeWhole = async (quality: number): Promise<Buffer> => await encodeAny(image, quality);
    if (!isSearchedOnSample(image)) return await encodeWithin(output.maxBytes, encodeWhole);
    const sample = sampleRows(image);
    return await encodeLargeWithin(output.maxBytes, encodeWhole, {
      encode: async (quality) => await encodeAny(sample, quality),
      factor: image.height / sample.height,
    });
  }
  const kept = output.format === 'jpeg' ? likeSource(image, output, asset) : undefined;
  return { bytes: kept ?? (await encode(image, output.quality)) };
}

interface EncodedImage {
  readonly bytes: Buffer;
  /** Set if a limit of the size decided about it. */
  readonly quality?: number;
}

function likeSource(
  image: RawImage,
  { likeSource: like }: Extract<ImageOutput, { format: 'jpeg' }>,
  asset: Uint8Array,
): Buffer | undefined {
  return like && image.channels === 3 ? encodeLike(asset, image, like.orientation) : undefined;
}

export async function encodeOverlay(
  { canvas, output }: TransparentRecipe,
  { bands, strokes }: { readonly bands: readonly Band[]; readonly strokes: Strokes | undefined },
  { zeros }: RenderTools,
): Promise<Buffer> {
  switch (output.format) {
    case 'png':
      return writeTransparentPng(canvas, bands, zeros, strokes);
    case 'webp': {
      const image = { ...canvas, channels: 4, data: new Uint8Array(canvas.width * canvas.height * 4) } as const;
      bakeBands(image, bands);
      if (strokes) strokeImage(strokes, image);
      return await encodeLosslessWebp(image);
    }
  }
}
