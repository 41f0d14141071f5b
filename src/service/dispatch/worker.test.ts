// Workers that a file has taken over. Whatever they send, the server survives it and kills them.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FACTS, IMAGE_PROBE, VIDEO_PROBE } from '../../../test/dispatch/sample-reports.ts';
import { createAsset } from '../../engine/media/asset.ts';
import type { AssetFormat } from '../../engine/media/sniff.ts';
import { composeClipRecipe } from '../../engine/render/clip-recipe.ts';
import { composeTransparentRecipe, DEFAULT_IMAGE_LIMITS } from '../../engine/render/recipe.ts';
import { DEFAULT_VIDEO_LIMITS } from '../../engine/render/video-recipe.ts';
import type { Reading, WatchOptions } from './progress-watch.ts';
import { WorkerDirectory } from './worker-directory.ts';
import { Worker, WorkerLost } from './worker.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-worker-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const recipe = composeTransparentRecipe({ width: 10, height: 20 }, [{ text: 'a', position: null }]);
const never = new AbortController().signal;
const READY = `say({ type: 'ready' });`;

/** Runs the script in place of a worker. `say` sends a message, `write` sends raw text. */
function spawn(script: string, watch: WatchOptions = {}): Worker {
  const program = `
    const write = (text) => require('node:fs').writeSync(3, text);
    const say = (message) => write(JSON.stringify(message) + '\\n');
    const channel = new (require('node:net').Socket)({ fd: 3, readable: true, writable: true });
    const onTask = (listener) => channel.once('data', (text) => listener(JSON.parse(text)));
    channel.on('close', () => process.exit(0));
    ${script}`;
  const start = { file: process.execPath, args: ['-e', program], env: {} };
  return new Worker(
    { start, directory: new WorkerDirectory(folder, folder), memoryBytes: 2 * 1024 ** 3, watch },
    'image-1',
  );
}

/** A clock for the watch of a worker that advances with each check. */
function clockOf(read: (step: number) => Omit<Reading, 'processors'>): WatchOptions {
  let step = 0;
  return {
    checkMs: 1,
    read: () => {
      step += 1;
      return { ...read(step), processors: 1 };
    },
  };
}

/** Returns a worker that reports this as the result of its first task, and writes an output if the task needs one. */
async function spawnReporting(result: unknown): Promise<Worker> {
  const worker = spawn(`${READY} onTask(({ id, task }) => {
    if (task.job) require('node:fs').writeFileSync(task.job.output, 'output');
    say({ type: 'done', id, result: ${JSON.stringify(result)} });
  });`);
  await worker.ready;
  return worker;
}

async function render(worker: Worker): Promise<unknown> {
  const job = { recipe, asset: undefined, output: path.join(folder, 'finished') };
  return await worker.run<'render'>({ type: 'render', job }, never);
}

/** Renders a video without an asset. */
async function renderClip(worker: Worker, onProgress: () => void): Promise<unknown> {
  const { canvas, overlays } = recipe;
  const clip = composeClipRecipe(canvas, overlays, DEFAULT_VIDEO_LIMITS, { clip: { seconds: 1, fps: 25 } });
  const job = { recipe: clip, asset: undefined, output: path.join(folder, 'finished') };
  return await worker.run<'render'>({ type: 'render', job }, never, onProgress);
}

async function probe(worker: Worker, format: AssetFormat): Promise<unknown> {
  const asset = createAsset({ path: path.join(folder, 'uploaded'), format, bytes: 5 });
  writeFileSync(asset.path, 'bytes');
  const limits = { ...DEFAULT_IMAGE_LIMITS, ...DEFAULT_VIDEO_LIMITS };
  return await worker.run<'probe'>({ type: 'probe', asset, limits }, never);
}

describe('a worker that sends a valid report', () => {
  it('a worker that sends a valid report completes a render', async () => {
    expect(await render(await spawnReporting(FACTS))).toEqual(FACTS);
  });

  it('a worker that sends a valid report completes a probe', async () => {
    expect(await probe(await spawnReporting(VIDEO_PROBE), 'mp4')).toEqual(VIDEO_PROBE);
  });
});

