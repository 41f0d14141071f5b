// Renders golden cases and compares images.

import path from 'node:path';
import sharp from 'sharp';
import type { Size } from '../../src/engine/layout/geometry.ts';
import { bakeBands, type RawImage } from '../../src/engine/raster/blend.ts';
import { drawBands } from '../../src/engine/render/bands.ts';
import type { RenderTools } from '../../src/engine/render/renderer-tools.ts';
import { Stopwatch } from '../../src/engine/render/timing.ts';
import type { GoldenCase } from './cases.ts';

/** Draws the overlay on a photo, or on a light gradient, which is easy to review and still shows the alpha of every pixel. */
export async function renderGolden({ canvas, overlays, photo }: GoldenCase, tools: RenderTools): Promise<RawImage> {
  const { bands } = await drawBands({ canvas, overlays }, tools, new Stopwatch());
  const photoFile = photo === undefined ? undefined : path.join(import.meta.dirname, 'photos', `${photo}.jpg`);
  const image = photoFile === undefined ? lightGradient(canvas) : await decodeGolden(photoFile);
  bakeBands(image, bands);
  return image;
}

function lightGradient({ width, height }: Size): RawImage {
  const data = new Uint8Array(width * height * 3);
  for (let row = 0; row < height; row += 1) {
    const share = row / Math.max(1, height - 1);
    const color = [255 - 30 * share, 250 - 20 * share, 240 + 15 * share].map(Math.round);
    for (let column = 0; column < width; column += 1) data.set(color, (row * width + column) * 3);
  }
  return { width, height, channels: 3, data };
}

/** Uses a palette, unless there is a photo, which has too many colors for one. */
export async function encodeGolden({ width, height, channels, data }: RawImage, hasPhoto = false): Promise<Buffer> {
  return await sharp(data, { raw: { width, height, channels } })
    .png({ compressionLevel: 9, adaptiveFiltering: true, ...(!hasPhoto && { effort: 10 }) })
    .toBuffer();
}

export async function decodeGolden(file: string | Buffer): Promise<RawImage> {
  const { data, info } = await sharp(file).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, channels: 3, data };
}

export async function onGray(image: string | Buffer): Promise<RawImage> {
  return await decodeGolden(await sharp(image).flatten({ background: '#808080' }).png().toBuffer());
}

/**
 * Fonts and Skia are pinned, so the output is identical on the same machine. Another CPU or a rebuilt library can round
 * the edges of letters differently, so a channel may differ by this much.
 */
const CHANNEL_TOLERANCE = 32;
/** The share of pixels that may differ by more. A missing accent, another letter or a one-pixel shift exceeds it. */
export const SHARE_TOLERANCE = 0.000_05;

/** Returns the share of pixels with a channel outside the tolerance, or 1 when the sizes differ. */
export function shareOfDifferentPixels(a: RawImage, b: RawImage): number {
  if (a.width !== b.width || a.height !== b.height || a.channels !== b.channels) return 1;
  let different = 0;
  for (let pixel = 0; pixel < a.data.length; pixel += a.channels) {
    for (let at = pixel; at < pixel + a.channels; at += 1) {
      if (Math.abs((a.data[at] ?? 0) - (b.data[at] ?? 0)) <= CHANNEL_TOLERANCE) continue;
      different += 1;
      break;
    }
  }
  return different / (a.width * a.height);
}
