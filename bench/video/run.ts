// Compares the time, memory, size and quality of a video render with the floor (the same decode and encode without
// bars) and with common alternatives. Runs are interleaved, so load on the machine affects all; compare the ratios.
// Usage: npm run bench:video -- [clip ... | own | timed | words], with BENCH_RUNS=3 for the number of runs. Without sample
// media, all parts use a clip that is made for them.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sniff } from '../../src/engine/media/sniff.ts';
import type { VideoFormat } from '../../src/engine/media/sniff.ts';
import { probeVideo } from '../../src/engine/media/video/probe/probe.ts';
import { must } from '../../src/shared/must.ts';
import { drawBands } from '../../src/engine/render/bands.ts';
import { composeTransparentRecipe } from '../../src/engine/render/recipe.ts';
import { renderTransparent } from '../../src/engine/render/render.ts';
import { createRenderTools } from '../../src/engine/render/renderer-tools.ts';
import { Stopwatch } from '../../src/engine/render/timing.ts';
import { composeVideoRecipe, DEFAULT_VIDEO_LIMITS } from '../../src/engine/render/video-recipe.ts';
import { type Contender, type Figures, hasFfmpeg, type Job, OURS, SYSTEM } from './contenders.ts';
import { pipeFrames } from './frame-piping.ts';
import { makeOwnClip } from './own-clip.ts';
import { OverHttp } from './over-http.ts';
import { OVERLAYS } from './overlays.ts';
import { benchTimed } from './timed.ts';
import { benchWords } from './words.ts';

const SAMPLES = path.join(import.meta.dirname, '../../../shared/media');
const DEFAULT_CLIPS = [
  'video_rotation/media__internal_emulator_transformer_output_270_rotated.mp4',
  'video_real/learningarea__frog.mp4',
  'video_real/samplevideos__car-detection.mp4',
].map((name) => path.join(SAMPLES, name));

/** A clip that is repeated to a minute. */
const TIMED_CLIP = path.join(SAMPLES, 'video_real/c2pars__video1_no_manifest.mp4');

const RUNS = Number(process.env['BENCH_RUNS'] ?? 3);
const tools = createRenderTools();
const work = mkdtempSync(path.join(tmpdir(), 'storybar-bench-'));
const server = await OverHttp.start();
const contenders: Readonly<Record<string, Contender>> = {
  ...OURS,
  'ours over HTTP': (job) => server.render(job),
  ...(hasFfmpeg() && { ...SYSTEM, 'frames piped through Node': (job: Job) => pipeFrames(job, tools) }),
};

async function prepare(clip: string): Promise<Job> {
  const format = sniff(readFileSync(clip).subarray(0, 256)) as VideoFormat;
  const probe = probeVideo(clip, format, { maxSide: DEFAULT_VIDEO_LIMITS.videoSide });
  const recipe = composeVideoRecipe(probe, OVERLAYS, DEFAULT_VIDEO_LIMITS);
  const png = path.join(work, 'overlay.png');
  writeFileSync(png, (await renderTransparent(composeTransparentRecipe(recipe.canvas, OVERLAYS), tools)).bytes);
  return { clip, output: path.join(work, 'out.mp4'), png, recipe };
}

/** Masks the bars in both videos and compares the rest of the frames. */
async function ssimOutsideBars({ clip, output, recipe }: Job): Promise<string> {
  const { bands } = await drawBands(recipe, tools, new Stopwatch());
  const masks = bands
    .map(({ top, height }) => `drawbox=y=${top - 2}:h=${height + 4}:w=iw:x=0:t=fill:c=black`)
    .join(',');
  const { width, height } = recipe.canvas;
  const { matrix } = recipe.video.tags;
  const color =
    matrix === 'bt601'
      ? `scale=${width}:${height}:in_color_matrix=bt601:out_color_matrix=bt709`
      : `scale=${width}:${height}`;
  const graph = `[0:v]${masks}[a];[1:v]${color},format=yuv420p,${masks}[b];[a][b]ssim`;
  const { stderr } = spawnSync('ffmpeg', ['-i', output, '-i', clip, '-lavfi', graph, '-f', 'null', '-'], {
    encoding: 'utf8',
  });
  return /All:([\d.]+)/u.exec(stderr)?.[1] ?? '-';
}

