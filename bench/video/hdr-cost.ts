// Measures what tone mapping adds to a render: the processor time of an HDR clip, with bars, relative to the same
// frames treated as BT.709. Both run in turns in one process, because processor time depends little on other load.
// Usage: npm run bench:hdr -- [clip ...]

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sniff, type VideoFormat } from '../../src/engine/media/sniff.ts';
import type { ColorTags } from '../../src/engine/media/video/frames/color.ts';
import { probeVideo } from '../../src/engine/media/video/probe/probe.ts';
import { createRenderTools } from '../../src/engine/render/renderer-tools.ts';
import { renderOnVideo } from '../../src/engine/render/video.ts';
import { composeVideoRecipe, DEFAULT_VIDEO_LIMITS, type VideoRecipe } from '../../src/engine/render/video-recipe.ts';
import { median } from '../image/rounds.ts';
import { fixed, formatTable } from '../image/table.ts';
import { OVERLAYS } from './overlays.ts';

const SAMPLES = path.join(import.meta.dirname, '../../../shared/media/video_hdr');
const CLIPS = ['media__dolbyVision-hdr.MOV', 'media__hdr10-av1.mp4', 'media__hlg10-color-test.mp4'];
const BT709: ColorTags = { matrix: 'bt709', primaries: 'bt709', transfer: 'sdr', range: 'limited' };
const TURNS = Number(process.env['BENCH_RUNS'] ?? 3);
const TARGET = 1.12;

const tools = createRenderTools();
const work = mkdtempSync(path.join(tmpdir(), 'storybar-bench-hdr-'));

async function cpuMs(recipe: VideoRecipe, clip: string): Promise<number> {
  const before = process.cpuUsage();
  await renderOnVideo(recipe, clip, path.join(work, 'out.mp4'), tools);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

async function measure(clip: string): Promise<string[]> {
  const format = sniff(readFileSync(clip).subarray(0, 256)) as VideoFormat;
  const probe = probeVideo(clip, format, { maxSide: DEFAULT_VIDEO_LIMITS.videoSide });
  const recipe = composeVideoRecipe(probe, OVERLAYS, DEFAULT_VIDEO_LIMITS);
  const plain = { ...recipe, video: { ...recipe.video, tags: BT709 } };
  const times = { mapped: [] as number[], plain: [] as number[] };
  await cpuMs(plain, clip);
  for (let turn = 0; turn < TURNS; turn += 1) {
    times.mapped.push(await cpuMs(recipe, clip));
    times.plain.push(await cpuMs(plain, clip));
  }
  const ratio = median(times.mapped.map((ms, turn) => ms / (times.plain[turn] ?? Number.NaN)));
  const { width, height } = recipe.canvas;
  const name = `${path.basename(clip)}, ${width}x${height}, ${recipe.video.tags.transfer}`;
  const seconds = [median(times.mapped), median(times.plain)].map((ms) => fixed(ms / 1_000, 2));
  return [name, ...seconds, `${fixed(ratio, 3)}x`, ratio <= TARGET ? 'met' : 'missed'];
}

const clips = process.argv.length > 2 ? process.argv.slice(2) : CLIPS.map((name) => path.join(SAMPLES, name));
try {
  const rows = [['processor time, s', 'mapped', 'taken for BT.709', 'ratio', `<= ${TARGET}x`]];
  for (const clip of clips.filter((file) => existsSync(file))) rows.push(await measure(clip));
  console.log(rows.length > 1 ? formatTable(rows) : 'No HDR clips found. Pass clips on the command line.');
} finally {
  rmSync(work, { recursive: true, force: true });
}
