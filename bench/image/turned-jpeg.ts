// Measures three bars on a JPEG with an EXIF orientation, as phones store upright photos: turned without decoding it,
// next to sharp, which decodes, turns and encodes.

import sharp from 'sharp';
import { renderOverlay } from '../../src/engine/index.ts';
import { spliceBands } from '../../src/engine/raster/jpeg/splice.ts';
import { drawBands } from '../../src/engine/render/bands.ts';
import { createRenderTools } from '../../src/engine/render/renderer-tools.ts';
import { Stopwatch } from '../../src/engine/render/timing.ts';
import { jpegRow, SHARP_QUALITY } from './jpeg-output.ts';
import type { Photo } from './pictures.ts';
import { interleave, seriesNamed } from './rounds.ts';
import { CAPTIONS } from './scene.ts';
import { settle } from './settle.ts';
import { formatTable } from './table.ts';

const ORIENTATION = 6;
/** The angle in degrees. */
const TURN_BACK = 270;
/** Other sides can't be turned without decoding the image. */
const MCU = 16;

export async function reportTurnedJpeg(photo: Photo, rounds: number): Promise<string> {
  const [width, height] = [Math.floor(photo.width / MCU) * MCU, Math.floor(photo.height / MCU) * MCU];
  const canvas = { width, height };
  const source = await sharp(photo.jpeg)
    .extract({ left: 0, top: 0, ...canvas })
    .rotate(TURN_BACK)
    .jpeg({ quality: SHARP_QUALITY })
    .withMetadata({ orientation: ORIENTATION })
    .toBuffer();
  const overlay = await renderOverlay(canvas, CAPTIONS);
  const tools = createRenderTools();
  const peer = 'sharp autoOrient, composite, jpeg()';
  const all = await interleave<Uint8Array>(
    [
      {
        name: 'storybar, turned and spliced',
        run: async () => {
          const { bands } = await drawBands({ canvas, overlays: CAPTIONS }, tools, new Stopwatch());
          const spliced = spliceBands(source, { bands }, { orientation: ORIENTATION });
          if (spliced === undefined) throw new Error(`${photo.name} can't be turned`);
          return spliced;
        },
      },
      {
        name: peer,
        run: () =>
          sharp(source)
            .autoOrient()
            .composite([{ input: overlay.bytes }])
            .jpeg({ quality: SHARP_QUALITY })
            .toBuffer(),
      },
    ],
    rounds,
    settle,
  );
  const header = [`3 bars on ${photo.name}, EXIF orientation ${ORIENTATION}`, 'median ms', 'CPU ms', 'x sharp', 'MB'];
  return formatTable([header, ...all.map((series) => jpegRow(series, seriesNamed(all, peer)))]);
}
