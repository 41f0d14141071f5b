// sharp as it is mostly used, and tuned step by step. It gets the finished overlay as a PNG for free: drawing the text is
// timed for everybody else, so these rows flatter sharp a little.

import sharp, { type Sharp } from 'sharp';
import { renderOverlay } from '../../src/index.ts';
import { encodePng } from '../../src/raster/png/opaque.ts';
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
    prepare: async ({ picture }: Scene) => {
      const overlay = await renderOverlay(picture, CAPTIONS);
      return () =>
        finish(
          sharp(picture.jpeg)
            .autoOrient()
            .composite([{ input: overlay.bytes }]),
        );
    },
  };
}
