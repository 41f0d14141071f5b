// sharp as it is usually used, and tuned step by step. It gets the finished overlay as a PNG, and drawing the text
// isn't part of its time, which favors sharp a little.

import sharp, { type Sharp } from 'sharp';
import { renderOverlay } from '../../src/engine/index.ts';
import { encodePng } from '../../src/engine/raster/png/photo.ts';
import type { Contender, Output } from './contender.ts';
import { CAPTIONS, type Scene } from './scene.ts';

export const SHARP_DEFAULT = 'sharp composite, png()';

export const sharpPeers: readonly Contender[] = [
  sharpPeer(SHARP_DEFAULT, (image) => image.png().toBuffer()),
  sharpPeer('sharp composite, png level 2 adaptive, no alpha', (image) =>
    image.removeAlpha().png({ compressionLevel: 2, adaptiveFiltering: true }).toBuffer(),
  ),
  sharpPeer('sharp composite, our encoder', async (image) => {
    const { data, info } = await image.removeAlpha().raw().toBuffer({ resolveWithObject: true });
    return await encodePng({ width: info.width, height: info.height, channels: 3, data });
  }),
];

function sharpPeer(name: string, finish: (composited: Sharp) => Promise<Output>): Contender {
  return {
    name,
    prepare: async ({ photo }: Scene) => {
      const overlay = await renderOverlay(photo, CAPTIONS);
      return () =>
        finish(
          sharp(photo.jpeg)
            .autoOrient()
            .composite([{ input: overlay.bytes }]),
        );
    },
  };
}
