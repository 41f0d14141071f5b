// Measures three bars on a JPEG with JPEG output: our splice, drawing included, next to sharp, which decodes and encodes.

import sharp from 'sharp';
import { renderOverlay } from '../../src/index.ts';
import { spliceBands } from '../../src/raster/jpeg/splice.ts';
import { drawBands } from '../../src/render/bands.ts';
import { createRenderTools } from '../../src/render/renderer-tools.ts';
import { Stopwatch } from '../../src/render/timing.ts';
import type { Photo } from './pictures.ts';
import { interleave, median, medianRatio, type Series, seriesNamed } from './rounds.ts';
import { CAPTIONS } from './scene.ts';
import { settle } from './settle.ts';
import { fixed, formatTable } from './table.ts';

const SHARP_QUALITY = 90;
const SPLICE = 'storybar, splice';

export async function reportJpegOutput(photo: Photo, rounds: number): Promise<string> {
  const standard = await sharp(photo.jpeg).jpeg({ quality: SHARP_QUALITY, optimizeCoding: false }).toBuffer();
  const overlay = await renderOverlay(photo, CAPTIONS);
  const tools = createRenderTools();
  const splice = async (source: Buffer): Promise<Uint8Array> => {
    const { bands } = await drawBands({ canvas: photo, overlays: CAPTIONS }, tools, new Stopwatch());
    const spliced = spliceBands(source, bands);
    if (spliced === undefined) throw new Error(`${photo.name} can't be spliced`);
    return spliced;
  };
  const peer = 'sharp composite, jpeg()';
  const all = await interleave<Uint8Array>(
    [
      { name: `${SPLICE} (standard tables: bits are copied)`, run: () => splice(standard) },
      { name: `${SPLICE} (optimized tables: symbols are recoded)`, run: () => splice(photo.jpeg) },
      {
        name: peer,
        run: () =>
          sharp(photo.jpeg)
            .composite([{ input: overlay.bytes }])
            .jpeg({ quality: SHARP_QUALITY })
            .toBuffer(),
      },
    ],
    rounds,
    settle,
  );
  const header = [`3 bars on ${photo.name}, JPEG output`, 'median ms', 'CPU ms', 'x sharp', 'MB'];
  return formatTable([header, ...all.map((series) => row(series, seriesNamed(all, peer)))]);
}

function row(series: Series<Uint8Array>, peer: Series<Uint8Array>): string[] {
  return [
    series.name,
    fixed(median(series.times), 1),
    fixed(median(series.cpuTimes), 1),
    fixed(medianRatio(series, peer, 'cpuTimes'), 2),
    fixed(series.last.length / 1e6, 2),
  ];
}
