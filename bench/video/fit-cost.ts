// Measures what finished files cost, in processor time: a video that is fitted by blurring or cropping relative to padding, in
// turns in one process, and transparent videos of ten captions.
// Usage: npm run bench:fit -- [clip ...]

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FIT_MODES, type FitMode } from '../../src/engine/caption/fit.ts';
import type { Size } from '../../src/engine/layout/geometry.ts';
import { sniff, type VideoFormat } from '../../src/engine/media/sniff.ts';
import { probeVideo } from '../../src/engine/media/video/probe/probe.ts';
import { renderClip } from '../../src/engine/render/clip.ts';
import { composeClipRecipe } from '../../src/engine/render/clip-recipe.ts';
import { createRenderTools } from '../../src/engine/render/renderer-tools.ts';
import { renderOnVideo } from '../../src/engine/render/video.ts';
import { composeVideoRecipe, DEFAULT_VIDEO_LIMITS } from '../../src/engine/render/video-recipe.ts';
import { median } from '../image/rounds.ts';
import { fixed, formatTable } from '../image/table.ts';
import { OVERLAYS } from './overlays.ts';

const CLIP = path.join(import.meta.dirname, '../../examples/toy-frog.mp4');
const SIZES = [
  { width: 720, height: 1_280 },
  { width: 1_280, height: 720 },
];
const TURNS = Number(process.env['BENCH_RUNS'] ?? 3);

const tools = createRenderTools();
const work = mkdtempSync(path.join(tmpdir(), 'storybar-bench-fit-'));
const output = path.join(work, 'output');

async function cpuMs(run: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

async function measureFit(clip: string, size: Size): Promise<string[]> {
  const format = sniff(readFileSync(clip).subarray(0, 256)) as VideoFormat;
  const probe = probeVideo(clip, format, { maxSide: DEFAULT_VIDEO_LIMITS.videoSide });
  const render = async (mode: FitMode): Promise<number> => {
    const fit = { mode, color: '#000000', ...size };
    const recipe = composeVideoRecipe(probe, OVERLAYS, DEFAULT_VIDEO_LIMITS, { fit });
    return await cpuMs(async () => await renderOnVideo(recipe, clip, output, tools));
  };
  const turns: Record<FitMode, number>[] = [];
  await render('pad');
  for (let turn = 0; turn < TURNS; turn += 1) {
    turns.push({ pad: await render('pad'), blur: await render('blur'), crop: await render('crop') });
  }
  const ratios = FIT_MODES.map((mode) => `${fixed(median(turns.map((times) => times[mode] / times.pad)), 2)}x`);
  const name = `${path.basename(clip)}, ${probe.width}x${probe.height} to ${size.width}x${size.height}`;
  return [name, ...ratios];
}

const TEN_CAPTIONS = Array.from({ length: 10 }, (_, second) => ({
  text: `Caption number ${second + 1} of ten`,
  position: 80,
  start: second,
  end: second + 1,
}));

async function measureClip(format: 'webm' | 'mov' | 'apng'): Promise<string[]> {
  const canvas = { width: 1_080, height: 1_920 };
  const requested = { format, clip: { seconds: 10, fps: 30 } };
  const recipe = composeClipRecipe(canvas, TEN_CAPTIONS, DEFAULT_VIDEO_LIMITS, requested);
  const times: number[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    times.push(await cpuMs(async () => await renderClip(recipe, output, tools)));
  }
  return [format, fixed(median(times) / 1_000, 2)];
}

const clips = process.argv.length > 2 ? process.argv.slice(2) : [CLIP];
try {
  const fits = [['processor time relative to pad', ...FIT_MODES]];
  for (const clip of clips) for (const size of SIZES) fits.push(await measureFit(clip, size));
  console.log(formatTable(fits));
  const transparent = [['10 s of ten captions, 1080x1920', 'processor time, s']];
  for (const format of ['webm', 'mov', 'apng'] as const) transparent.push(await measureClip(format));
  console.log(formatTable(transparent));
} finally {
  rmSync(work, { recursive: true, force: true });
}