/** Returns the best run, which is the least affected by other load on the machine. */
function best(values: readonly number[]): number {
  return Math.min(...values);
}

async function bench(clip: string): Promise<void> {
  const job = await prepare(clip);
  const { canvas, durationSeconds, frameRate } = job.recipe;
  console.log(
    `\n${path.basename(clip)}  ${canvas.width}x${canvas.height}, ${frameRate.toFixed(2)} fps, ${durationSeconds.toFixed(1)} s`,
  );
  const figures = new Map<string, Figures[]>(Object.keys(contenders).map((name) => [name, []]));
  const results = new Map<string, { readonly bytes: number; readonly ssim: string }>();
  for (let run = 0; run < RUNS; run += 1) {
    for (const [name, contender] of Object.entries(contenders)) {
      figures.get(name)?.push(await contender(job));
      if (run > 0) continue;
      // The floor has no bars but is compared on the same pixels.
      const ssim = hasFfmpeg() ? await ssimOutsideBars(job) : '-';
      results.set(name, { bytes: statSync(job.output).size, ssim });
    }
  }
  const floorRuns = must(figures.get('floor'), 'the floor');
  const floor = best(floorRuns.map(({ wall }) => wall));
  const floorCpu = best(floorRuns.map(({ cpu }) => cpu));
  console.log('                                wall s   x floor   cpu s   x floor  rss MB  size KB  ssim outside bars');
  for (const [name, all] of figures) {
    const wall = best(all.map((run) => run.wall));
    const cpu = best(all.map((run) => run.cpu));
    const rss = best(all.map((run) => run.rssMb));
    const { bytes, ssim } = must(results.get(name), `the result of ${name}`);
    const columns = [
      (wall / 1000).toFixed(2),
      (wall / floor).toFixed(3),
      (cpu / 1000).toFixed(2),
      (cpu / floorCpu).toFixed(3),
    ];
    const rest = [rss.toFixed(0), (bytes / 1000).toFixed(0), ssim];
    console.log(`${name.padEnd(30)}  ${[...columns, ...rest].map((text) => text.padStart(7)).join('  ')}`);
  }
}

/** One minute of a story, the figure that buyers compare. */
const OWN_CLIP = { width: 1_080, height: 1_920, frameRate: 30, seconds: 10, grain: 3, repeats: 6 } as const;
const SMALL_CLIP = { width: 768, height: 432, frameRate: 30, seconds: 10, grain: 3, repeats: 1 } as const;

const asked = process.argv.slice(2);
const PARTS = new Set(['own', 'timed', 'words']);
const isAsked = (part: string): boolean => asked.length === 0 || asked.includes(part);
const clips =
  asked.length > 0 ? asked.filter((clip) => !PARTS.has(clip)) : DEFAULT_CLIPS.filter((clip) => existsSync(clip));
try {
  for (const clip of clips) await bench(clip);
  if (isAsked('own')) await bench(await makeOwnClip(path.join(work, 'own.mp4'), OWN_CLIP));
  if (hasFfmpeg() && (isAsked('timed') || isAsked('words'))) {
    const small = existsSync(TIMED_CLIP) ? TIMED_CLIP : await makeOwnClip(path.join(work, 'small.mp4'), SMALL_CLIP);
    if (isAsked('timed')) await benchTimed(small, work, RUNS);
    if (isAsked('words')) await benchWords(small, work, RUNS);
  }
} finally {
  await server.stop();
  rmSync(work, { recursive: true, force: true });
}
