// Our pipeline, and the minimum that any pipeline with this decoder and encoder needs.

import sharp from 'sharp';
import { renderImage } from '../../src/engine/index.ts';
import { encodePng } from '../../src/engine/raster/png/photo.ts';
import type { Timings } from '../../src/engine/render/timing.ts';
import type { Contender } from './contender.ts';
import { CAPTIONS } from './scene.ts';

export const OURS = 'storybar';
const FLOOR = 'floor: decode + encode, no bars';

export function ourPipeline(onTimings: (timings: Timings) => void): Contender {
  return {
    name: OURS,
    prepare: async ({ photo }) => {
      return async () => {
        const { bytes, timings } = await renderImage(photo.jpeg, CAPTIONS);
        onTimings(timings);
        return bytes;
      };
    },
  };
}

export const floor: Contender = {
  name: FLOOR,
  prepare: async ({ photo }) => {
    return async () => {
      const { data, info } = await sharp(photo.jpeg, { failOn: 'error', pages: 1, sequentialRead: true })
        .autoOrient()
        .toColorspace('srgb')
        .raw({ depth: 'uchar' })
        .toBuffer({ resolveWithObject: true });
      return await encodePng({ width: info.width, height: info.height, channels: 3, data });
    };
  },
};
