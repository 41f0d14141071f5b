// Measures three bars on a JPEG with JPEG output: our splice, drawing included, next to sharp, which decodes and encodes, and
// jpegtran, which can only drop a finished JPEG of whole MCUs onto another one.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { renderOverlay } from '../../src/engine/index.ts';
import { spliceBands } from '../../src/engine/raster/jpeg/splice.ts';
import { drawBands } from '../../src/engine/render/bands.ts';
import { createRenderTools } from '../../src/engine/render/renderer-tools.ts';
import { Stopwatch } from '../../src/engine/render/timing.ts';
import type { Photo } from './pictures.ts';
import { findProgram, isNative, runProgram } from './programs.ts';
import { interleave, median, medianRatio, type Series, seriesNamed } from './rounds.ts';
import { CAPTIONS } from './scene.ts';
import { settle } from './settle.ts';
import { fixed, formatTable } from './table.ts';

export const SHARP_QUALITY = 90;
const SPLICE = 'storybar, splice';

export async function reportJpegOutput(photo: Photo, rounds: number): Promise<string> {
  const standard = await sharp(photo.jpeg).jpeg({ quality: SHARP_QUALITY, optimizeCoding: false }).toBuffer();
  const overlay = await renderOverlay(photo, CAPTIONS);
  const tools = createRenderTools();
  const splice = async (source: Buffer): Promise<Uint8Array> => {
    const { bands } = await drawBands({ canvas: photo, overlays: CAPTIONS }, tools, new Stopwatch());
    const spliced = spliceBands(source, { bands });
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
  const jpegtran = await measureJpegtran(standard, photo, rounds);
  const header = [`3 bars on ${photo.name}, JPEG output`, 'median ms', 'CPU ms', 'x sharp', 'MB'];
  return formatTable([header, ...all.map((series) => jpegRow(series, seriesNamed(all, peer))), jpegtran]);
}

const DROP_SHARE = 0.1;
const MCU = 16;

/**
 * Drops a JPEG of a tenth of the height onto the photo. That is less work than ours, because the dropped image is
 * finished. Only wall time is measured, because the processor time of a child isn't known, and the start of the process
 * counts.
 */
async function measureJpegtran(photo: Buffer, { width, height }: Photo, rounds: number): Promise<string[]> {
  const name = 'jpegtran -drop (one finished bar)';
  const program = await findProgram(['jpegtran'], isNative);
  if (program === undefined) return [name, 'not installed', '', '', ''];
  const directory = await mkdtemp(path.join(tmpdir(), 'storybar-bench-'));
  try {
    const bar = {
      width,
      height: Math.ceil((height * DROP_SHARE) / MCU) * MCU,
      channels: 3,
      background: '#222',
    } as const;
    const source = path.join(directory, 'photo.jpg');
    const dropped = path.join(directory, 'bar.jpg');
    const output = path.join(directory, 'output.jpg');
    await writeFile(source, photo);
    await sharp({ create: bar }).jpeg({ quality: SHARP_QUALITY }).toFile(dropped);
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const started = performance.now();
      await runProgram(program, ['-copy', 'none', '-drop', '+0+0', dropped, '-outfile', output, source], directory);
      times.push(performance.now() - started);
    }
    const { length } = await readFile(output);
    return [name, fixed(median(times), 1), '-', '-', fixed(length / 1e6, 2)];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

export function jpegRow(series: Series<Uint8Array>, peer: Series<Uint8Array>): string[] {
  return [
    series.name,
    fixed(median(series.times), 1),
    fixed(median(series.cpuTimes), 1),
    fixed(medianRatio(series, peer, 'cpuTimes'), 2),
    fixed(series.last.length / 1e6, 2),
  ];
}
