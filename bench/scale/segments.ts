// One long video on one worker, and in segments on two. First both share this machine's cores, which the encoder of one
// worker uses fully, so the difference is the cost of cutting and joining. Then each worker has one core, like two small
// machines. On a busy machine, CPU time says more than elapsed time.

import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { withLease } from '../../src/dispatch/renderer.ts';
import { anyone } from '../../test/dispatch/lease-requests.ts';
import { RemoteRenderer } from '../../src/dispatch/remote/api-server/remote-renderer.ts';
import { type Asset, createAsset } from '../../src/media/asset.ts';
import { composeRecipe } from '../../src/render/compose.ts';
import { DEFAULT_IMAGE_LIMITS } from '../../src/render/recipe.ts';
import { DEFAULT_VIDEO_LIMITS } from '../../src/render/video-recipe.ts';
import { until } from '../../test/running-server.ts';
import { type RunningWorker, startWorker } from '../../test/running-worker.ts';
import { BT709, paintYuv } from '../../test/video/painting.ts';
import { plainClip } from '../../test/video/plain-clip.ts';
import { fixed, formatTable } from '../image/table.ts';
import { cpuMsOfTree } from './costs.ts';

const SECONDS = 40;
const SEGMENT_SECONDS = 10;
const TIMES = 3;
const LIMITS = { ...DEFAULT_IMAGE_LIMITS, ...DEFAULT_VIDEO_LIMITS };
const OVERLAYS = [{ text: 'Golden hour, no filter needed', position: null }];
const PIN = 'taskset';

export async function measureSegments(natsUrl: string, directory: string): Promise<void> {
  const clip = makeLongClip(directory);
  const asset = createAsset({ path: clip, format: 'mp4', bytes: statSync(clip).size });
  const rows = [
    [
      `video of ${SECONDS} s, 640x360`,
      'one worker',
      'two, in segments',
      'ratio',
      'of which joining',
      'CPU time',
      'bytes',
    ],
  ];
  rows.push(await compare(natsUrl, asset, directory, 'shared cores', [['env'], ['env']]));
  const canPin = availableParallelism() > 1 && spawnSync(PIN, ['--version']).status === 0;
  const pins = ['0', '1'].map((core) => [PIN, '-c', core] as const);
  if (canPin) rows.push(await compare(natsUrl, asset, directory, 'one core per worker', pins));
  console.log(`${formatTable(rows)}\n`);
}

async function compare(
  natsUrl: string,
  asset: Asset,
  directory: string,
  name: string,
  launchers: readonly (readonly [string, ...string[]])[],
): Promise<string[]> {
  const environment = { STORYBAR_WORKERS: '0', STORYBAR_VIDEO_WORKERS: '1' };
  const workers = await Promise.all(launchers.map((launcher) => startWorker(natsUrl, environment, launcher)));
  try {
    const whole = await measure(natsUrl, asset, directory, 0, workers);
    const split = await measure(natsUrl, asset, directory, SEGMENT_SECONDS, workers);
    return [
      name,
      `${fixed(whole.ms / 1_000, 2)} s`,
      `${fixed(split.ms / 1_000, 2)} s`,
      fixed(whole.ms / split.ms, 2),
      `${fixed(split.joinMs, 0)} ms`,
      `${signed((split.cpuMs / whole.cpuMs - 1) * 100)} %`,
      `${signed((split.bytes / whole.bytes - 1) * 100)} %`,
    ];
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
  }
}

interface Measured {
  readonly ms: number;
  readonly cpuMs: number;
  readonly joinMs: number;
  readonly bytes: number;
}

/** Returns the best of a few runs, because other processes use the machine, too. */
async function measure(
  natsUrl: string,
  asset: Asset,
  directory: string,
  segmentSeconds: number,
  workers: readonly RunningWorker[],
): Promise<Measured> {
  const apiServer = await RemoteRenderer.start({
    version: '1.0.0',
    queue: { url: natsUrl, credentialsFile: '', authoritiesFile: '', replicas: 1 },
    listen: { host: '127.0.0.1', port: 0 },
    urlOf: (port) => `http://127.0.0.1:${port}`,
    maxWaiting: 8,
    longestMs: 600_000,
    maxOutputBytes: 1_000_000_000,
    segmentSeconds,
    onError: (error) => console.error(error),
    onEvent: ({ type }) => {
      if (type === 'unsplit') console.error('segments failed, rendered whole');
    },
  });
  try {
    let best: Measured | undefined;
    for (let time = 0; time < TIMES; time += 1) {
      await until(() => apiServer.status().videos.ready === 2 && apiServer.status().videos.busy === 0, 60_000);
      const output = path.join(directory, `output-${segmentSeconds}-${time}`);
      const cpuBefore = cpuOf(workers);
      const startedAt = performance.now();
      const { timings } = await withLease(apiServer, anyone(), async (lease) => {
        const recipe = composeRecipe(await lease.probe(asset, LIMITS), OVERLAYS, LIMITS);
        return await lease.render({ recipe, asset, output });
      });
      const ms = performance.now() - startedAt;
      if (segmentSeconds > 0 && timings['join'] === undefined) throw new Error('the video was rendered whole');
      const cpuMs = cpuOf(workers) - cpuBefore;
      const measured = { ms, cpuMs, joinMs: timings['join'] ?? 0, bytes: statSync(output).size };
      if (best === undefined || ms < best.ms) best = measured;
    }
    return best ?? { ms: Number.NaN, cpuMs: Number.NaN, joinMs: Number.NaN, bytes: Number.NaN };
  } finally {
    await apiServer.close();
  }
}

function cpuOf(workers: readonly RunningWorker[]): number {
  return workers.reduce((sum, { pid }) => sum + cpuMsOfTree(pid), 0);
}

function makeLongClip(directory: string): string {
  return plainClip(path.join(directory, 'long.mp4'), {
    paint: paintYuv((x, y, frame) => [(x + frame * 3) & 255, ((x * y) >> 6) + frame, 120 + (y >> 2)], BT709),
    width: 640,
    height: 360,
    frames: SECONDS * 30,
    encoderOptions: { preset: 'veryfast', 'x264-params': 'keyint=60' },
    audio: { codec: 'aac', seconds: SECONDS, sampleRate: 48_000 },
  });
}

function signed(value: number): string {
  return `${value < 0 ? '' : '+'}${fixed(value, 1)}`;
}