describe('a worker that sends an invalid report', () => {
  it.each([
    ['null', 'say(null);', 'invalid message: '],
    ['a number', 'say(1);', 'invalid message: '],
    ['an unknown message', `say({ type: 'NODE_HANDLE', cmd: 'NODE_HANDLE' });`, 'invalid message.type: '],
    ['a result before it has a task', `say({ type: 'done', id: 1, result: {} });`, 'invalid message.id: '],
    ['codecs that are none', `say({ type: 'ready', codecs: [] });`, 'invalid message.codecs: '],
  ])('a worker that sends an invalid first report is killed: %s', async (_what, script, reason) => {
    const worker = spawn(script);
    await expect(worker.ready).rejects.toThrow(WorkerLost);
    expect(await worker.exited).toMatchObject({ signal: 'SIGKILL' });
    expect(worker.killReason).toContain(reason);
  });

  it('a worker that sends a message other than JSON is killed', async () => {
    // The process survives the end of its channel, so only a signal can end it.
    const worker = spawn(`process.exit = () => undefined; setInterval(() => undefined, 1000); write('{broken\\n');`);
    await expect(worker.ready).rejects.toThrow(WorkerLost);
    expect(await worker.exited).toMatchObject({ signal: 'SIGKILL' });
  });

  it.each([
    ['the result of another task', `say({ type: 'done', id: 99, result: {} });`, 'message.id'],
    ['no result', `say({ type: 'done', id: 1 });`, 'message.result'],
    [
      'facts of another size',
      `say({ type: 'done', id: 1, result: ${JSON.stringify({ ...FACTS, width: 9 })} });`,
      'facts.width',
    ],
    [
      'a made-up error code',
      `say({ type: 'failed', id: 1, failure: { code: 'toString', message: 'x' } });`,
      'message.failure.code',
    ],
    [
      'an error code of the server',
      `say({ type: 'failed', id: 1, failure: { code: 'quota_exceeded', message: 'x' } });`,
      'message.failure.code',
    ],
    ['ready for the second time', READY, 'message.type'],
    ['an unknown message', `say({ type: 'probed', id: 1 });`, 'message.type'],
  ])(
    'a worker that sends an invalid report during a task is killed, and the task may be retried: %s',
    async (_what, script, field) => {
      const worker = spawn(`${READY} onTask(() => { ${script} });`);
      await worker.ready;
      await expect(render(worker)).rejects.toThrow(WorkerLost);
      expect(worker.killed).toBe(true);
      expect(worker.killReason).toContain(`sent an invalid ${field}: `);
    },
  );

  it.each([
    ['the probe of an image for a video', IMAGE_PROBE, 'probe.kind'],
    [
      'no number of frames',
      { ...VIDEO_PROBE, video: { ...VIDEO_PROBE.video, frames: undefined } },
      'probe.video.frames',
    ],
    [
      'a time base of 1e307',
      { ...VIDEO_PROBE, video: { ...VIDEO_PROBE.video, timeBase: { num: 1, den: 1e307 } } },
      'probe.video.timeBase.den',
    ],
  ])(
    'a worker that sends an invalid probe is killed, and the probe may be retried: %s',
    async (_what, report, field) => {
      const worker = await spawnReporting(report);
      await expect(probe(worker, 'mp4')).rejects.toThrow(WorkerLost);
      expect(worker.killReason).toContain(`sent an invalid ${field}: `);
    },
  );
});

describe('a worker', () => {
  it('a worker is killed as hung when a video makes no progress for 30 seconds of its processor time', async () => {
    const seconds = clockOf((second) => ({ at: second, busyMs: second * 1_000, idleMs: 0 }));
    const worker = spawn(`${READY} onTask(() => undefined);`, seconds);
    await worker.ready;
    await expect(probe(worker, 'mp4')).rejects.toMatchObject({ killReason: 'hung', isKilledBySystem: false });
  });

  it('a worker is killed when an image uses up its processor time, even if it reports progress', async () => {
    const clock = clockOf((second) => ({ at: second, busyMs: second * 1_000, idleMs: 0 }));
    const progress = `setInterval(() => say({ type: 'progress', id: 1, fraction: 0.5 }), 1)`;
    const worker = spawn(`${READY} onTask(() => { ${progress} });`, clock);
    await worker.ready;
    await expect(render(worker)).rejects.toMatchObject({ killReason: 'used up its processor time' });
    expect(worker.usedMs).toBeGreaterThanOrEqual(5_000);
  });

  it('a worker is killed as hung when it is stopped for five minutes on an idle machine', async () => {
    const minutes = clockOf((minute) => ({ at: minute * 60_000, busyMs: 0, idleMs: minute * 60_000 }));
    const worker = spawn(`${READY} onTask(() => process.kill(process.pid, 'SIGSTOP'));`, minutes);
    await worker.ready;
    await expect(render(worker)).rejects.toMatchObject({ killReason: 'hung' });
  });

  it('a worker is not hung while it reports progress, or while a busy machine does not run it', async () => {
    const progress = `let left = 100; setInterval(() => {
      left -= 1;
      if (left > 0) say({ type: 'progress', id: 1, fraction: 0.5 });
      else say({ type: 'failed', id: 1, failure: { message: 'the end' } });
    }, 5)`;
    let reports = 0;
    // The clock allows at most ten seconds of processor time for every report, however fast this machine is.
    const busy = { checkMs: 1, read: () => ({ at: 0, busyMs: reports * 10_000, idleMs: 0, processors: 1 }) };
    const busyWorker = spawn(`${READY} onTask(() => { ${progress} });`, busy);
    await busyWorker.ready;
    await expect(renderClip(busyWorker, () => (reports += 1))).rejects.toThrow('the end');
    const starved = clockOf((minute) => ({ at: minute * 60_000, busyMs: 0, idleMs: 0 }));
    const idleWorker = spawn(`${READY} onTask(() => { ${progress} });`, starved);
    await idleWorker.ready;
    await expect(render(idleWorker)).rejects.toThrow('the end');
  });

  it('a worker is killed at the next task after it has closed its channel', async () => {
    const worker = spawn(`${READY} require('node:fs').closeSync(3); setInterval(() => undefined, 1000);`);
    await worker.ready;
    await expect(render(worker)).rejects.toThrow(WorkerLost);
  });

  it('a worker that crashes is reported with its signal', async () => {
    const worker = spawn(`${READY} onTask(() => process.kill(process.pid, 'SIGSEGV'));`);
    await worker.ready;
    const lost = { exit: { signal: 'SIGSEGV' }, killReason: undefined, isKilledBySystem: false };
    await expect(render(worker)).rejects.toMatchObject(lost);
  });

  it('a worker that the system kills is distinguished from one that the server kills', async () => {
    const worker = spawn(`${READY} onTask(() => process.kill(process.pid, 'SIGKILL'));`);
    await worker.ready;
    await expect(render(worker)).rejects.toMatchObject({ isKilledBySystem: true, killReason: undefined });
    const broken = spawn(`${READY} onTask(() => { setInterval(() => undefined, 1000); write('{broken\\n'); });`);
    await broken.ready;
    await expect(render(broken)).rejects.toMatchObject({ isKilledBySystem: false });
  });
});
