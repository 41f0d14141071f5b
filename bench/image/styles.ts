// Measures the cost of a style: three captions on a JPEG as bars, and in every other preset, as PNG and as JPEG.

import { STYLE_PRESETS } from '../../src/engine/caption/style-presets.ts';
import { renderImage } from '../../src/engine/index.ts';
import type { Photo } from './pictures.ts';
import { interleave, median, medianRatio, seriesNamed } from './rounds.ts';
import { CAPTIONS } from './scene.ts';
import { settle } from './settle.ts';
import { fixed, formatTable } from './table.ts';

/** How many times as long as a bar a style may take. */
const TARGETS: Readonly<Record<string, number>> = { box: 1.15, outline: 1.2, plain: 1.2 };

export async function reportStyles(photo: Photo, rounds: number, format: 'png' | 'jpeg'): Promise<string> {
  const all = await interleave<Uint8Array>(
    STYLE_PRESETS.map((style) => ({
      name: style,
      run: async () => (await renderImage(photo.jpeg, CAPTIONS, { style, format })).bytes,
    })),
    rounds,
    settle,
  );
  const bar = seriesNamed(all, 'bar');
  const rows = all.map((series) => {
    const ratio = medianRatio(series, bar);
    const most = TARGETS[series.name];
    const target = most === undefined ? '' : `${ratio <= most ? 'met' : 'missed'} (${most})`;
    const times = [fixed(median(series.times), 1), fixed(median(series.cpuTimes), 1), fixed(ratio, 2)];
    return [series.name, ...times, fixed(medianRatio(series, bar, 'cpuTimes'), 2), target];
  });
  const header = [`3 captions on ${photo.name}, ${format}`, 'median ms', 'CPU ms', 'x bar', 'x bar, CPU', 'target'];
  return formatTable([header, ...rows]);
}
