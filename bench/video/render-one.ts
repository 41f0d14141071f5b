// Runs one render in a separate process, to measure its time and memory alone. Prints the figures as JSON.
// usage: render-one.ts <clip> <output> <ours|marked|floor|one|ten|styled|crowd|words-...>

import { readFileSync } from 'node:fs';
import { sniff } from '../../src/engine/media/sniff.ts';
import type { VideoFormat } from '../../src/engine/media/sniff.ts';
import { NO_BARS } from '../../src/engine/media/video/frames/bar-blender.ts';
import { probeVideo } from '../../src/engine/media/video/probe/probe.ts';
import { transcode } from '../../src/engine/media/video/transcode.ts';
import { drawBands } from '../../src/engine/render/bands.ts';
import { createRenderTools } from '../../src/engine/render/renderer-tools.ts';
import { Stopwatch } from '../../src/engine/render/timing.ts';
import { renderOnVideo } from '../../src/engine/render/video.ts';
import { composeVideoRecipe, DEFAULT_VIDEO_LIMITS } from '../../src/engine/render/video-recipe.ts';
import { OVERLAYS, TIMED_OVERLAYS } from './overlays.ts';
import { SPOKEN_OVERLAYS } from './words.ts';

const [clip = '', output = '', kind = 'ours'] = process.argv.slice(2);
const overlays = SPOKEN_OVERLAYS[kind]?.() ?? TIMED_OVERLAYS[kind] ?? OVERLAYS;
const limits = { ...DEFAULT_VIDEO_LIMITS, videoSeconds: 3_600 };
const format = sniff(readFileSync(clip).subarray(0, 256)) as VideoFormat;
// Warm up like a worker that waits for jobs: load fonts and compile code.
const tools = createRenderTools();
const probed = probeVideo(clip, format, { maxSide: DEFAULT_VIDEO_LIMITS.videoSide });
const recipe = composeVideoRecipe(probed, OVERLAYS, limits);
await drawBands(recipe, tools, new Stopwatch());

const before = process.cpuUsage();
const start = performance.now();
if (kind === 'floor') {
  await transcode(recipe, clip, output, NO_BARS);
} else {
  const probe = probeVideo(clip, format, { maxSide: DEFAULT_VIDEO_LIMITS.videoSide });
  const own = composeVideoRecipe(probe, overlays, limits);
  await renderOnVideo(kind === 'marked' ? { ...own, watermark: true } : own, clip, output, tools);
}
const wall = performance.now() - start;
const cpu = process.cpuUsage(before);
console.log(
  JSON.stringify({ wall, cpu: (cpu.user + cpu.system) / 1000, rssMb: process.resourceUsage().maxRSS / 1024 }),
);
