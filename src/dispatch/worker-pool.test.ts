// The result for a caller when the workers of its task end, by the way in which they end.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FACTS, IMAGE_PROBE } from '../../test/dispatch/sample-reports.ts';
import { anyone } from '../../test/dispatch/lease-requests.ts';
import { createAsset } from '../media/asset.ts';
import { composeTransparentRecipe, DEFAULT_IMAGE_LIMITS } from '../render/recipe.ts';
import { DEFAULT_VIDEO_LIMITS } from '../render/video-recipe.ts';
import { WorkerDirectory } from './worker-directory.ts';
import { WorkerPool } from './worker-pool.ts';

let folder: string;
let pool: WorkerPool | undefined;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-pool-'));
});
afterEach(async () => {
  await pool?.close();
  rmSync(folder, { recursive: true, force: true });
});

const crash = (signal: NodeJS.Signals): string => `process.kill(process.pid, '${signal}')`;
const SUCCESS = `say({ type: 'done', id, result: ${JSON.stringify(IMAGE_PROBE)} })`;
const NEVER = new AbortController().signal;

/**
 * Returns a pool of one worker. Its first process does the first of these actions with its task, the next process the
 * next one.
 */
function poolOf(...actions: readonly string[]): WorkerPool {
  let started = 0;
  pool = new WorkerPool({
    kind: 'image',
    createSpec: async () => {
      const directory = path.join(folder, String(started));
      mkdirSync(directory);
      const program = `
        const say = (message) => require('node:fs').writeSync(3, JSON.stringify(message) + '\\n');
        const channel = new (require('node:net').Socket)({ fd: 3, readable: true, writable: true });
        channel.on('data', (text) => { const { id } = JSON.parse(text); ${actions[started] ?? SUCCESS}; });
        channel.on('close', () => process.exit(0));
        say({ type: 'ready' });`;
      started += 1;
      return {
        start: { file: process.execPath, args: ['-e', program], env: {} },
        directory: new WorkerDirectory(directory, directory),
        memoryBytes: 2 * 1024 ** 3,
      };
    },
    workers: 1,
    maxWaiting: 8,
    tasksPerWorker: 100,
    onWaited: () => undefined,
    onTaskEnded: () => undefined,
    onWorkerLost: () => undefined,
    onDirectoryError: (error) => {
      throw error;
    },
  });
  return pool;
}

async function probe(workers: WorkerPool, signal = NEVER): Promise<unknown> {
  const asset = createAsset({ path: path.join(folder, 'asset'), format: 'jpeg', bytes: 5 });
  writeFileSync(asset.path, 'bytes');
  const limits = { ...DEFAULT_IMAGE_LIMITS, ...DEFAULT_VIDEO_LIMITS };
  const request = anyone(signal);
  const place = workers.place(request);
  try {
    return await workers.run<'probe'>({ type: 'probe', asset, limits }, place, request);
  } finally {
    place.close();
  }
}

describe('a pool whose workers end during a task', () => {
  it('retries it when the system killed the first one', async () => {
    expect(await probe(poolOf(crash('SIGKILL')))).toEqual(IMAGE_PROBE);
  });

  it('a pool blames the asset when it crashed two of them', async () => {
    const failed = probe(poolOf(crash('SIGSEGV'), crash('SIGSEGV')));
    await expect(failed).rejects.toMatchObject({ code: 'asset_undecodable' });
  });

  it.each([
    ['both', 'SIGKILL', 'SIGKILL'],
    ['the first', 'SIGKILL', 'SIGSEGV'],
    ['the second', 'SIGSEGV', 'SIGKILL'],
  ] as const)('a pool asks the caller to try again later when the system killed %s', async (_which, first, second) => {
    const failed = probe(poolOf(crash(first), crash(second)));
    await expect(failed).rejects.toMatchObject({ code: 'renderer_unavailable', retryAfterSeconds: 10 });
  });

  it('a pool replaces a worker that had too little memory, and does not count that as a crash', async () => {
    const short = `say({ type: 'failed', id, failure: { code: 'out_of_memory', message: 'too large' } })`;
    const workers = poolOf(short);
    await expect(probe(workers)).rejects.toMatchObject({ code: 'out_of_memory', retryAfterSeconds: 60 });
    expect(await probe(workers)).toEqual(IMAGE_PROBE);
    expect(workers.status().restarts).toBe(0);
  });

  it('a pool does not retry a task for a caller who has left', async () => {
    const client = new AbortController();
    const left = new Error('the client left');
    const workers = poolOf(crash('SIGKILL'));
    const failed = probe(workers, client.signal);
    const timer = setInterval(() => workers.status().restarts > 0 && client.abort(left), 1);
    await expect(failed).rejects.toBe(left);
    clearInterval(timer);
  });
});

describe('a pool whose worker loads fonts of accounts', () => {
  /** The process writes an output, and reports a number of its own as the number of missing glyphs. */
  const drawAs = (missingGlyphs: number): string =>
    `require('node:fs').writeFileSync(JSON.parse(text).task.job.output, '');
     say({ type: 'done', id, result: ${JSON.stringify({ ...FACTS, missingGlyphs })} })`;

  /** Returns the number of the process that rendered. */
  async function renderWith(workers: WorkerPool, font: string, bytes: number): Promise<number> {
    const file = { id: `font_${font}`, sha256: font.repeat(64), bytes, path: path.join(folder, 'font') };
    writeFileSync(file.path, 'font');
    const recipe = composeTransparentRecipe({ width: 10, height: 20 }, [{ text: 'Hi', position: null }]);
    const job = { recipe, asset: undefined, files: [file], output: path.join(folder, 'output') };
    const request = anyone(NEVER);
    const place = workers.place(request);
    try {
      return (await workers.run<'render'>({ type: 'render', job }, place, request)).missingGlyphs;
    } finally {
      place.close();
    }
  }

  it('replaces it after 64 MiB of different fonts, which the next process does not have', async () => {
    const workers = poolOf(drawAs(1), drawAs(2), drawAs(3));
    const size = 30 * 1024 * 1024;
    const used: number[] = [];
    for (const font of ['a', 'a', 'b', 'a', 'c', 'a', 'b', 'c']) used.push(await renderWith(workers, font, size));
    expect(used).toEqual([1, 1, 1, 1, 1, 2, 2, 2]);
    expect(workers.status().restarts).toBe(0);
  });
});
