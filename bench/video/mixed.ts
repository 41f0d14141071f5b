// Measures how long a short clip waits while a long one renders, and the cost for both together. A server with its
// default workers renders a 60 s clip of 1080p and a 4 s clip of 720p, each alone and then both at the same time.
// Usage: npm run bench:mixed -- [clip], with BENCH_RUNS=3 for the number of runs. Needs an installed FFmpeg.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { form, post, type RunningServer, startServer } from '../../test/running-server.ts';
import { median } from '../image/rounds.ts';
import { fixed, formatTable } from '../image/table.ts';
import { hasFfmpeg } from './contenders.ts';
import { OVERLAYS } from './overlays.ts';

const SAMPLE = path.join(import.meta.dirname, '../../../shared/media/video_real/learningarea__frog.mp4');
const RUNS = Number(process.env['BENCH_RUNS'] ?? 3);
/** The long render is under way by then. */
const HEAD_START_MS = 5_000;
const MOST_WAITING = 3;
const LEAST_THROUGHPUT = 0.95;

function makeClip(source: string, work: string, size: string, seconds: number): Buffer {
  const file = path.join(work, `${size}.mp4`);
  const input = ['-v', 'error', '-y', '-stream_loop', '-1', '-i', source, '-t', `${seconds}`, '-an'];
  const video = ['-vf', `scale=${size}`, '-r', '30', '-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p'];
  execFileSync('ffmpeg', [...input, ...video, file]);
  return readFileSync(file);
}

/** Returns the seconds until the last byte arrived. */
async function render(server: RunningServer, clip: Buffer): Promise<number> {
  const body = form({ asset: clip, overlays: JSON.stringify(OVERLAYS) });
  const start = performance.now();
  const response = await post(server, body);
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`the server responded with ${response.status}: ${bytes.toString()}`);
  return (performance.now() - start) / 1_000;
}

async function measure(server: RunningServer, long: Buffer, short: Buffer) {
  const shortAlone = await render(server, short);
  const longAlone = await render(server, long);
  const start = performance.now();
  const longRender = render(server, long);
  await sleep(HEAD_START_MS);
  const shortBeside = await render(server, short);
  const longBeside = await longRender;
  const together = (performance.now() - start) / 1_000;
  const throughput = (longAlone + shortAlone) / together;
  return { shortAlone, longAlone, shortBeside, longBeside, waiting: shortBeside / shortAlone, throughput };
}

const source = process.argv[2] ?? SAMPLE;
if (!hasFfmpeg() || !existsSync(source))
  throw new Error('Needs an installed FFmpeg and a clip: bench:mixed -- clip.mp4');
const work = mkdtempSync(path.join(tmpdir(), 'storybar-bench-mixed-'));
const server = await startServer({ STORYBAR_WORKERS: '2' });
try {
  const long = makeClip(source, work, '1920:1080', 60);
  const short = makeClip(source, work, '1280:720', 4);
  await render(server, short);
  const rounds: Awaited<ReturnType<typeof measure>>[] = [];
  for (let run = 0; run < RUNS; run += 1) rounds.push(await measure(server, long, short));
  const figure = (name: keyof (typeof rounds)[number]) => median(rounds.map((round) => round[name]));
  const verdict = (isMet: boolean) => (isMet ? 'met' : 'missed');
  const waiting = figure('waiting');
  const throughput = figure('throughput');
  console.log(
    formatTable([
      ['', '4 s of 720p', '60 s of 1080p'],
      ['alone, s', fixed(figure('shortAlone'), 2), fixed(figure('longAlone'), 2)],
      ['together, s', fixed(figure('shortBeside'), 2), fixed(figure('longBeside'), 2)],
    ]),
  );
  console.log(
    `short clip: ${fixed(waiting, 2)}x of its time alone; <= ${MOST_WAITING}x ${verdict(waiting <= MOST_WAITING)}`,
  );
  console.log(
    `throughput of both: ${fixed(throughput, 2)}x of one after the other; >= ${LEAST_THROUGHPUT}x ${verdict(throughput >= LEAST_THROUGHPUT)}`,
  );
} finally {
  await server.stop();
  rmSync(work, { recursive: true, force: true });
}
